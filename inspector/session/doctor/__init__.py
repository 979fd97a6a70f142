"""Whether an agent can be reached, and which protocol it really speaks."""

"""What a session knows of the card of its agent: how it drifted, who signed it, what was seen beside it."""

"""What is wrong with what an agent says: the objects in its answers, events and pushes."""

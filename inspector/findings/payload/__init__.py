"""The shapes of the objects in responses, events and pushes, and the rules about them."""

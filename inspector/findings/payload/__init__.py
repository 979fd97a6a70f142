"""The shapes of the objects in responses, events and push notifications, and the rules about them."""

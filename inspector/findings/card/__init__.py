"""What is wrong with a card: its shape in every generation, and the rules about what it says."""

"""The screenshots of the README, and the script that creates them."""

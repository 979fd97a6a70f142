"""The number of examples with which Hypothesis tests a property: a quarter in `make test`, all in `make test-slow`."""

from hypothesis import settings
from properties import ALL, QUARTER

settings.register_profile(QUARTER, max_examples=25)
settings.register_profile(ALL, max_examples=100)
settings.load_profile(QUARTER)  # the option --hypothesis-profile replaces it before tests are collected

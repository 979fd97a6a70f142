"""The number of examples of properties that set their own."""

from hypothesis import settings

QUARTER = "quarter"
ALL = "all"
RANDOM = "random"
"""Names of profiles, see `tests/conftest.py`."""


def examples(number: int) -> int:
    """Return the number of examples for this run: a quarter of `number` in `make test`, ten times in `make fuzz`."""
    times = {QUARTER: 0.25, ALL: 1, RANDOM: 10}[settings.get_current_profile_name()]
    return max(1, int(number * times))

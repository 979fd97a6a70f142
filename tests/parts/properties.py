"""The number of examples of properties that set their own."""

from hypothesis import settings

ALL = "all"
QUARTER = "quarter"
"""Names of profiles, see `tests/conftest.py`."""


def examples(number: int) -> int:
    """Return the number of examples for this run: `number`, or a quarter of it in `make test`."""
    return number if settings.get_current_profile_name() == ALL else max(1, number // 4)

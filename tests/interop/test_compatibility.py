"""The kept table of compatibility, as far as it can be judged without any agent."""

from __future__ import annotations

import table


def test_the_table_tells_of_every_operation_on_every_interface_and_of_no_other():
    assert list(table.kept()) == table.keys()


def test_the_file_is_what_a_run_with_this_outcome_writes():
    assert table.FILE.read_text(encoding="utf-8") == table.text(table.kept())


def test_what_an_sdk_does_not_implement_is_refused_in_the_table_and_nothing_else_is():
    refused = {key for key, cell in table.kept().items() if cell.startswith(table.REFUSED)}
    assert refused == set(table.LIMITS)
    known = {table.OK, *map(table.missing, table.environments.SDKS)}
    assert {cell for key, cell in table.kept().items() if key not in refused} <= known

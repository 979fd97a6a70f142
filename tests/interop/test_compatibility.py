"""The table in docs/compatibility.md, as far as it can be checked without agents."""

from __future__ import annotations

import table


def test_the_table_has_every_operation_over_every_interface():
    assert list(table.read_table()) == table.keys()


def test_the_file_is_the_output_of_its_own_table():
    assert table.FILE.read_text(encoding="utf-8") == table.page(table.read_table())


def test_the_table_has_only_the_known_limits():
    refused = {key for key, cell in table.read_table().items() if cell.startswith(table.REJECTED)}
    assert refused == set(table.LIMITS)
    known = {table.OK, *map(table.missing, table.environments.SDKS)}
    assert {cell for key, cell in table.read_table().items() if key not in refused} <= known

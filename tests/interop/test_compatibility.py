"""The table in docs/compatibility.md, as far as it can be checked without agents."""

from __future__ import annotations

import doctor_table
import table


def test_the_table_has_every_operation_over_every_interface():
    assert list(table.read_table()) == table.keys()


def test_the_file_is_the_output_of_its_own_table():
    assert table.FILE.read_text(encoding="utf-8") == table.page(table.read_table(), table.read_doctor())


def test_the_table_has_only_the_known_limits():
    refused = {key for key, cell in table.read_table().items() if cell.startswith(table.REJECTED)}
    assert refused == set(table.LIMITS)
    known = {table.OK, *map(table.missing, table.environments.SDKS)}
    assert {cell for key, cell in table.read_table().items() if key not in refused} <= known


def test_the_table_of_the_doctor_has_every_case_with_the_expected_verdict():
    results = table.read_doctor()
    assert list(results) == list(doctor_table.CASES)
    for name, case in doctor_table.CASES.items():
        assert results[name].startswith("valid") is case.passed, name
        assert case.words in results[name], name

"""The content of check files: the grammar of ACTS 0.1 (A2A Conformance Test Specification), and our additions to it."""

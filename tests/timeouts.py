"""Timeout of tests."""

TEST_TIMEOUT_S = 100.0
"""Long enough for a machine that is ten times slower, and shorter than pytest's timeout in pyproject.toml."""

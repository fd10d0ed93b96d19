"""Tests of the search tools."""

"""Fuzz tests: parsers of untrusted input return a result or a readable error."""

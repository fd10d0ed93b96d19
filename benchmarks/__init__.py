"""Benchmarks of kimi-tui, compared with minimal programs in the same run: `make bench`."""

"""Comparison with Kimi CLI: the same scenarios on both programs, and data directories in both directions."""

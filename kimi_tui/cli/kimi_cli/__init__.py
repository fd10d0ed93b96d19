"""Import of data from Kimi CLI."""

"""Reading of a data directory of Kimi CLI."""

"""kimi-tui: a full-screen terminal coding agent with safe time travel."""

__version__ = "0.1.0"

"""The resident engine: owns sessions, and serves each to several clients over a Unix socket."""

"""Fleets: many headless runs on local processes or Ray, with one SQLite database as their only state."""

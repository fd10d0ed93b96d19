"""Snapshots of the working directory at each checkpoint, and reverting to them (`docs/time-travel.md`)."""

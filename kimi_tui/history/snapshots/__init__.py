"""Snapshots of the working directory at each checkpoint, and reverts to them (`docs/time-travel.md`)."""

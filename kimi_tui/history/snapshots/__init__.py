"""File states: what the work dir held at each checkpoint, and going back to it (`docs/time-travel.md`)."""

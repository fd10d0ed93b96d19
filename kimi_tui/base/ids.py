"""Generators of identifiers."""

import os
import time
import uuid


def new_id() -> str:
    """Return a random identifier for a request, tool call or session."""
    return str(uuid.uuid4())


def new_uid() -> str:
    """Return a short identifier that sorts by time: 12 hex digits of milliseconds and 8 random hex digits."""
    return f"{int(time.time() * 1000):012x}{os.urandom(4).hex()}"

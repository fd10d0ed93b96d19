"""Identifiers."""

import os
import time
import uuid


def new_id() -> str:
    """A random identifier, for requests, tool calls and sessions."""
    return str(uuid.uuid4())


def new_uid() -> str:
    """A short identifier that sorts by time, for checkpoints: 12 hex digits of milliseconds, 8 random."""
    return f"{int(time.time() * 1000):012x}{os.urandom(4).hex()}"

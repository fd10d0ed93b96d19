"""Generators of identifiers."""

import os
import re
import time
import uuid

_TEMPORARY_NAME = re.compile(r"\.kimi-tui-[0-9a-f]{20}(-\d+)?")


def new_id() -> str:
    """Return a random identifier for a request, tool call or session."""
    return str(uuid.uuid4())


def new_uid() -> str:
    """Return a short identifier that sorts by time: 12 hex digits of milliseconds and 8 random hex digits."""
    return f"{int(time.time() * 1000):012x}{os.urandom(4).hex()}"


def new_temporary_name(uid: str | None = None) -> str:
    """Return a name for a file or directory that exists in the user's folders only while it is written.

    `uid` is its identifier, from `new_uid`; without one, a new one is used.
    """
    return f".kimi-tui-{uid or new_uid()}"


def is_temporary_name(name: str) -> bool:
    """Return whether `name` is one of `new_temporary_name`, numbered or not. They are never recorded."""
    return _TEMPORARY_NAME.fullmatch(name) is not None

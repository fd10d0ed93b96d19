"""Ports of this machine."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def dead_port() -> Iterator[int]:
    """A port at which nobody listens, and that nobody else gets meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]

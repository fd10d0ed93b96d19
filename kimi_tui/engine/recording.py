"""Reading `wire.jsonl` back: the messages of a recording, oldest first."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)


def recorded_messages(path: Path) -> Iterator[dict[str, Any]]:
    """`{"type", "payload"}` of each message; unreadable lines are left out, a missing file holds none."""
    try:
        with path.open("rb") as file:
            for line in file:
                message = _message_in(line)
                if message is not None:
                    yield message
    except OSError:
        logger.info("there is no recording to read", exc_info=True)


def _message_in(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)["message"]
        known = isinstance(message["type"], str) and isinstance(message["payload"], dict)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return {"type": message["type"], "payload": message["payload"]} if known else None

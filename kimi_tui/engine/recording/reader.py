"""Reader of `wire.jsonl`: the messages of a recording, oldest first."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)


def read_messages(path: Path) -> Iterator[dict[str, Any]]:
    """Yield `{"type", "payload"}` for each message.

    Unreadable lines are skipped. A missing file yields nothing.
    """
    try:
        with path.open("rb") as file:
            for line in file:
                message = _parse_message(line)
                if message is not None:
                    yield message
    except OSError:
        logger.info("can't read the recording", exc_info=True)


def _parse_message(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)["message"]
        is_valid = isinstance(message["type"], str) and isinstance(message["payload"], dict)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return {"type": message["type"], "payload": message["payload"]} if is_valid else None

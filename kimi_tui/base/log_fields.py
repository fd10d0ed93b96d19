"""Structured log lines: an event and its fields, as `tool_call id=c1 name=Bash arguments_chars=24`."""

import json
import logging


def log_event(logger: logging.Logger, level: int, event: str, **fields: object) -> None:
    """Log `event` with `fields`; those that are None are omitted.

    Fields are names, sizes and times, never the text of a conversation or a file.
    """
    if logger.isEnabledFor(level):
        logger.log(level, "%s", format_event(event, fields))


def format_event(event: str, fields: dict[str, object]) -> str:
    """Return the text of a log line."""
    parts = [f"{name}={_format_value(value)}" for name, value in fields.items() if value is not None]
    return " ".join((event, *parts))


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.3f}"
    text = str(value)
    is_plain = text.isprintable() and text and not set(text) & set(' "=')
    return text if is_plain else json.dumps(text, ensure_ascii=True)

"""Boundaries in a conversation: authors of messages, and positions where the conversation can be cut."""

from collections.abc import Sequence

from kimi_tui.base.compaction_markers import is_summary
from kimi_tui.base.message import Message
from kimi_tui.history.message_history import is_note
from kimi_tui.history.token_estimate import estimate_tokens


def is_user_or_model_message(message: Message) -> bool:
    """Return whether the user or the model wrote the message, rather than the program."""
    match message.role:
        case "assistant":
            return True
        case "user":
            return not is_note(message) and not is_summary(message)
        case _:
            return False


def is_checkpoint_note(message: Message) -> bool:
    """Return whether `message` is a note with a checkpoint's number. A compaction invalidates the number."""
    return message.role == "user" and is_note(message) and message.text.startswith("<system>CHECKPOINT ")


def cut_points(history: Sequence[Message]) -> list[int]:
    """Return the indexes where `history` can be cut: before messages except tool results, and at the end."""
    return [*(at for at, message in enumerate(history) if message.role != "tool"), len(history)]


def user_messages(history: Sequence[Message], request: int | None, *, end: int) -> list[Message]:
    """Return the user's messages from index `request` up to, but not including, index `end`."""
    if request is None:
        return []
    return [it for it in history[request:end] if it.role == "user" and is_user_or_model_message(it)]


def find_latest_request(history: Sequence[Message]) -> int | None:
    """Return the index of the user's latest message, or None."""
    return next(
        (
            at
            for at in reversed(range(len(history)))
            if history[at].role == "user" and is_user_or_model_message(history[at])
        ),
        None,
    )


def find_tail_start(history: Sequence[Message], start: int, *, limit: int) -> int:
    """Return the first cut point at or after `start` with at most `limit` tokens of history after it."""
    return next(
        at
        for at in cut_points(history)
        if at >= start and (at == len(history) or estimate_tokens(history[at:]) <= limit)
    )

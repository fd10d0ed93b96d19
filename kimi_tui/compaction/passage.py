"""Passages of a conversation: whose words a message is, and where the conversation may be cut."""

from collections.abc import Sequence

from kimi_tui.base.compacted import is_summary
from kimi_tui.base.message import Message
from kimi_tui.history.conversation import is_note
from kimi_tui.history.estimate import estimated_tokens


def is_own(message: Message) -> bool:
    """Whether the user or the model said it, rather than the program in the user's place."""
    match message.role:
        case "assistant":
            return True
        case "user":
            return not is_note(message) and not is_summary(message)
        case _:
            return False


def is_checkpoint_note(message: Message) -> bool:
    """Whether `message` names a checkpoint to the model, which a compaction takes away."""
    return message.role == "user" and is_note(message) and message.text.startswith("<system>CHECKPOINT ")


def borders(history: Sequence[Message]) -> list[int]:
    """Where `history` may be cut: before a message that is no tool result; and its end."""
    return [*(at for at, message in enumerate(history) if message.role != "tool"), len(history)]


def users_words(history: Sequence[Message], request: int | None, *, until: int) -> list[Message]:
    """What the user has said since `request`, itself included, before `until`."""
    if request is None:
        return []
    return [said for said in history[request:until] if said.role == "user" and is_own(said)]


def latest_request(history: Sequence[Message]) -> int | None:
    """Where the user's latest words stand; None when there are none."""
    return next(
        (at for at in reversed(range(len(history))) if history[at].role == "user" and is_own(history[at])),
        None,
    )


def tail_within(history: Sequence[Message], start: int, *, limit: int) -> int:
    """The first border from `start` on, the history after which weighs no more than `limit` tokens."""
    return next(
        at
        for at in borders(history)
        if at >= start and (at == len(history) or estimated_tokens(history[at:]) <= limit)
    )

"""Texts that mark the messages of a compacted conversation."""

from kimi_tui.base.message import Message

SUMMARY_PREFIX = "Previous context has been compacted. Here is the compaction output:"
"""Prefix of a summary, which is a user message written by the program."""
SUMMARY_REQUEST = "Summarize this part of a conversation as instructed."
"""Prefix of a request for a summary."""
SPEAKER_LABELS = {"user": "[the user]", "assistant": "[the assistant]", "summary": "[earlier summary]"}
"""Heading of each message or earlier summary in a request for a summary, by speaker."""


def is_summary(message: Message) -> bool:
    """Return whether `message` is the summary of compacted messages.

    kimi-cli puts `SUMMARY_PREFIX` into a system note.
    """
    return message.role == "user" and message.text.removeprefix("<system>").startswith(SUMMARY_PREFIX)


def summary_text(message: Message) -> str:
    """Return the text of a summary without its prefix."""
    text = message.text.removeprefix("<system>").removeprefix(SUMMARY_PREFIX)
    return text.removeprefix("</system>").strip()

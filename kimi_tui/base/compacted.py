"""The words that a compacted conversation is known by, to whoever writes, shows or answers one."""

from kimi_tui.base.message import Message

SUMMARY_LEAD = "Previous context has been compacted. Here is the compaction output:"
"""What a summary, a user message of the program's, begins with."""
SUMMARY_REQUEST = "Summarise this part of a conversation, as you were told to."
"""What a request for a summary begins with."""
SPEAKER_MARKS = {"user": "[the user]", "assistant": "[the assistant]", "summary": "[earlier summary]"}
"""The line above what somebody said, or what sums up what came before, in a request for a summary."""


def is_summary(message: Message) -> bool:
    """Whether `message` stands for messages that were compacted; kimi-cli puts the lead into a note."""
    return message.role == "user" and message.text.removeprefix("<system>").startswith(SUMMARY_LEAD)


def summary_text(message: Message) -> str:
    """A summary without its lead."""
    text = message.text.removeprefix("<system>").removeprefix(SUMMARY_LEAD)
    return text.removeprefix("</system>").strip()

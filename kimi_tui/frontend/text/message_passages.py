"""Texts for messages that a search in all sessions found."""

from kimi_tui.i18n.translate import tr
from kimi_tui.wire.message_search import MessageMatch, Speaker

_SHORT_ID_LENGTH = 8
_BEFORE_MATCH = 20
"""Characters before the match in one line."""
_MAX_QUOTED_LINES = 40


def speaker_name(speaker: Speaker) -> str:
    """Return the name of a message's author."""
    return {"user": tr("you"), "agent": tr("agent"), "tool": tr("tool output")}[speaker]


def match_label(match: MessageMatch) -> str:
    """Return the session and the checkpoint of a message."""
    title = match.title or match.session_id[:_SHORT_ID_LENGTH]
    if match.checkpoint is None:
        return title
    if match.is_on_current_branch:
        return f"{title} #{match.checkpoint}"
    return tr("{title} #{checkpoint}, other branch", title=title, checkpoint=match.checkpoint)


def passage_line(match: MessageMatch, length: int) -> str:
    """Return the text around the first match, in one line of at most `length` characters."""
    at = match.matches[0][0] if match.matches else 0
    before = " ".join(match.passage[:at].split())
    after = " ".join(match.passage[at : at + length].split())
    space = " " if match.passage[:at].endswith((" ", "\n", "\t")) else ""
    text = f"{before[-_BEFORE_MATCH:]}{space}{after}"
    return f"{'…' if len(before) > _BEFORE_MATCH else ''}{text}"[:length]


def quote_message(match: MessageMatch) -> str:
    """Return a message as a quotation with its source, for a prompt."""
    lines = match.passage.strip().splitlines()
    quoted = [f"> {line}".rstrip() for line in lines[:_MAX_QUOTED_LINES]]
    if len(lines) > _MAX_QUOTED_LINES:
        quoted.append("> …")
    source = tr("{speaker}, in “{label}”:", speaker=speaker_name(match.speaker), label=match_label(match))
    return "\n".join([source, *quoted, ""])

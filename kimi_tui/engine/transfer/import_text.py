"""Import of text for the model: a text file, an exported conversation, or another session."""

import json
from pathlib import Path

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError, SessionError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import from_jsonable
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.engine.transfer.export import to_markdown
from kimi_tui.history.journal_reader import read_journal
from kimi_tui.history.session import SessionStore

MAX_CHARACTERS = 200_000
"""Maximum number of characters; longer texts would fill the context window."""


@frozen
class ExportedConversation:
    """A conversation from an export file."""

    title: str
    messages: tuple[Message, ...]
    session_id: str = ""


def read_import(source: str, *, work_dir: Path, store: SessionStore) -> tuple[str, str]:
    """Return the name and text of `source`, a path or the ID of a session. Raises KimiTuiError."""
    path = Path(source).expanduser()
    path = path if path.is_absolute() else work_dir / path
    if path.is_file():
        name, text = str(path), _read_file(path)
    else:
        try:
            session = store.find(source)
        except SessionError as error:
            raise KimiTuiError(
                msg("No file or session “{name}” found.", name=source),
                hint="Check the path, or use /sessions to list the sessions.",
            ) from error
        name = f"session {session.state.title or session.id}"
        history = read_journal(session.context_file).state.history
        text = to_markdown(history, title=session.state.title, session_id=session.id)
    if len(text) > MAX_CHARACTERS:
        raise KimiTuiError(
            msg(
                "{name} is too long: {count:,} characters. The maximum is {maximum:,}.",
                name=name,
                count=len(text),
                maximum=MAX_CHARACTERS,
            ),
            hint="Mention the file with @ instead, so that the agent reads it in parts.",
        )
    return name, text


def read_text_file(path: Path, *, hint: str) -> str:
    """Return the text of a file. Raises KimiTuiError with `hint`."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KimiTuiError(
            msg("Can't read {path} as text: {reason}.", path=path, reason=reason_of(error)), hint=hint
        ) from error


def _read_file(path: Path) -> str:
    text = read_text_file(path, hint="Choose a text file.")
    if path.suffix == ".json" and (export := parse_export(text)) is not None:
        return to_markdown(export.messages, title=export.title, session_id=export.session_id)
    return text


def parse_export(text: str) -> ExportedConversation | None:
    """Return the conversation in a JSON export, or None if `text` is something else."""
    try:
        data = json.loads(text)
        messages = tuple(from_jsonable(Message, message) for message in data["messages"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return ExportedConversation(str(data.get("title", "")), messages, str(data.get("session_id", "")))

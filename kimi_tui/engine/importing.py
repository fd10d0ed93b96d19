"""Words from elsewhere for the model to know: a text file, an exported conversation, or another session."""

import json
from pathlib import Path

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.encoding import from_jsonable
from kimi_tui.base.errors import KimiTuiError, SessionError
from kimi_tui.base.message import Message
from kimi_tui.base.value import value
from kimi_tui.engine.exporting import as_markdown
from kimi_tui.history.loading import load
from kimi_tui.history.session import SessionStore

LIMIT = 200_000
"""Characters; more would fill the model's window with it."""


@value
class Exported:
    """A conversation as a file holds it."""

    title: str
    messages: tuple[Message, ...]
    session_id: str = ""


def imported(wanted: str, *, work_dir: Path, store: SessionStore) -> tuple[str, str]:
    """What `wanted`, a path or the id of a session, is called, and its text. Raises KimiTuiError."""
    path = Path(wanted).expanduser()
    path = path if path.is_absolute() else work_dir / path
    if path.is_file():
        name, text = str(path), _of_file(path)
    else:
        try:
            session = store.find(wanted)
        except SessionError as error:
            raise KimiTuiError(
                f"There is neither a file nor a session “{wanted}”.", hint="Name a path, or see /sessions."
            ) from error
        name = f"session {session.state.title or session.id}"
        history = load(session.context_file).line.history
        text = as_markdown(history, title=session.state.title, session_id=session.id)
    if len(text) > LIMIT:
        raise KimiTuiError(
            f"{name} has {len(text):,} characters; {LIMIT:,} can be imported.",
            hint="Let the agent read the file piece by piece: name it after @.",
        )
    return name, text


def text_of(path: Path, *, hint: str) -> str:
    """What a file holds. Raises KimiTuiError, which hints at what would be right."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KimiTuiError(f"{path} can't be read as text: {reason_of(error)}.", hint=hint) from error


def _of_file(path: Path) -> str:
    text = text_of(path, hint="Name a text file.")
    if path.suffix == ".json" and (known := exported(text)) is not None:
        return as_markdown(known.messages, title=known.title, session_id=known.session_id)
    return text


def exported(text: str) -> Exported | None:
    """The conversation in an export of ours; None when `text` is something else."""
    try:
        data = json.loads(text)
        messages = tuple(from_jsonable(Message, message) for message in data["messages"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return Exported(str(data.get("title", "")), messages, str(data.get("session_id", "")))

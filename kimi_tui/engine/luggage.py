"""What the user takes away from a conversation, and brings into it: /export and /import."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.base.secrets import fit_to_share
from kimi_tui.engine.exporting import as_json, as_markdown, write_new
from kimi_tui.engine.importing import imported
from kimi_tui.engine.remarks import Remarks
from kimi_tui.engine.slash_book import SlashCommand
from kimi_tui.engine.telling import Telling
from kimi_tui.history.session import Session, SessionStore


class Luggage:
    """The files of one session's coming and going."""

    def __init__(
        self,
        *,
        session: Session,
        store: SessionStore,
        remarks: Remarks,
        telling: Telling,
        history: Callable[[], Sequence[Message]],
        model: Callable[[], str],
    ) -> None:
        self._session = session
        self._store = store
        self._remarks = remarks
        self._telling = telling
        self._history = history
        self._model = model
        self.commands = (
            SlashCommand("export", "Write the conversation to a file: /export [md|json] [PATH]", self.export),
            SlashCommand(
                "import", "Tell the model what a file or session holds: /import PATH|ID", self.bring
            ),
        )

    async def export(self, argument: str) -> None:
        """Write the conversation to a file of the work dir. Raises KimiTuiError."""
        first, _, rest = argument.partition(" ")
        kind, named = (first, rest.strip()) if first in ("md", "json") else ("", argument)
        if not kind:
            kind = "json" if named.endswith(".json") else "md"
        history = list(self._history())
        if not history:
            raise KimiTuiError("There is nothing to export yet.", hint="Say something first.")
        known = self._session
        path = Path(named).expanduser() if named else Path(_file_name(known.id, kind))
        path = path if path.is_absolute() else known.work_dir / path
        title = known.state.title
        if kind == "json":
            text = as_json(history, title=title, session_id=known.id, model=self._model())
        else:
            text = as_markdown(history, title=title, session_id=known.id)
        await asyncio.to_thread(write_new, path, fit_to_share(text))
        self._telling.notice("Exported", str(path), severity="info")

    async def bring(self, argument: str) -> None:
        """Let the model know what a file or another session holds. Raises KimiTuiError."""
        if not argument:
            raise KimiTuiError("/import needs to know what.", hint="Type /import PATH, or /import SESSION.")
        name, text = await asyncio.to_thread(
            imported, argument, work_dir=self._session.work_dir, store=self._store
        )
        self._remarks.add(f"The user imported {name} into the conversation:\n\n{text}")
        self._telling.notice(
            "Imported",
            f"{name}: {len(text):,} characters, which the model gets with your next prompt.",
            severity="info",
        )


def _file_name(session_id: str, kind: str) -> str:
    return f"kimi-tui-{time.strftime('%Y%m%d-%H%M%S')}-{session_id[:8]}.{kind}"

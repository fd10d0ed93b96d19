"""The /export and /import commands."""

import asyncio
import time
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.base.redaction import redact_for_sharing
from kimi_tui.engine.session.pending_notes import PendingNotes
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.slash.registry import SlashCommand
from kimi_tui.engine.transfer.export import to_json, to_markdown, write_exclusive
from kimi_tui.engine.transfer.import_text import read_import
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.soul.runtime_settings import RuntimeSettings

_KINDS = ("md", "json", "html")


class ExportImportCommands:
    """Implements /export and /import."""

    def __init__(
        self,
        *,
        session: Session,
        store: SessionStore,
        data_dir: Path,
        pending_notes: PendingNotes,
        publisher: SessionPublisher,
        context: Context,
        runtime_settings: RuntimeSettings,
    ) -> None:
        self._session = session
        self._store = store
        self._data_dir = data_dir
        self._pending_notes = pending_notes
        self._publisher = publisher
        self._context = context
        self._runtime_settings = runtime_settings
        self.commands = (
            SlashCommand(
                "export", "Export the conversation to a file: /export [md|json|html] [PATH]", self.export
            ),
            SlashCommand(
                "import", "Add a file or session to the conversation: /import PATH|ID", self.import_
            ),
        )

    async def export(self, argument: str) -> None:
        """Write the conversation to a file in the working directory. Raises KimiTuiError."""
        first, _, rest = argument.partition(" ")
        kind, name = (first, rest.strip()) if first in _KINDS else ("", argument)
        if not kind:
            kind = next((it for it in _KINDS if name.endswith(f".{it}")), "md")
        history = list(self._context.history)
        if not history:
            raise KimiTuiError("Nothing to export yet.", hint="Send a message first.")
        session = self._session
        path = Path(name).expanduser() if name else Path(_file_name(session.id, kind))
        path = path if path.is_absolute() else session.work_dir / path
        title = session.state.title
        if kind == "json":
            llm = self._runtime_settings.llm
            model = llm.name if llm is not None else ""
            text = to_json(history, title=title, session_id=session.id, model=model)
        elif kind == "html":
            from kimi_tui.engine.transfer.html.html_export import to_html

            text = await asyncio.to_thread(to_html, session, data_dir=self._data_dir)
        else:
            text = to_markdown(history, title=title, session_id=session.id)
        if kind != "html":  # an HTML page's texts are redacted before they are escaped
            text = redact_for_sharing(text)
        await asyncio.to_thread(write_exclusive, path, text)
        self._publisher.send_notice("Exported", str(path), severity="info")

    async def import_(self, argument: str) -> None:
        """Add the text of a file or another session to the next prompt. Raises KimiTuiError."""
        if not argument:
            raise KimiTuiError(
                "/import requires a file or a session.", hint="Use /import PATH or /import SESSION."
            )
        name, text = await asyncio.to_thread(
            read_import, argument, work_dir=self._session.work_dir, store=self._store
        )
        self._pending_notes.add(f"The user imported {name} into the conversation:\n\n{text}")
        self._publisher.send_notice(
            "Imported",
            msg(
                "{name}: {count:,} characters. The model sees them with your next prompt.",
                name=name,
                count=len(text),
            ),
            severity="info",
        )


def _file_name(session_id: str, kind: str) -> str:
    return f"kimi-tui-{time.strftime('%Y%m%d-%H%M%S')}-{session_id[:8]}.{kind}"

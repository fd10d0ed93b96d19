"""Service that explains the origin of lines, in an open session or from a project's stored states."""

import os
from pathlib import Path

from kimi_tui.base.errors import UsageError
from kimi_tui.engine.files.coverage import covered_path
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.why import ExplainLine, LineReason

_MAX_HEADS = 20
"""Number of the newest sessions that are searched for a file."""


class WhyService:
    """Explains lines in an open session."""

    def __init__(
        self,
        *,
        session: Session,
        store: SessionStore,
        context: Context,
        files: SessionFiles,
        workspace: PathScope,
        sender: EventSender,
    ) -> None:
        self._session = session
        self._store = store
        self._context = context
        self._files = files
        self._workspace = workspace
        self._sender = sender

    async def explain(self, command: ExplainLine) -> None:
        """Send the origin of a line. Raises KimiTuiError."""
        if not self._files.is_enabled:
            raise UsageError(
                "No file snapshots.",
                hint="Set `files = true` under [checkpoints] in the config.",
            )
        from kimi_tui.engine.why.line_explainer import explain_current_line

        tree = await self._context.tree()
        reason = await self._files.worker.use(
            explain_current_line,
            command,
            workspace=self._workspace,
            tree=tree,
            sessions=self._store,
            session=self._session,
        )
        self._sender.send(reason)


def explain_stored_line(
    data_dir: Path, work_dir: Path, text: str, line: int, *, session: Session | None = None
) -> LineReason:
    """Return the origin of a line, from stored states only. Nothing is captured or locked.

    `text` is a path relative to `work_dir`. Without `session`, the newest state of any session counts.
    Blocks. Raises KimiTuiError.
    """
    from kimi_tui.engine.why.line_explainer import LineExplainer
    from kimi_tui.history.line_origins.line_tracer import LineTracer
    from kimi_tui.history.snapshots.project_store import ProjectStore

    additional = tuple(map(Path, session.state.additional_dirs)) if session is not None else ()
    workspace = PathScope(work_dir, additional)
    real = workspace.locate(text).real
    path = covered_path(workspace, text)
    store = ProjectStore(data_dir, work_dir, session.id if session is not None else "")
    if session is not None:
        heads = [head for head in [store.manifests.newest(session.id)] if head is not None]
    else:
        heads = store.manifests.newest_states(_MAX_HEADS)
    tracer = LineTracer(store.manifests, store.blobs)
    head = next((it for it in heads if tracer.content(path, it) is not None), heads[0] if heads else "")
    explainer = LineExplainer(
        store.manifests, store.blobs, sessions=SessionStore(data_dir), work_dir=work_dir, session=session
    )
    return explainer.explain(path, line, head=head, file=real)


def parse_location(text: str) -> tuple[str, int] | None:
    """Return the file and the line of `FILE:LINE` or `FILE:LINE:COLUMN`; None for other texts."""
    path, _, number = text.strip().rpartition(":")
    shorter, _, line = path.rpartition(":")
    if shorter and line.isdecimal() and number.isdecimal() and not os.path.lexists(path):
        path, number = shorter, line
    if not path or not number.isdecimal() or len(number) > 9:
        return None
    return path, int(number)

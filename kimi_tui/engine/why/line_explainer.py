"""Explains lines of files: who wrote them, when, and for which prompt."""

from pathlib import Path

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.coverage import covered_path, unique_path
from kimi_tui.engine.subagents.store import SubagentStore
from kimi_tui.engine.why.journal_step import JournalStep, find_step
from kimi_tui.history.checkpoint_tree import CheckpointTree
from kimi_tui.history.line_origins.line_mapping import map_lines
from kimi_tui.history.line_origins.line_tracer import LineOrigin, LineTracer
from kimi_tui.history.line_origins.other_session_lines import trace_across_sessions
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.history.snapshots.blob_store import BlobStore
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.hunk import split_lines
from kimi_tui.history.snapshots.manifest import ManifestLog
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.why import ExplainLine, LineReason

_MAX_LINE_CHARS = 2_000
_MAX_TEXT_CHARS = 20_000


def explain_current_line(
    history: FileHistory,
    command: ExplainLine,
    *,
    workspace: PathScope,
    tree: CheckpointTree,
    sessions: SessionStore,
    session: Session,
) -> LineReason:
    """Return the origin of a line in a current file. Blocks. Raises KimiTuiError."""
    path = covered_path(workspace, command.path)
    head = history.capture_paths(history.default_author(), [path]).manifest
    explainer = LineExplainer(
        history.manifests, history.blobs, sessions=sessions, work_dir=session.work_dir, session=session
    )
    file = workspace.locate(command.path).real
    return explainer.explain(path, command.line, head=head, file=file, tree=tree)


class LineExplainer:
    """Explains lines of one project's files. Its methods block."""

    def __init__(
        self,
        manifests: ManifestLog,
        blobs: BlobStore,
        *,
        sessions: SessionStore,
        work_dir: Path,
        session: Session | None = None,
    ) -> None:
        """`session` is the open session; None if no session is open."""
        self._manifests = manifests
        self._blobs = blobs
        self._sessions = sessions
        self._work_dir = work_dir
        self._session = session

    def explain(
        self, path: str, line: int, *, head: str, file: Path, tree: CheckpointTree | None = None
    ) -> LineReason:
        """Return the origin of a line of `file`. Lines are counted from 1.

        `path` is the file's path in the file history. `head` is a state that contains the file; later changes
        are unknown. `tree` has the checkpoints of the open session. Raises UsageError if the line doesn't
        exist or the file isn't a text file.
        """
        tracer = LineTracer(self._manifests, self._blobs)
        stored = tracer.content(path, head)
        current = _read(file)
        content = current if current is not None else stored
        lines = split_lines(content) if content is not None else []
        name = unique_path(path)
        if content is None:
            raise UsageError(
                msg("{path} isn't a text file.", path=name), hint="Choose a file of this project."
            )
        if not 0 < line <= len(lines):
            raise UsageError(
                msg("{path} has {count} lines.", path=name, count=len(lines)), hint="Choose one of them."
            )
        text = lines[line - 1].decode("utf-8", "replace").rstrip("\r\n")[:_MAX_LINE_CHARS]
        if stored is None:
            return LineReason(path=name, line=line, text=text, by="unknown", note=_NOT_COVERED)
        number: int | None = line - 1
        if content != stored:
            number = map_lines(split_lines(stored), lines, is_by_user=True)[line - 1].line
        if number is None:
            return LineReason(path=name, line=line, text=text, by="unknown", note=_NOT_RECORDED)
        origin = trace_across_sessions(tracer, self._manifests, path, head, number)
        if origin is None:
            return LineReason(path=name, line=line, text=text, by="unknown", note=_NOT_COVERED)
        return self._to_reason(origin, name, line, text, tree)

    def _to_reason(
        self, origin: LineOrigin, path: str, line: int, text: str, tree: CheckpointTree | None
    ) -> LineReason:
        version, author = origin.version, origin.version.author
        if not origin.is_known:
            return LineReason(path=path, line=line, text=text, by="unknown", note=_DELETED)
        if author is None:
            return LineReason(path=path, line=line, text=text, by="you", note=_BEFORE, time=version.time)
        if author.who == "background":
            return LineReason(
                path=path,
                line=line,
                text=text,
                by="agent or you",
                note=_BACKGROUND,
                time=version.time,
                session_id=author.session,
                command=author.command,
            )
        if author.who != "call":
            return LineReason(
                path=path, line=line, text=text, by="you", time=version.time, command=author.command
            )
        return self._by_call(origin, author, LineReason(path=path, line=line, text=text, by="agent"), tree)

    def _by_call(
        self, origin: LineOrigin, author: ChangeAuthor, reason: LineReason, tree: CheckpointTree | None
    ) -> LineReason:
        session = self._find_session(author.session)
        step, main_step = self._find_steps(session, author, origin.version.time)
        checkpoint = main_step.checkpoint if main_step is not None else None
        is_other = self._session is not None and author.session != self._session.id
        node = tree.nodes.get(checkpoint.uid) if tree is not None and checkpoint is not None else None
        if node is not None:
            is_other = False  # a fork has its origin's checkpoints
        return LineReason(
            path=reason.path,
            line=reason.line,
            text=reason.text,
            by="agent or you" if author.began else "agent",
            note=_WHILE_RUNNING if author.began else "",
            time=origin.version.time,
            session_id=author.session,
            session_title=session.state.title if session is not None else "",
            is_other_session=is_other,
            checkpoint=checkpoint.id if checkpoint is not None else None,
            branch=node.branch if node is not None else None,
            step=step.label if step is not None else "",
            prompt=main_step.prompt[:_MAX_TEXT_CHARS] if main_step is not None else "",
            agent=author.agent,
            tool=author.tool,
            command=author.command,
            reasoning=step.reasoning[:_MAX_TEXT_CHARS] if step is not None else "",
            response=step.response[:_MAX_TEXT_CHARS] if step is not None else "",
            model=step.model if step is not None else "",
            cost_usd=step.cost_usd if step is not None else None,
        )

    def _find_session(self, session_id: str) -> Session | None:
        """Return the session of a call, or the open session if the call's session no longer exists."""
        if self._session is None or self._session.id != session_id:
            for summary in self._sessions.list(self._work_dir):
                if summary.id == session_id and summary.kimi_cli_session is None:
                    return Session(summary.dir, self._work_dir)
        return self._session

    def _find_steps(
        self, session: Session | None, author: ChangeAuthor, time: float
    ) -> tuple[JournalStep | None, JournalStep | None]:
        """Return the step of a call, and the main agent's step that the call belongs to."""
        if session is None:
            return None, None
        if not author.agent:
            step = find_step(session.context_file, author.call, time=time)
            return step, step
        subagents = SubagentStore(session.dir / "subagents")
        step = find_step(subagents.context_file(author.agent), author.call, time=time)
        record = subagents.find(author.agent)
        for call in reversed(record.calls if record is not None else ()):
            main_step = find_step(session.context_file, call, time=time)
            if main_step is not None:
                return step, main_step
        return step, None


_NOT_COVERED = msg("Checkpoints don't cover the file.")
_NOT_RECORDED = msg("Changed since the last file snapshot.")
_DELETED = msg("Older file snapshots were deleted to free space.")
_BEFORE = msg("It was there before the first file snapshot.")
_BACKGROUND = msg("Written while a background task ran.")
_WHILE_RUNNING = msg("Found by a scan after the command.")


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except (OSError, ValueError):
        return None

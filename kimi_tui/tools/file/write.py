"""WriteFile: writes a whole file, or appends to one."""

import asyncio
from dataclasses import replace
from typing import Literal

from pydantic import Field

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.atomic_replace import require_creatable, require_replaceable
from kimi_tui.tools.file.client_editor import NO_EDITOR, Editor, read_content
from kimi_tui.tools.file.diff import FileDiff, build_diff, summary_diff
from kimi_tui.tools.file.encoding import UTF_8
from kimi_tui.tools.file.file_change import FileChange, apply_change
from kimi_tui.tools.file.read_tracker import FileTracker
from kimi_tui.tools.file.regular_file import FileContent
from kimi_tui.tools.file.text_document import (
    TextDocument,
    UndecodableFile,
    decode_document,
    parse_text,
    require_writable,
)
from kimi_tui.tools.path_scope import LocatedPath, PathScope
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.events import ToolReturn


class WriteFileParams(ToolParams):
    """Parameters of WriteFile."""

    path: str = Field(
        description="The file: relative to the working directory, or absolute. Directories are created."
    )
    content: str = Field(description="The text to write.")
    mode: Literal["overwrite", "append"] = Field(
        "overwrite", description="Replace the content of the file, or add to its end."
    )


class WriteFile(Tool[WriteFileParams]):
    """Writes text files with the user's approval."""

    name = "WriteFile"
    Params = WriteFileParams
    has_side_effects = True

    def __init__(
        self, path_scope: PathScope, tracker: FileTracker, approval: Approval, editor: Editor = NO_EDITOR
    ) -> None:
        self._path_scope = path_scope
        self._tracker = tracker
        self._approval = approval
        self._editor = editor

    def target_files(self, params: WriteFileParams) -> tuple[str, ...]:
        """Return the path of the file."""
        return (params.path,)

    async def run(self, params: WriteFileParams, call: CallContext) -> ToolReturn:
        """Write the content."""
        try:
            require_writable(params.content)
            file = self._path_scope.locate_writable(params.path)
            # Locked before the first await, so that calls keep their order.
            async with self._tracker.edit_locks.lock_for(file.real):
                content = await read_content(file, self._editor)
                change = await asyncio.to_thread(_plan_change, file, content, params)
                if change.before is not None and change.after == change.before.data:
                    return success(
                        message=f"{file.display_path} already has exactly this content.", brief="unchanged"
                    )
                return await apply_change(
                    change, call, approval=self._approval, tracker=self._tracker, editor=self._editor
                )
        except FileProblem as problem:
            return failure(str(problem), brief=problem.what)


def _plan_change(file: LocatedPath, content: FileContent | None, params: WriteFileParams) -> FileChange:
    if content is None:
        require_creatable(file)
        return _plan_create(file, params.content)
    require_replaceable(file, content)
    if params.mode == "append":
        return _plan_append(file, content, params.content)
    return _plan_overwrite(file, content, params.content)


def _plan_create(file: LocatedPath, text: str) -> FileChange:
    return FileChange(
        file=file,
        before=None,
        after=text.encode(),
        diff=build_diff(file.display_path, "", text),
        verb="Create",
        past_verb="Created",
        is_full_content=True,
    )


def _plan_append(file: LocatedPath, content: FileContent, text: str) -> FileChange:
    try:
        document = decode_document(content.data)
    except UndecodableFile as error:
        raise FileProblem(
            f"{file.display_path} is {error.encoding.label}; text can't be appended to it.",
            hint="Use a shell command.",
        ) from error
    require_writable(text, document)
    text, notes = _match_line_endings(text, document)
    added = parse_text(text)
    longer = replace(document, text=document.text + added.text, endings=document.endings + added.endings)
    if document.text and not document.text.endswith("\n"):
        notes += ("The file did not end in a newline, so the new text continues its last line.",)
    return FileChange(
        file=file,
        before=content,
        after=longer.encode(),
        diff=build_diff(file.display_path, document.raw_text, longer.raw_text),
        verb="Append to",
        past_verb="Appended to",
        is_full_content=False,
        requires_read=False,
        notes=notes,
    )


def _plan_overwrite(file: LocatedPath, content: FileContent, text: str) -> FileChange:
    try:
        old = decode_document(content.data)
    except UndecodableFile as error:
        n_bytes, label = len(content.data), error.encoding.label
        after = text.encode()
        diff = summary_diff(file.display_path, f"{label}, {n_bytes:,} bytes", f"text, {len(after):,} bytes")
        return _overwrite_change(file, content, after, diff, (f"It was {label} before.",))
    text, notes = _match_line_endings(text, old)
    encoding = old.encoding if old.is_clean else UTF_8
    if not old.is_clean:
        notes += ("It was not UTF-8 before; now it is.",)
    elif not encoding.is_utf8:
        notes += (f"The encoding is unchanged: {encoding.label}.",)
    if encoding.bom:
        text = text.removeprefix("\ufeff")
    if old.text.endswith("\n") and not text.endswith("\n"):
        notes += ("It no longer ends in a newline.",)
    after = replace(parse_text(text), encoding=encoding).encode()
    return _overwrite_change(file, content, after, build_diff(file.display_path, old.raw_text, text), notes)


def _overwrite_change(
    file: LocatedPath, content: FileContent, after: bytes, file_diff: FileDiff, notes: tuple[str, ...]
) -> FileChange:
    return FileChange(
        file=file,
        before=content,
        after=after,
        diff=file_diff,
        verb="Overwrite",
        past_verb="Overwrote",
        is_full_content=True,
        notes=notes,
    )


def _match_line_endings(text: str, document: TextDocument) -> tuple[str, tuple[str, ...]]:
    """Return `text` with CRLF if all lines of `document` end in CRLF, and the note for the model."""
    if not document.uses_crlf or "\r" in text or "\n" not in text:
        return text, ()
    return text.replace("\n", "\r\n"), ("Its CRLF line endings were kept.",)

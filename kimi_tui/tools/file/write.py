"""WriteFile: a whole new content, or more at the end."""

import asyncio
from dataclasses import replace
from typing import Literal

from pydantic import Field

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.change import FileChange, carry_out
from kimi_tui.tools.file.diff import FileDiff, diff, summary
from kimi_tui.tools.file.document import Document, UndecodableFile, decode, document_of, require_writable
from kimi_tui.tools.file.editor import NO_EDITOR, Editor, content_of
from kimi_tui.tools.file.encoding import UTF_8
from kimi_tui.tools.file.ledger import FileLedger
from kimi_tui.tools.file.regular import Content
from kimi_tui.tools.file.replacement import require_creatable, require_replaceable
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.tools.workspace import Located, Workspace
from kimi_tui.wire.events import ToolReturn


class WriteFileParams(ToolParams):
    """What to write."""

    path: str = Field(
        description="The file: relative to the work dir, or absolute. Missing folders are made."
    )
    content: str = Field(description="The text to write.")
    mode: Literal["overwrite", "append"] = Field(
        "overwrite", description="Replace what the file holds, or add to its end."
    )


class WriteFile(Tool[WriteFileParams]):
    """Writes text files, with the user's consent."""

    name = "WriteFile"
    Params = WriteFileParams
    changes_things = True

    def __init__(
        self, workspace: Workspace, ledger: FileLedger, approval: Approval, editor: Editor = NO_EDITOR
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._approval = approval
        self._editor = editor

    def changed_files(self, params: WriteFileParams) -> tuple[str, ...]:
        """The one file."""
        return (params.path,)

    async def run(self, params: WriteFileParams, call: RunningCall) -> ToolReturn:
        """Write the content."""
        try:
            require_writable(params.content)
            file = self._workspace.locate(params.path)
            async with self._ledger.order.of(file.real):  # before the first await: calls keep their order
                content = await content_of(file, self._editor)
                change = await asyncio.to_thread(_propose, file, content, params)
                if change.before is not None and change.after == change.before.data:
                    return ok(message=f"{file.shown} holds exactly this already.", brief="unchanged")
                return await carry_out(
                    change, call, approval=self._approval, ledger=self._ledger, editor=self._editor
                )
        except FileProblem as problem:
            return failed(str(problem), brief=problem.what)


def _propose(file: Located, content: Content | None, params: WriteFileParams) -> FileChange:
    if content is None:
        require_creatable(file)
        return _created(file, params.content)
    require_replaceable(file, content)
    if params.mode == "append":
        return _appended(file, content, params.content)
    return _overwritten(file, content, params.content)


def _created(file: Located, text: str) -> FileChange:
    return FileChange(
        file=file,
        before=None,
        after=text.encode(),
        diff=diff(file.shown, "", text),
        verb="Create",
        done="Created",
        is_whole=True,
    )


def _appended(file: Located, content: Content, text: str) -> FileChange:
    try:
        document = decode(content.data)
    except UndecodableFile as error:
        raise FileProblem(
            f"{file.shown} is {error.encoding.label}; text can't be added to it.", hint="Use a shell command."
        ) from error
    require_writable(text, document)
    text, notes = _with_its_endings(text, document)
    added = document_of(text)
    longer = replace(document, text=document.text + added.text, endings=document.endings + added.endings)
    if document.text and not document.text.endswith("\n"):
        notes += ("The file did not end in a newline, so that the new text goes on in its last line.",)
    return FileChange(
        file=file,
        before=content,
        after=longer.encoded(),
        diff=diff(file.shown, document.raw_text, longer.raw_text),
        verb="Append to",
        done="Appended to",
        is_whole=False,
        builds_on_content=False,
        notes=notes,
    )


def _overwritten(file: Located, content: Content, text: str) -> FileChange:
    try:
        old = decode(content.data)
    except UndecodableFile as error:
        n_bytes, label = len(content.data), error.encoding.label
        after = text.encode()
        shown = summary(file.shown, f"{label}, {n_bytes:,} bytes", f"text, {len(after):,} bytes")
        return _overwrite(file, content, after, shown, (f"It was {label} before.",))
    text, notes = _with_its_endings(text, old)
    encoding = old.encoding if old.is_clean else UTF_8
    if not old.is_clean:
        notes += ("It was not UTF-8 before; now it is.",)
    elif not encoding.is_utf8:
        notes += (f"It stays {encoding.label}.",)
    if encoding.bom:
        text = text.removeprefix("\ufeff")
    if old.text.endswith("\n") and not text.endswith("\n"):
        notes += ("It no longer ends in a newline.",)
    after = replace(document_of(text), encoding=encoding).encoded()
    return _overwrite(file, content, after, diff(file.shown, old.raw_text, text), notes)


def _overwrite(
    file: Located, content: Content, after: bytes, shown: FileDiff, notes: tuple[str, ...]
) -> FileChange:
    return FileChange(
        file=file,
        before=content,
        after=after,
        diff=shown,
        verb="Overwrite",
        done="Overwrote",
        is_whole=True,
        notes=notes,
    )


def _with_its_endings(text: str, document: Document) -> tuple[str, tuple[str, ...]]:
    """`text` with CRLF if that is how all lines of `document` end; and the note that says so."""
    if not document.uses_crlf or "\r" in text or "\n" not in text:
        return text, ()
    return text.replace("\n", "\r\n"), ("Its CRLF line endings were kept.",)

"""EditFile: replace exact pieces of a text file."""

import asyncio
import json
from typing import Any

from pydantic import Field, model_validator

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.change import FileChange, carry_out
from kimi_tui.tools.file.diff import diff
from kimi_tui.tools.file.document import Document, UndecodableFile, decode, require_writable
from kimi_tui.tools.file.editor import NO_EDITOR, Editor, content_of
from kimi_tui.tools.file.encoding import how_to_read
from kimi_tui.tools.file.ledger import FileLedger
from kimi_tui.tools.file.mismatch import why_not_found
from kimi_tui.tools.file.regular import Content, missing
from kimi_tui.tools.file.replacement import require_replaceable
from kimi_tui.tools.file.secrets import holds_secrets
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed
from kimi_tui.tools.workspace import Located, Workspace
from kimi_tui.wire.events import ToolReturn

_LISTED_MATCHES = 10


class Edit(ToolParams):
    """One replacement."""

    old: str = Field(description="The text to replace, exactly as the file has it, without line numbers.")
    new: str = Field(description="The text to put in its place; empty to delete.")
    replace_all: bool = Field(False, description="Replace every match; otherwise there must be exactly one.")


class EditFileParams(ToolParams):
    """What to replace."""

    path: str = Field(description="The file: relative to the work dir, or absolute.")
    edit: Edit | None = Field(None, description="One edit.")
    edits: list[Edit] = Field([], description="Several edits, made in this order; all or none are made.")

    @model_validator(mode="before")
    @classmethod
    def _accept_variants(cls, data: Any) -> Any:
        """Take a list under `edit`, and JSON text where models write it instead of JSON."""
        if not isinstance(data, dict):
            return data
        given = {key: _parsed(value) if key in ("edit", "edits") else value for key, value in data.items()}
        if isinstance(given.get("edit"), list) and not given.get("edits"):
            given["edits"] = given.pop("edit")
        return given

    @model_validator(mode="after")
    def _require_an_edit(self) -> "EditFileParams":
        if not self.all_edits:
            raise ValueError("there is neither an edit nor edits")
        return self

    @property
    def all_edits(self) -> list[Edit]:
        """The edits, in order."""
        return [*([self.edit] if self.edit else []), *self.edits]


class EditFile(Tool[EditFileParams]):
    """Edits text files, with the user's consent."""

    name = "EditFile"
    Params = EditFileParams
    changes_things = True

    def __init__(
        self, workspace: Workspace, ledger: FileLedger, approval: Approval, editor: Editor = NO_EDITOR
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._approval = approval
        self._editor = editor

    def changed_files(self, params: EditFileParams) -> tuple[str, ...]:
        """The one file."""
        return (params.path,)

    async def run(self, params: EditFileParams, call: RunningCall) -> ToolReturn:
        """Make all the edits, or none."""
        try:
            file = self._workspace.locate(params.path)
            async with self._ledger.order.of(file.real):  # before the first await: calls keep their order
                content = await content_of(file, self._editor)
                change = await asyncio.to_thread(
                    _propose, file, content, params.all_edits, may_quote=self._may_quote(file)
                )
                return await carry_out(
                    change, call, approval=self._approval, ledger=self._ledger, editor=self._editor
                )
        except FileProblem as problem:
            return failed(str(problem), brief=problem.what)

    def _may_quote(self, file: Located) -> bool:
        """Whether the model may be shown what the file holds."""
        return not holds_secrets(file) and self._approval.may_read(file.real)


def _propose(file: Located, content: Content | None, edits: list[Edit], *, may_quote: bool) -> FileChange:
    if content is None:
        raise missing(file)
    require_replaceable(file, content)
    document = _editable(file, content.data)
    edited = document
    for number, edit in enumerate(edits, 1):
        try:
            edited = _apply(edit, edited, file, may_quote=may_quote)
        except FileProblem as problem:
            which = f"Edit {number} of {len(edits)}: " if len(edits) > 1 else ""
            nothing = " None of the edits was made." if len(edits) > 1 else ""
            raise FileProblem(f"{which}{problem.what}{nothing}", hint=problem.hint) from problem
    after = edited.encoded()
    if after == content.data:
        raise FileProblem("The edits undo each other.", hint="There is nothing to change.")
    return FileChange(
        file=file,
        before=content,
        after=after,
        diff=diff(file.shown, document.raw_text, edited.raw_text),
        verb="Edit",
        done="Edited",
        is_whole=False,
    )


def _editable(file: Located, data: bytes) -> Document:
    try:
        document = decode(data)
        encoding = document.encoding
    except UndecodableFile as error:
        document, encoding = None, error.encoding
    if document is None or not encoding.is_utf8:
        raise FileProblem(
            f"{file.shown} is {encoding.label}, which can't be edited as it is.",
            hint=how_to_read(encoding, file.shown),
        )
    return document


def _apply(edit: Edit, document: Document, file: Located, *, may_quote: bool) -> Document:
    old, new = edit.old.replace("\r\n", "\n"), edit.new.replace("\r\n", "\n")
    if not old:
        raise FileProblem(
            "The old text is empty.",
            hint="Give the text beside which to insert, and repeat it in the new text.",
        )
    if old == new:
        raise FileProblem("The old and the new text are the same.", hint="There is nothing to change.")
    require_writable(new, document)
    spans = _matches(document.text, old, overlapping=not edit.replace_all)
    if not spans:
        hint = why_not_found(document.text, old, new, may_quote=may_quote)
        raise FileProblem(f"The old text is not in {file.shown}.", hint=hint)
    if len(spans) > 1 and not edit.replace_all:
        lines = [str(document.text.count("\n", 0, start) + 1) for start, _ in spans[:_LISTED_MATCHES]]
        more = " ..." if len(spans) > _LISTED_MATCHES else ""
        raise FileProblem(
            f"The old text is {len(spans)} times in {file.shown}, in the lines {', '.join(lines)}{more}.",
            hint="Add lines around it so that it is unique, or set replace_all.",
        )
    return document.replacing(spans, old, new)


def _matches(text: str, old: str, *, overlapping: bool) -> list[tuple[int, int]]:
    spans = []
    at = text.find(old)
    while at >= 0:
        spans.append((at, at + len(old)))
        at = text.find(old, at + (1 if overlapping else len(old)))
    return spans


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value

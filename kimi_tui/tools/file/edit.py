"""EditFile: replaces exact text in a file."""

import asyncio
import json
from typing import Any

from pydantic import Field, model_validator

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.atomic_replace import require_replaceable
from kimi_tui.tools.file.client_editor import NO_EDITOR, Editor, read_content
from kimi_tui.tools.file.diff import build_diff
from kimi_tui.tools.file.encoding import read_hint
from kimi_tui.tools.file.file_change import FileChange, apply_change
from kimi_tui.tools.file.match_failure import explain_no_match
from kimi_tui.tools.file.read_tracker import FileTracker
from kimi_tui.tools.file.regular_file import FileContent, file_not_found
from kimi_tui.tools.file.secret_consent import may_hold_secrets
from kimi_tui.tools.file.text_document import TextDocument, UndecodableFile, decode_document, require_writable
from kimi_tui.tools.path_scope import LocatedPath, PathScope
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure
from kimi_tui.wire.events import ToolReturn

_MAX_LISTED_MATCHES = 10


class EditParams(ToolParams):
    """One replacement."""

    old: str = Field(description="The text to replace, exactly as in the file, without line numbers.")
    new: str = Field(description="The replacement text; empty to delete.")
    replace_all: bool = Field(False, description="Replace all matches. Otherwise there must be exactly one.")


class EditFileParams(ToolParams):
    """Parameters of EditFile."""

    path: str = Field(description="The file: relative to the working directory, or absolute.")
    edit: EditParams | None = Field(None, description="One edit.")
    edits: list[EditParams] = Field([], description="Several edits, applied in order, all or none.")

    @model_validator(mode="before")
    @classmethod
    def _accept_variants(cls, data: Any) -> Any:
        """Accept a list under `edit`, and JSON text that models pass instead of JSON."""
        if not isinstance(data, dict):
            return data
        fields = {
            key: _parse_if_json(value) if key in ("edit", "edits") else value for key, value in data.items()
        }
        if isinstance(fields.get("edit"), list) and not fields.get("edits"):
            fields["edits"] = fields.pop("edit")
        return fields

    @model_validator(mode="after")
    def _require_an_edit(self) -> "EditFileParams":
        if not self.all_edits:
            raise ValueError("either edit or edits is required")
        return self

    @property
    def all_edits(self) -> list[EditParams]:
        """The edits, in order."""
        return [*([self.edit] if self.edit else []), *self.edits]


class EditFile(Tool[EditFileParams]):
    """Edits text files with the user's approval."""

    name = "EditFile"
    Params = EditFileParams
    has_side_effects = True

    def __init__(
        self, path_scope: PathScope, tracker: FileTracker, approval: Approval, editor: Editor = NO_EDITOR
    ) -> None:
        self._path_scope = path_scope
        self._tracker = tracker
        self._approval = approval
        self._editor = editor

    def target_files(self, params: EditFileParams) -> tuple[str, ...]:
        """Return the path of the file."""
        return (params.path,)

    async def run(self, params: EditFileParams, call: CallContext) -> ToolReturn:
        """Apply all edits, or none."""
        try:
            file = self._path_scope.locate_writable(params.path)
            # Locked before the first await, so that calls keep their order.
            async with self._tracker.edit_locks.lock_for(file.real):
                content = await read_content(file, self._editor)
                change = await asyncio.to_thread(
                    _plan_change, file, content, params.all_edits, may_quote=self._may_quote(file)
                )
                return await apply_change(
                    change, call, approval=self._approval, tracker=self._tracker, editor=self._editor
                )
        except FileProblem as problem:
            return failure(str(problem), brief=problem.what)

    def _may_quote(self, file: LocatedPath) -> bool:
        """Return whether the model may see the file's content."""
        return not may_hold_secrets(file) and self._approval.may_read(file.real)


def _plan_change(
    file: LocatedPath, content: FileContent | None, edits: list[EditParams], *, may_quote: bool
) -> FileChange:
    if content is None:
        raise file_not_found(file)
    require_replaceable(file, content)
    document = _decode_editable(file, content.data)
    edited = document
    for number, edit in enumerate(edits, 1):
        try:
            edited = _apply_edit(edit, edited, file, may_quote=may_quote)
        except FileProblem as problem:
            prefix = f"Edit {number} of {len(edits)}: " if len(edits) > 1 else ""
            suffix = " None of the edits was applied." if len(edits) > 1 else ""
            raise FileProblem(f"{prefix}{problem.what}{suffix}", hint=problem.hint) from problem
    after = edited.encode()
    if after == content.data:
        raise FileProblem("The edits cancel each other out.", hint="There is nothing to change.")
    return FileChange(
        file=file,
        before=content,
        after=after,
        diff=build_diff(file.display_path, document.raw_text, edited.raw_text),
        verb="Edit",
        past_verb="Edited",
        is_full_content=False,
    )


def _decode_editable(file: LocatedPath, data: bytes) -> TextDocument:
    try:
        document = decode_document(data)
        encoding = document.encoding
    except UndecodableFile as error:
        document, encoding = None, error.encoding
    if document is None or not encoding.is_utf8:
        raise FileProblem(
            f"{file.display_path} is {encoding.label}, which can't be edited directly.",
            hint=read_hint(encoding, file.display_path),
        )
    return document


def _apply_edit(
    edit: EditParams, document: TextDocument, file: LocatedPath, *, may_quote: bool
) -> TextDocument:
    old, new = edit.old.replace("\r\n", "\n"), edit.new.replace("\r\n", "\n")
    if not old:
        raise FileProblem(
            "The old text is empty.",
            hint="Give the text next to the insertion point, and repeat it in the new text.",
        )
    if old == new:
        raise FileProblem("The old and the new text are the same.", hint="There is nothing to change.")
    require_writable(new, document)
    spans = _find_matches(document.text, old, overlapping=not edit.replace_all)
    if not spans:
        hint = explain_no_match(document.text, old, new, may_quote=may_quote)
        raise FileProblem(f"The old text was not found in {file.display_path}.", hint=hint)
    if len(spans) > 1 and not edit.replace_all:
        lines = [str(document.text.count("\n", 0, start) + 1) for start, _ in spans[:_MAX_LISTED_MATCHES]]
        more = " ..." if len(spans) > _MAX_LISTED_MATCHES else ""
        raise FileProblem(
            f"The old text occurs {len(spans)} times in {file.display_path}: lines {', '.join(lines)}{more}.",
            hint="Add surrounding lines to make it unique, or set replace_all.",
        )
    return document.replace_spans(spans, old, new)


def _find_matches(text: str, old: str, *, overlapping: bool) -> list[tuple[int, int]]:
    spans = []
    at = text.find(old)
    while at >= 0:
        spans.append((at, at + len(old)))
        at = text.find(old, at + (1 if overlapping else len(old)))
    return spans


def _parse_if_json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value

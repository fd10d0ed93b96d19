"""User edits of proposed files: the editable text, and the bytes written for the edited text."""

import difflib

from kimi_tui.tools.file.diff import FileDiff, build_diff
from kimi_tui.tools.file.regular_file import FileContent
from kimi_tui.tools.file.text_document import TextDocument, UndecodableFile, decode_document, require_writable
from kimi_tui.tools.path_scope import LocatedPath
from kimi_tui.wire.requests import Proposal

MAX_CHARACTERS = 400_000
"""Longer files can only be approved or rejected, because the request would carry the full text."""
_MAX_DIFF_LINES = 400


def build_proposal(file: LocatedPath, after: bytes, before: FileContent | None) -> Proposal | None:
    """Return the full new content as text; None if it, or what it replaces, isn't editable text."""
    document = _decode_clean(after)
    if document is None or len(document.text) > MAX_CHARACTERS:
        return None
    if before is not None and _decode_clean(before.data) is None:
        return None
    return Proposal(document.text, file.real.name)


def apply_user_text(proposed: bytes, text: str) -> bytes:
    """Return `proposed` with the user's `text`, in the same encoding and line endings. Raises FileProblem."""
    document = decode_document(proposed)
    text = text.replace("\r\n", "\n")
    require_writable(text, document)
    return document.replace_spans([(0, len(document.text))], document.text, text).encode()


def diff_user_edit(file: LocatedPath, before: FileContent | None, after: bytes) -> FileDiff:
    """Return the difference between the file before and the user's version."""
    return build_diff(
        file.display_path,
        decode_document(before.data).raw_text if before else "",
        decode_document(after).raw_text,
    )


def describe_edit(file: LocatedPath, proposed: bytes, written: bytes) -> str:
    """Return the user's changes to the proposal as a unified diff for the model; empty without changes."""
    lines = list(
        difflib.unified_diff(
            decode_document(proposed).text.split("\n"),
            decode_document(written).text.split("\n"),
            f"{file.display_path} (your version)",
            f"{file.display_path} (the user's version)",
            lineterm="",
        )
    )
    if len(lines) > _MAX_DIFF_LINES:
        lines = [*lines[:_MAX_DIFF_LINES], "[… more differences: read the file …]"]
    return "\n".join(lines)


def _decode_clean(data: bytes) -> TextDocument | None:
    try:
        document = decode_document(data)
    except UndecodableFile:
        return None
    return document if document.is_clean else None

"""What a user makes of a proposed file: the text that may be edited, and the bytes that it becomes."""

import difflib

from kimi_tui.tools.file.diff import FileDiff, diff
from kimi_tui.tools.file.document import Document, UndecodableFile, decode, require_writable
from kimi_tui.tools.file.regular import Content
from kimi_tui.tools.workspace import Located
from kimi_tui.wire.requests import Proposal

MAX_CHARACTERS = 400_000
"""Longer files are approved or rejected as they are: the request would carry all of them."""
_MAX_TOLD_LINES = 400


def proposal_of(file: Located, after: bytes, before: Content | None) -> Proposal | None:
    """The whole new content as text; None when it, or what it replaces, is no text that can be edited."""
    document = _text_in(after)
    if document is None or len(document.text) > MAX_CHARACTERS:
        return None
    if before is not None and _text_in(before.data) is None:
        return None
    return Proposal(document.text, file.real.name)


def edited_bytes(proposed: bytes, text: str) -> bytes:
    """`proposed` with `text` as the user left it; encoding and line endings stay. Raises FileProblem."""
    document = decode(proposed)
    text = text.replace("\r\n", "\n")
    require_writable(text, document)
    return document.replacing([(0, len(document.text))], document.text, text).encoded()


def edited_diff(file: Located, before: Content | None, after: bytes) -> FileDiff:
    """How the file changes."""
    return diff(file.shown, decode(before.data).raw_text if before else "", decode(after).raw_text)


def told_edit(file: Located, proposed: bytes, written: bytes) -> str:
    """What the user changed in what was proposed, as a unified diff for the model; empty for nothing."""
    lines = list(
        difflib.unified_diff(
            decode(proposed).text.split("\n"),
            decode(written).text.split("\n"),
            f"{file.shown} as you proposed it",
            f"{file.shown} as the user wrote it",
            lineterm="",
        )
    )
    if len(lines) > _MAX_TOLD_LINES:
        lines = [*lines[:_MAX_TOLD_LINES], "[… more differs: read the file …]"]
    return "\n".join(lines)


def _text_in(data: bytes) -> Document | None:
    try:
        document = decode(data)
    except UndecodableFile:
        return None
    return document if document.is_clean else None

"""The user's editor, as the file tools see it: what is open there may not be on disk yet."""

import asyncio
from pathlib import Path
from typing import Protocol

from kimi_tui.base.completion import run_to_end
from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.file.document import Document, UndecodableFile, decode
from kimi_tui.tools.file.ledger import FileVersion
from kimi_tui.tools.file.regular import Content, load
from kimi_tui.tools.file.replacement import MAX_CHANGED_BYTES, replace_content, require_expected
from kimi_tui.tools.workspace import Located


class Editor(Protocol):
    """A program in which the user may have files open."""

    async def read(self, path: Path) -> str | None:
        """The text of a file as the user sees it; None when the editor can't say: the disk counts."""
        ...

    async def write(self, path: Path, text: str) -> bool:
        """Write a file. False when the editor doesn't; then nothing has changed."""
        ...


class NoEditor:
    """Files are as they are on disk."""

    async def read(self, path: Path) -> str | None:
        """Nothing: the disk counts."""
        return None

    async def write(self, path: Path, text: str) -> bool:
        """Never."""
        return False


NO_EDITOR = NoEditor()


async def content_of(file: Located, editor: Editor) -> Content | None:
    """The whole of a file as the user sees it; None when there is none. Raises FileProblem.

    It may be no larger than what is changed (`MAX_CHANGED_BYTES`).
    """
    content = await asyncio.to_thread(load, file, limit=MAX_CHANGED_BYTES)
    unsaved = await _unsaved(file, content, editor) if content is not None else None
    return Content(unsaved, content.info) if content is not None and unsaved is not None else content


async def unsaved_content(file: Located, editor: Editor) -> bytes | None:
    """What a file holds in the editor if that is not what is on disk; None when the disk counts."""
    if editor is NO_EDITOR:
        return None
    try:
        content = await asyncio.to_thread(load, file, limit=MAX_CHANGED_BYTES)
    except FileProblem:  # whoever reads the disk says what it is
        return None
    return await _unsaved(file, content, editor) if content is not None else None


async def put(
    file: Located, data: bytes, *, expected: Content | None, editor: Editor
) -> tuple[FileVersion, str]:
    """Write `data`, provided that the file is as `expected`: what it holds then, and what to know of that.

    Raises FileProblem, and then the file is as it was.
    """
    document = _document(data)
    if editor is NO_EDITOR or document is None:
        return await run_to_end(replace_content, file, data, expected=expected), ""
    require_expected(file, await content_of(file, editor), expected)
    on_disk = await asyncio.to_thread(load, file, limit=MAX_CHANGED_BYTES)
    if not await editor.write(file.real, document.encoding.bom.decode() + document.raw_text):
        if on_disk is not None and expected is not None and on_disk.data != expected.data:
            raise FileProblem(
                f"{file.shown} has changes in the user's editor that are not saved; nothing was written.",
                hint="Ask the user to save the file, then try again.",
            )
        return await run_to_end(replace_content, file, data, expected=expected), ""
    written = await asyncio.to_thread(load, file, limit=MAX_CHANGED_BYTES)
    if written is None or (on_disk is not None and written.data == on_disk.data != data):
        raise FileProblem(
            f"The user's editor took the new text of {file.shown} but has not saved it.",
            hint="Ask the user to save the file before you go on.",
        )
    if written.data != data:
        return written.version, "The user's editor changed the text as it saved it: read the file again."
    return written.version, ""


async def _unsaved(file: Located, content: Content, editor: Editor) -> bytes | None:
    document = _document(content.data)
    text = await editor.read(file.real) if document is not None else None
    if document is None or text is None:
        return None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if text == document.text:
        return None
    return document.replacing([(0, len(document.text))], document.text, text).encoded()


def _document(data: bytes) -> Document | None:
    """`data` as text that an editor can be trusted with; None when it is none."""
    try:
        document = decode(data)
    except UndecodableFile:
        return None
    return document if document.is_clean and document.encoding.is_utf8 else None

"""Files that are open in the user's editor, where they may have unsaved changes."""

import asyncio
from pathlib import Path
from typing import Protocol

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.shielding import run_in_thread_shielded
from kimi_tui.tools.file.atomic_replace import MAX_EDITABLE_BYTES, replace_content, require_expected
from kimi_tui.tools.file.read_tracker import FileVersion
from kimi_tui.tools.file.regular_file import FileContent, read_regular
from kimi_tui.tools.file.text_document import TextDocument, UndecodableFile, decode_document
from kimi_tui.tools.path_scope import LocatedPath


class Editor(Protocol):
    """A program in which the user may have files open."""

    async def read(self, path: Path) -> str | None:
        """Return a file's text as the user sees it. None if the editor doesn't have it: read the disk."""
        ...

    async def write(self, path: Path, text: str) -> bool:
        """Write a file. Return False if the editor refuses; then nothing has changed."""
        ...


class NoEditor:
    """Stands for the absence of an editor: files are as they are on disk."""

    async def read(self, path: Path) -> str | None:
        """Return None: read the file from disk."""
        return None

    async def write(self, path: Path, text: str) -> bool:
        """Return False: nothing is written."""
        return False


NO_EDITOR = NoEditor()


async def read_content(file: LocatedPath, editor: Editor) -> FileContent | None:
    """Return a file's full content as the user sees it; None if it doesn't exist.

    Raises FileProblem, for example if it is larger than MAX_EDITABLE_BYTES.
    """
    content = await asyncio.to_thread(read_regular, file, limit=MAX_EDITABLE_BYTES)
    unsaved = await _read_unsaved(file, content, editor) if content is not None else None
    return FileContent(unsaved, content.info) if content is not None and unsaved is not None else content


async def read_unsaved(file: LocatedPath, editor: Editor) -> bytes | None:
    """Return a file's content in the editor if it differs from the disk, else None."""
    if editor is NO_EDITOR:
        return None
    try:
        content = await asyncio.to_thread(read_regular, file, limit=MAX_EDITABLE_BYTES)
    except FileProblem:  # the caller's own read of the disk reports it
        return None
    return await _read_unsaved(file, content, editor) if content is not None else None


async def write_content(
    file: LocatedPath, data: bytes, *, expected: FileContent | None, editor: Editor
) -> tuple[FileVersion, str]:
    """Write `data` if the file still has the `expected` content. Return its version and a note for the model.

    Raises FileProblem, in which case the file is unchanged.
    """
    document = _decode_utf8(data)
    if editor is NO_EDITOR or document is None:
        return await run_in_thread_shielded(replace_content, file, data, expected=expected), ""
    require_expected(file, await read_content(file, editor), expected)
    on_disk = await asyncio.to_thread(read_regular, file, limit=MAX_EDITABLE_BYTES)
    if not await editor.write(file.real, document.encoding.bom.decode() + document.raw_text):
        if on_disk is not None and expected is not None and on_disk.data != expected.data:
            raise FileProblem(
                f"{file.display_path} has unsaved changes in the user's editor; nothing was written.",
                hint="Ask the user to save the file, then try again.",
            )
        return await run_in_thread_shielded(replace_content, file, data, expected=expected), ""
    written = await asyncio.to_thread(read_regular, file, limit=MAX_EDITABLE_BYTES)
    if written is None or (on_disk is not None and written.data == on_disk.data != data):
        raise FileProblem(
            f"The user's editor has the new text of {file.display_path} but has not saved it.",
            hint="Ask the user to save the file before you continue.",
        )
    if written.data != data:
        return written.version, "The user's editor changed the text when saving: read the file again."
    return written.version, ""


async def _read_unsaved(file: LocatedPath, content: FileContent, editor: Editor) -> bytes | None:
    document = _decode_utf8(content.data)
    text = await editor.read(file.real) if document is not None else None
    if document is None or text is None:
        return None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if text == document.text:
        return None
    return document.replace_spans([(0, len(document.text))], document.text, text).encode()


def _decode_utf8(data: bytes) -> TextDocument | None:
    """Return `data` as text that an editor can handle, or None."""
    try:
        document = decode_document(data)
    except UndecodableFile:
        return None
    return document if document.is_clean and document.encoding.is_utf8 else None

"""A project's instructions to its agents: AGENTS.md from the work dir up to the repository's root."""

import os
from pathlib import Path

from kimi_tui.agentspec.folder import readable
from kimi_tui.base.resolved_path import open_resolved
from kimi_tui.base.secret_paths import is_private

FILE_NAME = "AGENTS.md"
MAX_BYTES = 32 * 1024


def project_instructions(work_dir: Path) -> str:
    """The AGENTS.md files that hold for `work_dir`, each with its path, nearest first; empty without any.

    The nearest are taken first when all exceed MAX_BYTES; the one that is cut says so.
    """
    found, left = [], MAX_BYTES
    for folder in _folders(work_dir):
        file = folder / FILE_NAME
        real = Path(os.path.realpath(file))
        if is_private(real):
            found.append(
                f'<instructions path="{readable(file)}">(left out: it leads to {readable(real)},'
                " which may hold secrets; tell the user)</instructions>"
            )
            continue
        data = _beginning(real, left + 1)
        text = data[:left].decode("utf-8", "ignore" if len(data) > left else "replace").strip()
        if text:
            cut = f"\n[cut here: read {readable(file)} for the rest]" if len(data) > left else ""
            found.append(f'<instructions path="{readable(file)}">\n{text}{cut}\n</instructions>')
        left -= min(len(data), left)
        if not left:
            break
    return "\n\n".join(found)


def _folders(work_dir: Path) -> list[Path]:
    """From the work dir up to the repository's root; the work dir alone outside a repository."""
    folders = [work_dir, *work_dir.parents]
    root = next((index for index, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    return folders[: root + 1]


def _beginning(file: Path, size: int) -> bytes:
    try:
        if not file.is_file():  # a FIFO would block
            return b""
        with os.fdopen(open_resolved(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
            return stream.read(size)
    except OSError:
        return b""

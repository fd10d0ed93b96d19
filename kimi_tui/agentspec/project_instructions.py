"""A project's instructions for agents: AGENTS.md, from the working directory up to the repository's root."""

import os
from pathlib import Path

from kimi_tui.agentspec.directory_listing import printable_name
from kimi_tui.base.no_follow import open_no_follow
from kimi_tui.base.secret_paths import is_private

FILE_NAME = "AGENTS.md"
MAX_BYTES = 32 * 1024


def project_instructions(work_dir: Path) -> str:
    """Return the AGENTS.md files for `work_dir`, each with its path, nearest first; empty if none exists.

    If they exceed MAX_BYTES in total, the nearest files take precedence. A truncated file ends with a notice.
    """
    sections, remaining = [], MAX_BYTES
    for folder in _folders(work_dir):
        file = folder / FILE_NAME
        real = Path(os.path.realpath(file))
        if is_private(real):
            sections.append(
                f'<instructions path="{printable_name(file)}">(omitted: it links to {printable_name(real)},'
                " which may contain secrets; tell the user)</instructions>"
            )
            continue
        data = _read_prefix(real, remaining + 1)
        is_truncated = len(data) > remaining
        text = data[:remaining].decode("utf-8", "ignore" if is_truncated else "replace").strip()
        if text:
            notice = f"\n[truncated; read {printable_name(file)} for the rest]" if is_truncated else ""
            sections.append(f'<instructions path="{printable_name(file)}">\n{text}{notice}\n</instructions>')
        remaining -= min(len(data), remaining)
        if not remaining:
            break
    return "\n\n".join(sections)


def _folders(work_dir: Path) -> list[Path]:
    """Return the directories from the working directory up to the root of its repository.

    Outside a repository, only the working directory.
    """
    folders = [work_dir, *work_dir.parents]
    root = next((index for index, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    return folders[: root + 1]


def _read_prefix(file: Path, size: int) -> bytes:
    try:
        if not file.is_file():  # a FIFO would block
            return b""
        with os.fdopen(open_no_follow(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
            return stream.read(size)
    except OSError:
        return b""

"""Data directory of Kimi CLI: `config.toml`, `mcp.json`, `user-history/`, `sessions/`, `skills/`,
`credentials/` (tokens) and `kimi.json`.

`kimi.json` lists the working directories. As in kimi-tui, sessions and input histories are stored under the
MD5 hash of their working directory's path.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import work_dir_key
from kimi_tui.base.terminal_text import sanitize_line

_CONFIGS = ("config.toml", "config.json")
_PARTS = (*_CONFIGS, "mcp.json", "user-history", "sessions")
_KEY = re.compile(r"[0-9a-f]{32}")
_LEGACY_SESSION = re.compile(r"(?P<id>.+?)(?:_(?P<number>\d+))?\.jsonl")


@frozen
class KimiCliSession:
    """A session that can be imported."""

    id: str
    key: str
    """Directory name derived from the working directory."""
    work_dir: Path | None
    """None if `kimi.json` doesn't list it."""
    files: Mapping[str, Path]
    """Its files by their names in a kimi-tui session."""
    state: Path

    @property
    def context_file(self) -> Path:
        """The conversation."""
        return self.files["context.jsonl"]

    @property
    def updated(self) -> float:
        """Time of the last write to the conversation, in seconds since the epoch."""
        return self.context_file.stat().st_mtime

    @property
    def title(self) -> str:
        """Title, in one line; empty if it has none."""
        older = read_object(self.state.with_name("metadata.json"))
        title = read_object(self.state).get("custom_title") or older.get("title")
        return sanitize_line(title) if isinstance(title, str) and title != "Untitled" else ""

    @property
    def branches(self) -> int:
        """Number of rotated files."""
        return sum(name.startswith("context_") for name in self.files)


@frozen
class KimiCliDataDir:
    """A data directory, read on demand."""

    folder: Path

    @property
    def config(self) -> Path | None:
        """Config file, if any."""
        return next((file for name in _CONFIGS if (file := self.folder / name).is_file()), None)

    @property
    def sign_ins(self) -> tuple[str, ...]:
        """Names of signed-in accounts. Their tokens are not read."""
        folder = self.folder / "credentials"
        return tuple(sorted(file.stem for file in folder.glob("*.json"))) if folder.is_dir() else ()

    @property
    def mcp(self) -> Path | None:
        """MCP config file, if any."""
        file = self.folder / "mcp.json"
        return file if file.is_file() else None

    def input_histories(self) -> Iterator[Path]:
        """Yield the input history files, one per working directory."""
        folder = self.folder / "user-history"
        for file in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
            if _KEY.fullmatch(file.stem):
                yield file

    def sessions(self, key: str = "") -> Iterator[KimiCliSession]:
        """Yield the non-empty sessions, including those of old versions, which consist of a single file.

        With `key`, yield only the sessions of the working directory with this key.
        """
        work_dirs = self._work_dirs()
        folder = self.folder / "sessions"
        for project in sorted(folder.iterdir()) if folder.is_dir() else ():
            if not (project.is_dir() and _KEY.fullmatch(project.name)) or (key and project.name != key):
                continue
            work_dir = work_dirs.get(project.name)
            for entry in sorted(project.iterdir()):
                files = _files_of(entry) if entry.is_dir() else _legacy_files_of(entry)
                context_file = files.get("context.jsonl")
                if context_file is not None and context_file.stat().st_size and entry.stem != "index":
                    yield KimiCliSession(
                        id=entry.name if entry.is_dir() else entry.stem,
                        key=project.name,
                        work_dir=work_dir,
                        files=files,
                        state=entry / "state.json",
                    )

    def find(self, session_id: str) -> KimiCliSession | None:
        """Return a session by its id."""
        return next((session for session in self.sessions() if session.id == session_id), None)

    def _work_dirs(self) -> dict[str, Path]:
        data = read_object(self.folder / "kimi.json")
        listed = data.get("work_dirs")
        paths = (
            [one.get("path") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        )
        found = [Path(path) for path in paths if isinstance(path, str) and path]
        return {work_dir_key(path): path for path in found}


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or an empty one if the file can't be read."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def open_data_dir(path: Path) -> KimiCliDataDir:
    """Return the data directory at `path`. Raises UsageError if it isn't one."""
    folder = path.expanduser().absolute()
    if not folder.is_dir():
        raise UsageError(
            msg("{path} isn't a directory.", path=path),
            hint="Choose Kimi CLI's data directory, such as ~/.kimi.",
        )
    if not _is_data_dir(folder):
        raise UsageError(
            msg("{path} isn't a data directory of Kimi CLI.", path=path),
            hint=msg("It must contain one of {names}.", names=", ".join(_PARTS)),
        )
    return KimiCliDataDir(folder)


def default_data_dir() -> KimiCliDataDir | None:
    """Return Kimi CLI's default data directory, `~/.kimi`, if it exists."""
    folder = Path(os.path.expanduser("~")) / ".kimi"  # noqa: PTH111 (Path.home() raises an error without a home directory)
    return KimiCliDataDir(folder) if _is_data_dir(folder) else None


def _is_data_dir(folder: Path) -> bool:
    return any((folder / part).exists() for part in _PARTS)


def _files_of(folder: Path) -> dict[str, Path]:
    names = re.compile(r"context(_\d+)?\.jsonl|wire\.jsonl")
    return {file.name: file for file in folder.iterdir() if names.fullmatch(file.name) and file.is_file()}


def _legacy_files_of(file: Path) -> dict[str, Path]:
    """Return the files of the session in `ID.jsonl`; empty for any other file.

    The rotated files of such a session are `ID_1.jsonl` and so on.
    """
    own = _LEGACY_SESSION.fullmatch(file.name)
    if own is None or own["number"] or not file.is_file():
        return {}
    files = {"context.jsonl": file}
    for other in file.parent.glob("*.jsonl"):
        match = _LEGACY_SESSION.fullmatch(other.name)
        if match is not None and match["number"] and match["id"] == own["id"]:
            files[f"context_{match['number']}.jsonl"] = other
    return files

"""A share dir of Kimi CLI: `config.toml`, `mcp.json`, `user-history/`, `sessions/`, `skills/`,
`credentials/` (tokens) and `kimi.json`.

`kimi.json` names the work dirs; sessions and input history are kept under the MD5 of their paths,
as ours are.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import UsageError
from kimi_tui.base.paths import work_dir_key

_CONFIGS = ("config.toml", "config.json")
_PARTS = (*_CONFIGS, "mcp.json", "user-history", "sessions")
_KEY = re.compile(r"[0-9a-f]{32}")
_OLD_SESSION = re.compile(r"(?P<id>.+?)(?:_(?P<number>\d+))?\.jsonl")


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A conversation that can be brought over."""

    id: str
    key: str
    """The name of the folder of its work dir."""
    work_dir: Path | None
    """None when nothing says so any more."""
    files: Mapping[str, Path]
    """What it consists of, by the names that the files have in a session of ours."""
    state: Path

    @property
    def branches(self) -> int:
        """How many rotations it has."""
        return sum(name.startswith("context_") for name in self.files)


@dataclass(frozen=True, slots=True)
class KimiCliShare:
    """The share dir, nothing of it read yet."""

    folder: Path

    @property
    def config(self) -> Path | None:
        """Its config file."""
        return next((file for name in _CONFIGS if (file := self.folder / name).is_file()), None)

    @property
    def sign_ins(self) -> tuple[str, ...]:
        """The accounts that it is signed in to, by name; their tokens are not looked at."""
        folder = self.folder / "credentials"
        return tuple(sorted(file.stem for file in folder.glob("*.json"))) if folder.is_dir() else ()

    @property
    def mcp(self) -> Path | None:
        """Its MCP servers."""
        file = self.folder / "mcp.json"
        return file if file.is_file() else None

    def input_histories(self) -> Iterator[Path]:
        """A file a work dir."""
        folder = self.folder / "user-history"
        for file in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
            if _KEY.fullmatch(file.stem):
                yield file

    def sessions(self) -> Iterator[FoundSession]:
        """The sessions on this machine in which something was said; an old version's is a file."""
        work_dirs = self._work_dirs()
        folder = self.folder / "sessions"
        for project in sorted(folder.iterdir()) if folder.is_dir() else ():
            if not (project.is_dir() and _KEY.fullmatch(project.name)):
                continue
            where = work_dirs.get(project.name)
            for entry in sorted(project.iterdir()):
                files = _files_of(entry) if entry.is_dir() else _old_files_of(entry)
                live = files.get("context.jsonl")
                if live is not None and live.stat().st_size:
                    yield FoundSession(
                        id=entry.name if entry.is_dir() else entry.stem,
                        key=project.name,
                        work_dir=where,
                        files=files,
                        state=entry / "state.json",
                    )

    def _work_dirs(self) -> dict[str, Path]:
        data = read_object(self.folder / "kimi.json")
        listed = data.get("work_dirs")
        paths = (
            [one.get("path") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        )
        found = [Path(path) for path in paths if isinstance(path, str) and path]
        return {work_dir_key(path): path for path in found}


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty when there is none that can be read."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def share_at(path: Path) -> KimiCliShare:
    """The share dir at `path`. Raises UsageError when it is none."""
    folder = path.expanduser().absolute()
    if not folder.is_dir():
        raise UsageError(f"{path} is no folder.", hint="Name the share folder of Kimi CLI, such as ~/.kimi.")
    if not _is_share(folder):
        raise UsageError(
            f"{path} holds neither config nor sessions of Kimi CLI.",
            hint=f"A folder with one of {', '.join(_PARTS)} in it is meant.",
        )
    return KimiCliShare(folder)


def usual_share() -> KimiCliShare | None:
    """The share dir where Kimi CLI keeps it, `~/.kimi`, when there is one."""
    folder = Path(os.path.expanduser("~")) / ".kimi"  # noqa: PTH111 (no error where there is no home)
    return KimiCliShare(folder) if _is_share(folder) else None


def _is_share(folder: Path) -> bool:
    return any((folder / part).exists() for part in _PARTS)


def _files_of(folder: Path) -> dict[str, Path]:
    names = re.compile(r"context(_\d+)?\.jsonl|wire\.jsonl")
    return {file.name: file for file in folder.iterdir() if names.fullmatch(file.name) and file.is_file()}


def _old_files_of(file: Path) -> dict[str, Path]:
    """Of `ID.jsonl`, beside which its rotations are `ID_1.jsonl`; of anything else nothing."""
    own = _OLD_SESSION.fullmatch(file.name)
    if own is None or own["number"] or not file.is_file():
        return {}
    files = {"context.jsonl": file}
    for other in file.parent.glob("*.jsonl"):
        match = _OLD_SESSION.fullmatch(other.name)
        if match is not None and match["number"] and match["id"] == own["id"]:
            files[f"context_{match['number']}.jsonl"] = other
    return files

"""The user's decisions about the files of projects that configure kimi-tui.

A decision is stored with a digest of the content, so a changed file needs a new one.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.config.config_source import read_config_text
from kimi_tui.config.project_files import ProjectFile, find_project_files

TrustStatus = Literal["trusted", "new", "changed", "declined"]
"""A file is `changed` if its content isn't the one that the user decided about."""
_DECLINED = "declined:"
_MAX_AGENT_FILES = 1000


@frozen
class ReviewedFile:
    """A file of a project with the user's decision about it."""

    file: ProjectFile
    status: TrustStatus


class ProjectTrust:
    """Decisions about projects' files, stored in `trusted.json` in the data directory.

    The file maps a path to the SHA-256 of the trusted content, or to `declined:` and that of the content
    that the user doesn't trust.
    """

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._file = data_dir / "trusted.json"

    def is_trusted(self, path: Path, text: str) -> bool:
        """Return whether the user trusts this content at this path."""
        return self._read().get(str(path)) == _digest(text.encode())

    def trust(self, path: Path, text: str) -> None:
        """Store that the user trusts this content. Raises OSError."""
        self._write({**self._read(), str(path): _digest(text.encode())})

    def review(
        self, work_dir: Path, *, home: Path | None = None, extra_skill_dirs: Iterable[str] = ()
    ) -> tuple[ReviewedFile, ...]:
        """Return the files of the project at `work_dir` with the decisions about them."""
        files = find_project_files(
            work_dir, data_dir=self._data_dir, home=home or Path.home(), extra_skill_dirs=extra_skill_dirs
        )
        decisions = self._read() if files else {}
        return tuple(ReviewedFile(file, _status(file, decisions.get(str(file.path)))) for file in files)

    def decide(self, files: Iterable[ProjectFile], *, trusted: bool) -> None:
        """Store whether the user trusts the current content of `files`. Raises OSError."""
        prefix = "" if trusted else _DECLINED
        digests = ((str(file.path), _digest_file(file)) for file in files)
        decided = {path: prefix + digest for path, digest in digests if digest is not None}
        self._write({**self._read(), **decided})

    def forget(self, work_dir: Path) -> int:
        """Remove the decisions about files in `work_dir`. Return how many there were. Raises OSError."""
        decisions = self._read()
        kept = {path: it for path, it in decisions.items() if not Path(path).is_relative_to(work_dir)}
        if len(kept) < len(decisions):
            self._write(kept)
        return len(decisions) - len(kept)

    def _read(self) -> dict[str, Any]:
        import json  # on demand, like hashlib, to keep startup fast

        try:
            data = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def _write(self, decisions: dict[str, Any]) -> None:
        import json

        write_private_atomic(self._file, json.dumps(decisions, indent=1))


def untrusted_paths(reviewed: Iterable[ReviewedFile]) -> frozenset[Path]:
    """Return the paths of the files that must not be used."""
    return frozenset(each.file.path for each in reviewed if each.status != "trusted")


def _status(file: ProjectFile, decision: Any) -> TrustStatus:
    if not isinstance(decision, str):
        return "new"
    digest = _digest_file(file)
    if digest is None or decision.removeprefix(_DECLINED) != digest:
        return "changed"
    return "declined" if decision.startswith(_DECLINED) else "trusted"


def _digest_file(file: ProjectFile) -> str | None:
    """Return the digest of a file, or of all files of an agent; None if it can't be read."""
    try:
        match file.kind:
            case "settings" | "mcp":  # of the text, as `is_trusted` compares it
                return _digest(read_config_text(file.path).encode())
            case "agent":
                names = (f"{each.relative_to(file.path)}\0{_hash(each)}" for each in _files_of(file.path))
                return _digest("\n".join(names).encode())
            case "command" | "skill":
                return _hash(file.path)
    except (OSError, ConfigError):
        return None


def _files_of(folder: Path) -> Iterator[Path]:
    count = 0
    for dir_path, subfolders, files in os.walk(folder):
        subfolders.sort()
        for name in sorted(files):
            if (path := Path(dir_path, name)).is_file():
                count += 1
                if count > _MAX_AGENT_FILES:
                    raise OSError(f"{folder} has too many files")
                yield path


def _hash(path: Path) -> str:
    return _digest(path.read_bytes())


def _digest(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()

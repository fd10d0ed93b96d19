"""Records on disk of open workspaces: a killed process leaves one, and the next start finds it."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_uid
from kimi_tui.base.paths import make_private_dir
from kimi_tui.base.process_groups import is_other_process_alive, process_mark
from kimi_tui.history.snapshots.attribution import ChangeAuthor

_RECORD = "record.json"
_PROCESS = "process"


@frozen(kw_only=True)
class WorkspaceOwner:
    """The purpose of an open workspace."""

    author: ChangeAuthor
    """The tool call whose command runs in it."""
    is_allowed: bool = True
    """Whether its effects may be committed without asking: the command was allowed before it ran."""
    is_sandboxed: bool = False
    """Whether files that make git run programs later are never committed."""

    @classmethod
    def nobody(cls) -> "WorkspaceOwner":
        """Return the owner of a workspace in which nothing runs."""
        return cls(author=ChangeAuthor(), is_allowed=False)


@frozen(kw_only=True)
class OpenRecord:
    """Record of one open workspace."""

    folder: Path
    """Directory of the record."""
    owner: WorkspaceOwner
    layer: dict[str, Any]
    """Description of the layer, for the backend that wrote it."""


class OpenRecords:
    """The records of one data directory, each a directory that contains `record.json`. The methods block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create_folder(self) -> Path:
        """Create the directory for a new record, with a mark of this process. Raises OSError."""
        folder = self._folder / new_uid()
        temporary = make_private_dir(folder.with_name(f".{folder.name}"))
        (temporary / _PROCESS).write_text(process_mark(), "ascii")
        temporary.replace(folder)
        return folder

    def write(self, record: OpenRecord) -> None:
        """Write a record. It survives a kill, not a power failure. Raises OSError."""
        owner = {name: value for name, value in asdict(record.owner.author).items() if value}
        fields = {
            "process": process_mark(),
            "author": owner,
            "is_allowed": record.owner.is_allowed,
            "is_sandboxed": record.owner.is_sandboxed,
            "layer": record.layer,
        }
        temporary = record.folder / f".{_RECORD}"
        temporary.write_text(json.dumps(fields), "ascii")
        temporary.replace(record.folder / _RECORD)

    def forget(self, folder: Path) -> None:
        """Remove the record in `folder`: the workspace has no effects left to commit."""
        (folder / _RECORD).unlink(missing_ok=True)

    def empty_folder(self, folder: Path) -> None:
        """Remove the record and the journal in `folder`, to use it again. Raises OSError."""
        for file in folder.iterdir():
            if file.name != _PROCESS:
                file.unlink()

    def remove_folder(self, folder: Path) -> None:
        """Remove the directory of a record and its contents."""
        shutil.rmtree(folder, ignore_errors=True)

    def unused_folders(self) -> list[Path]:
        """Return the directories of killed processes that have no record: nothing in them is needed."""
        unused = []
        for folder in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
            try:
                mark = (folder / _PROCESS).read_text("ascii")
            except (OSError, ValueError):
                continue
            is_own = mark == process_mark() or is_other_process_alive(mark)
            if not is_own and not (folder / _RECORD).exists():
                unused.append(folder)
        return unused

    def left_by_killed_processes(self) -> list[OpenRecord]:
        """Return the records of processes that no longer run, oldest first."""
        left = []
        for folder in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
            try:
                fields: dict[str, Any] = json.loads((folder / _RECORD).read_bytes())
                process = str(fields["process"])
                owner = WorkspaceOwner(
                    author=ChangeAuthor(**fields["author"]),
                    is_allowed=fields["is_allowed"] is True,
                    is_sandboxed=fields.get("is_sandboxed") is not False,
                )
                record = OpenRecord(folder=folder, owner=owner, layer=dict(fields["layer"]))
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if not is_other_process_alive(process) and process != process_mark():
                left.append(record)
        return left

"""Sources of tasks: fills the fresh working directory of an attempt."""

import fcntl
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.fleet.fleet_task import BundleSource, FleetTask, FolderSource, GitSource

_CLONE_TIMEOUT_S = 1800
_SPARED = ("__pycache__",)


class SourceMissing(KimiTuiError):
    """The source of a task doesn't exist or can't be read."""


def prepare_work_dir(
    task: FleetTask, work_dir: Path, *, cache_dir: Path, archive: bytes | None
) -> Path | None:
    """Fill `work_dir` with the task's source. Return the bundle to import into it, if the source is one.

    `archive`: what `pack_source` returned, on the machine that has the source. Raises SourceMissing, OSError.
    """
    match task.source:
        case None:
            return None
        case FolderSource(folder=folder):
            if archive is not None:
                _unpack_archive(archive, work_dir)
            else:
                _copy_folder(Path(folder), work_dir)
            return None
        case GitSource(git=url, commit=commit):
            _clone(url, commit, work_dir, cache_dir)
            return None
        case BundleSource(bundle=bundle):
            if archive is None:
                return _require(Path(bundle), is_dir=False)
            path = work_dir.with_name("source.zip")
            path.write_bytes(archive)
            return path


def pack_source(task: FleetTask) -> bytes | None:
    """Return what another machine needs to prepare the task; None if that has to fetch it itself.

    Raises SourceMissing, OSError.
    """
    match task.source:
        case FolderSource(folder=folder):
            path = _require(Path(folder), is_dir=True)
            buffer = io.BytesIO()
            with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
                archive.add(
                    path,
                    arcname=".",
                    filter=lambda member: None if Path(member.name).name in _SPARED else member,
                )
            return buffer.getvalue()
        case BundleSource(bundle=bundle):
            return _require(Path(bundle), is_dir=False).read_bytes()
        case GitSource() | None:
            return None


def _copy_folder(folder: Path, work_dir: Path) -> None:
    _require(folder, is_dir=True)
    try:
        shutil.copytree(
            folder, work_dir, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*_SPARED)
        )
    except shutil.Error as error:  # it collects the errors of all files
        first = error.args[0][0]
        raise OSError(f"{first[0]}: {first[2]}") from error


def _unpack_archive(archive: bytes, work_dir: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as members:
        members.extractall(work_dir, filter="tar")


def _clone(url: str, commit: str, work_dir: Path, cache_dir: Path) -> None:
    """Clone a repository from a mirror that the tasks of this machine share."""
    mirror = cache_dir / f"{hashlib.sha256(url.encode()).hexdigest()[:24]}.git"
    with _exclusive(mirror.with_suffix(".lock")):
        if not mirror.exists():
            temporary = mirror.with_suffix(".new")
            shutil.rmtree(temporary, ignore_errors=True)
            _git("clone", "--quiet", "--mirror", "--", url, str(temporary), what=url)
            temporary.rename(mirror)
        elif not _has_commit(mirror, commit):
            _git("--git-dir", str(mirror), "fetch", "--quiet", "--prune", what=url)
    _git("clone", "--quiet", "--no-checkout", "--", str(mirror), str(work_dir), what=url)
    _git("-C", str(work_dir), "remote", "set-url", "origin", url, what=url)
    revision = commit if _has_commit(work_dir, commit) else f"origin/{commit}"
    _git("-C", str(work_dir), "checkout", "--quiet", "--detach", revision, "--", what=f"{url} at {commit}")


def _has_commit(repository: Path, commit: str) -> bool:
    command = ["git", "-C", str(repository), "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _git(*arguments: str, what: str) -> None:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}
    try:
        subprocess.run(
            ["git", *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_CLONE_TIMEOUT_S,
            check=True,
        )
    except FileNotFoundError as error:
        raise SourceMissing("Cloning needs git, which isn't installed.", hint="Install git.") from error
    except subprocess.TimeoutExpired as error:
        raise SourceMissing(
            msg("Cloning {source} took too long.", source=what), hint="Check the network."
        ) from error
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines() or ["git failed"]
        raise SourceMissing(
            msg("Can't clone {source}: {reason}.", source=what, reason=lines[-1].rstrip(".")),
            hint="Check the URL and the commit.",
        ) from error


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _require(path: Path, *, is_dir: bool) -> Path:
    if not (path.is_dir() if is_dir else path.is_file()):
        raise SourceMissing(
            msg("The source {path} doesn't exist.", path=path), hint="Check the path in the task."
        )
    return path

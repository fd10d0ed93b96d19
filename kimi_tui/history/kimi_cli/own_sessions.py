"""Sessions that version 0.1 of kimi-tui stored in Kimi CLI's sessions directory.

Kimi CLI can't read these sessions. If both programs use one data directory, even kimi-tui's index looks like
a session to Kimi CLI.
"""

import contextlib
import logging
from pathlib import Path

from kimi_tui.base.paths import make_private_dir
from kimi_tui.history.kimi_cli.data_dir import KimiCliDataDir, read_object
from kimi_tui.history.session_lock import SessionLock

logger = logging.getLogger(__name__)

_INDEX = "index.jsonl"
_OWN_STATE_KEYS = frozenset({"grants", "undos", "updated"})
_HEAD_BYTES = 200_000


def move_own_sessions(kimi_cli_dir: KimiCliDataDir, target: Path) -> None:
    """Move the sessions written by kimi-tui to `target`. Kimi CLI's sessions stay where they are.

    Sessions in use stay until a later call. Errors are logged: a session that wasn't moved can be read.
    """
    folder = kimi_cli_dir.folder / "sessions"
    for index in folder.glob(f"*/{_INDEX}") if folder.is_dir() else ():
        try:
            _move_project(index.parent, target / index.parent.name)
        except OSError:
            logger.warning("can't move the sessions in %s", index.parent)


def _move_project(project: Path, target: Path) -> None:
    in_use = False
    for folder in list(project.iterdir()):
        if not is_own_session(folder):
            continue
        if SessionLock(project / "locks" / folder.name).is_held():
            in_use = True
        elif not (target / folder.name).exists():
            make_private_dir(target)
            folder.rename(target / folder.name)
    if in_use:
        return
    (project / _INDEX).unlink()
    with contextlib.suppress(OSError):  # not empty
        (project / "locks").rmdir()
        project.rmdir()


def is_own_session(folder: Path) -> bool:
    """Return whether kimi-tui wrote the session in a directory."""
    if not folder.is_dir() or folder.name.startswith("."):
        return False
    if _OWN_STATE_KEYS & read_object(folder / "state.json").keys():
        return True
    try:
        with (folder / "context.jsonl").open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    return b'"uid":' in head or head.startswith(b'{"role":"_system_prompt"')

"""Recognizes commands that failed only since they ran in a view, by their output."""

from collections import Counter
from collections.abc import Sequence

from kimi_tui.base.message_text import msg
from kimi_tui.workspaces.effects import PathEffect

_RENAME_ERRORS = ("Invalid cross-device link", "EXDEV", "Errno 18]", "os error 18")
_ROOT_ERRORS = ("Device or resource busy", "EBUSY", "Errno 16]", "os error 16")
_LINK_ERRORS = ("hardlink different from source",)
"""Errors of `git clone`: a file gets another inode number when it is linked."""
_OWNER_ERRORS = ("Value too large for defined data type", "EOVERFLOW", "Errno 75]", "os error 75")


def find_direct_reason(output: str) -> str:
    """Return why a command with this output has to run directly; empty if it needn't."""
    if any(error in output for error in _RENAME_ERRORS):
        return msg("it renames a directory, which isn't possible in a workspace here")
    if any(error in output for error in _OWNER_ERRORS):
        return msg("it changes files of another owner, which isn't possible in a workspace here")
    if any(error in output for error in _ROOT_ERRORS):
        return msg("it renames or removes the working directory, which isn't possible in a workspace")
    if any(error in output for error in _LINK_ERRORS):
        return msg("it changes a file with hard links, which isn't possible in a workspace here")
    return ""


def find_split_links(effects: Sequence[PathEffect]) -> str:
    """Return why effects in a user namespace need a direct run; empty if they don't.

    There, a file with several names that is changed becomes a file of its own, and nothing tells that from a
    new file that replaced it.
    """
    several = [effect for effect in effects if effect.before is not None and effect.before.n_links > 1]
    removed = {
        (effect.before.size, effect.before.mtime_ns)
        for effect in several
        if effect.before is not None and effect.before.is_file
    }
    is_changed = any(
        effect.after is not None and effect.before is not None and effect.before.is_file for effect in several
    )
    is_moved = any(
        effect.after is not None
        and effect.after.is_file
        and not effect.is_in_place
        and (effect.after.size, effect.after.mtime_ns) in removed
        for effect in effects
    )
    if is_changed or is_moved or _has_unknown_names(effects):
        return msg("it changes a file with hard links, which isn't possible in a workspace here")
    return ""


def _has_unknown_names(effects: Sequence[PathEffect]) -> bool:
    """Return whether a file has hard links that aren't effects: the command linked an existing file."""
    names: Counter[tuple[int, int]] = Counter()
    n_links: dict[tuple[int, int], int] = {}
    for effect in effects:
        if (after := effect.after) is not None and not after.is_folder:
            file = (after.device, after.inode)
            names[file] += 1
            n_links[file] = after.n_links - bool(effect.link_to)
    return any(names[file] < n_links[file] for file in names)

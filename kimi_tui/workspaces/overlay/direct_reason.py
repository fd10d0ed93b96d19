"""Recognizes commands that failed only since they ran in a view, by their output."""

import stat
from collections.abc import Sequence

from kimi_tui.base.message_text import msg
from kimi_tui.workspaces.effects import PathEffect

_RENAME_ERRORS = ("Invalid cross-device link", "EXDEV", "Errno 18]", "os error 18")
_OWNER_ERRORS = ("Value too large for defined data type", "EOVERFLOW", "Errno 75]", "os error 75")


def find_direct_reason(output: str) -> str:
    """Return why a command with this output has to run directly; empty if it needn't."""
    if any(error in output for error in _RENAME_ERRORS):
        return msg("it renames a directory, which isn't possible in a private view here")
    if any(error in output for error in _OWNER_ERRORS):
        return msg("it changes files of another owner, which isn't possible in a private view here")
    return ""


def find_split_links(effects: Sequence[PathEffect]) -> str:
    """Return why effects in a user namespace need a direct run; empty if they don't.

    There, a file with several names that is changed becomes a file of its own, and nothing tells that from a
    new file that replaced it.
    """
    several = [effect for effect in effects if effect.before is not None and effect.before.n_links > 1]
    replaced = [effect for effect in several if effect.kind == "write" and not effect.is_in_place]
    removed = {
        (effect.before.size, effect.before.mtime_ns)
        for effect in several
        if effect.before is not None and stat.S_ISREG(effect.before.mode)
    }
    moved = (
        effect
        for effect in effects
        if effect.after is not None and effect.after.is_file and not effect.is_in_place
        and (effect.after.size, effect.after.mtime_ns) in removed
    )  # fmt: skip
    if any(effect.before is not None and effect.before.is_file for effect in replaced) or any(moved):
        return msg("it changes a file with several names, which isn't possible in a private view here")
    return ""

"""Read access of commands that run before they are allowed: only what they need."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kimi_tui.permission.file_bounds import toolchain_folders
from kimi_tui.workspaces.sandbox.policy import Access, SandboxPolicy, sort_by_depth

_VISIBLE_AT_ROOT = frozenset(
    {
        "bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc", "run", "sbin", "snap",
        "sys", "tmp", "usr", "var",
    }
)  # fmt: skip
"""System directories. Everything else in `/` belongs to users, or is mounted by them."""
_VISIBLE_IN_VAR = frozenset({"cache", "lib", "lock", "run", "tmp"})
_VISIBLE_IN_HOME = (
    ".gitconfig", ".gitignore", ".gitignore_global", ".config/git", ".config/ruff", ".config/pycodestyle",
    ".config/flake8", ".config/yamllint", ".config/rustfmt", ".cargo/config.toml", ".pylintrc", ".ripgreprc",
)  # fmt: skip
"""Settings of tools, without credentials."""
_PROGRAM_FOLDERS = frozenset({"bin", "sbin", "shims"})


def restrict_reads(policy: SandboxPolicy, *, home: Path, program_path: str) -> SandboxPolicy:
    """Return the policy with everything empty that a command isn't allowed to read without a question.

    The system's directories, toolchains, the programs on `program_path` (as in `PATH`) and settings of git
    remain readable, and what the policy itself names. Blocks.
    """
    home = Path(os.path.realpath(home))
    access: dict[Path, Access] = dict.fromkeys(_entries(Path("/"), _VISIBLE_AT_ROOT), "hidden")
    access |= dict.fromkeys(_entries(Path("/var"), _VISIBLE_IN_VAR), "hidden")
    if not any(_is_writable(root, policy) for root in (home, *home.parents)):
        access[home] = "hidden"
    tools = (
        *(path for path in toolchain_folders(home) if path != Path("/")),
        *_program_folders(program_path, home),
        *(home / name for name in _VISIBLE_IN_HOME),
    )
    for path in (Path(os.path.realpath(each)) for each in tools if each.exists()):
        if not _is_visible(path) and not any(_is_writable(each, policy) for each in (path, *path.parents)):
            access[path] = "read"
    return replace(policy, access=sort_by_depth({**access, **policy.access}))


def _entries(folder: Path, visible: frozenset[str]) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [
                Path(entry.path) for entry in entries if entry.name not in visible and not entry.is_symlink()
            ]
    except OSError:
        return []


def _is_writable(path: Path, policy: SandboxPolicy) -> bool:
    return policy.access.get(path) == "write"


def _is_visible(path: Path) -> bool:
    """Return whether `path` is in a system directory."""
    top = path.parts[1] if len(path.parts) > 1 else ""
    return top in _VISIBLE_AT_ROOT and top not in ("tmp", "run") and path.parts[:2] != ("/", "var")


def _program_folders(program_path: str, home: Path) -> Iterable[Path]:
    """Return the directories with the programs of `program_path` and what belongs to them."""
    for name in program_path.split(os.pathsep):
        folder = Path(os.path.realpath(name))
        if not name.startswith("/") or folder == home or home.is_relative_to(folder):
            continue
        parent = folder.parent
        is_shared = parent == Path("/") or home.is_relative_to(parent) or parent.name.startswith(".local")
        yield parent if folder.name in _PROGRAM_FOLDERS and not is_shared else folder

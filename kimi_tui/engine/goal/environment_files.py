"""Identities of files that affect a check and that checkpoints don't cover."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kimi_tui.engine.goal.protected_files import (
    CACHES,
    ENVIRONMENT_FOLDERS,
    ProtectedFiles,
    is_settings_file,
)

FileIdentity = tuple[int, ...]
_USER_FILES = (
    ".bazelrc",
    ".bundle/config",
    ".bunfig.toml",
    ".cargo/config",
    ".cargo/config.toml",
    ".config/go/env",
    ".config/mypy/config",
    ".config/nextest.toml",
    ".config/pip/pip.conf",
    ".config/rspec/options",
    ".config/ruff/*.toml",
    ".config/uv/uv.toml",
    ".flake8",
    ".gradle/gradle.properties",
    ".gradle/init.*",
    ".gradle/init.d/*",
    ".local/lib/python3*/site-packages/*",
    ".local/lib/python3*/site-packages/*/entry_points.txt",
    ".m2/settings.xml",
    ".mavenrc",
    ".mypy.ini",
    ".npmrc",
    ".proverc",
    ".pylintrc",
    ".rspec",
    ".yarnrc*",
    "Library/Application Support/go/env",
)
"""Files in the home directory that affect every program of a kind."""
_SETTINGS_FOLDERS = (".cargo", ".config", ".mvn")
"""Names of settings directories in parent directories. Their settings apply to the working directory."""
_CODE = frozenset((".cjs", ".cts", ".js", ".jsx", ".mjs", ".mts", ".php", ".pl", ".rb", ".sh", ".ts", ".tsx"))
_OUTPUT_FOLDERS = frozenset((".next", "build", "coverage", "dist", "htmlcov", "out", "target"))
"""Directories to which programs write code."""
_PACKAGES = re.compile(r"/(?:site|dist)-packages/([^/.]+)")


def find_environment_files(
    work_dir: Path, protected: ProtectedFiles, *, home: Path | None = None
) -> Mapping[str, FileIdentity]:
    """Return the identities of files that may decide how a check runs, by name. Blocks.

    These are protected files and code in the working directory, protected files above it, programs on the
    PATH with their packages, and the user's settings files.
    An identity changes with the file's content. It includes the ctime, because programs can't set it.
    """
    home = home or Path.home()
    found = dict(_files_below(str(work_dir), protected))
    programs = {name: path for name in sorted(protected.programs) if (path := shutil.which(name)) is not None}
    for name, path in programs.items():
        found[f"{name}: {path}"] = _identity_of(os.path.realpath(path))
    outside = [
        home / name.removeprefix("~/") if name[:2] == "~/" else work_dir / name for name in protected.outside
    ]
    files = [file for pattern in _USER_FILES for file in home.glob(pattern)]
    folders = [
        *_package_folders(programs.values()),
        *(parent / "node_modules" for parent in work_dir.parents),
    ]
    for file in (*files, *outside, *_settings_above(work_dir)):
        found[str(file)] = _identity_of(str(file))
    for folder in folders:
        if not folder.is_relative_to(work_dir) and os.access(folder, os.W_OK):
            found.update(_all_files_below(str(folder)))
    return found


def is_code(path: str) -> bool:
    """Return whether a file in the working directory has code that other files may load."""
    folders, _, name = path.rpartition("/")
    suffix = name[name.rfind(".") :]
    return suffix == ".py" or (suffix in _CODE and _OUTPUT_FOLDERS.isdisjoint(folders.split("/")))


def installed_modules(names: Iterable[str]) -> set[str]:
    """Return the top-level modules among the names of environment files."""
    return {match[1].lower() for name in names if (match := _PACKAGES.search(name)) is not None}


def changed_files(before: Mapping[str, FileIdentity], after: Mapping[str, FileIdentity]) -> list[str]:
    """Return the names of files that were changed, created or removed, sorted."""
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def _files_below(root: str, protected: ProtectedFiles) -> Iterator[tuple[str, FileIdentity]]:
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name not in CACHES]
        prefix = folder[len(root) :].lstrip("/")
        is_environment = not ENVIRONMENT_FOLDERS.isdisjoint(prefix.split("/"))
        links = [name for name in names if Path(folder, name).is_symlink()]
        for name in (*files, *links):
            path = f"{prefix}/{name}" if prefix else name
            if is_environment or protected.is_protected(path) or is_code(path):
                yield path, _identity_of(f"{folder}/{name}")


def _all_files_below(root: str) -> Iterator[tuple[str, FileIdentity]]:
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name not in CACHES]
        for name in files:
            path = f"{folder}/{name}"
            yield path, _identity_of(path)


def _settings_above(work_dir: Path) -> Iterator[Path]:
    """Yield the settings files in parent directories that apply to `work_dir`."""
    for parent in work_dir.parents:
        for folder in (parent, *(parent / name for name in _SETTINGS_FOLDERS)):
            try:
                names = os.listdir(folder)  # noqa: PTH208 - most folders have many other files
            except OSError:
                continue
            is_parent = folder == parent
            yield from (folder / name for name in names if is_settings_file(name) or not is_parent)


def _package_folders(programs: Iterable[str]) -> Iterator[Path]:
    """Yield the directories with the packages of programs, such as a virtual environment elsewhere."""
    prefixes = {
        Path(path).parent.parent for program in programs for path in (program, os.path.realpath(program))
    }
    for prefix in sorted(prefixes):
        for pattern in ("lib/python3*", "lib64/python3*", "local/lib/python3*", "lib/node_modules"):
            yield from (folder for folder in prefix.glob(pattern) if not folder.is_symlink())


def _identity_of(path: str) -> FileIdentity:
    try:
        info = os.lstat(path)
    except OSError:
        return ()
    return info.st_dev, info.st_ino, info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns

"""Bounds of the files that a session reads without asking."""

import os
import sys
from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.permission.bash.simple_command import Word
from kimi_tui.permission.named_files import expand_files, is_find_placeholder
from kimi_tui.permission.path_pattern import matches_path
from kimi_tui.permission.writable_roots import WorkingDir, WritableRoots

_SYSTEM_FOLDERS = (
    "/Applications", "/Library", "/System", "/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/nix/store",
    "/opt", "/proc", "/sbin", "/sys", "/usr",
)  # fmt: skip
_TOOLCHAIN_FOLDERS = (
    ".asdf", ".bun", ".cabal", ".cargo/registry", ".cargo/git", ".conda", ".deno", ".dotnet", ".elan", ".fnm",
    ".ghcup", ".gradle/wrapper", ".jenv", ".julia", ".local/lib", ".local/pipx", ".local/share/fnm",
    ".local/share/mise", ".local/share/pipx", ".local/share/pnpm", ".local/share/uv",
    ".local/share/virtualenvs", ".m2/repository", ".nodenv", ".npm/_npx", ".nuget/packages", ".nvm", ".opam",
    ".pixi", ".pyenv", ".rbenv", ".rustup", ".sdkman", ".stack", ".virtualenvs", ".volta", "anaconda3",
    "go/pkg", "mambaforge", "miniconda3", "miniforge3",
)  # fmt: skip
"""Folders in the home directory with compilers, interpreters and packages."""


@frozen
class FileBounds:
    """The working directory, the added ones, system folders, toolchains, and what rules allow to read."""

    writable_roots: WritableRoots
    readable_dirs: tuple[Path, ...] = ()
    """Further directories, with links resolved."""
    read_patterns: tuple[str, ...] = ()
    """Patterns of further files that a rule allows to read."""

    def contains(self, path: Path) -> bool:
        """Return whether `path` (absolute, links resolved) is in the bounds."""
        return (
            self.writable_roots.contains(path)
            or any(path.is_relative_to(folder) for folder in (*shared_folders(), *self.readable_dirs))
            or any(
                matches_path(pattern, path, self.writable_roots.work_dir) for pattern in self.read_patterns
            )
        )

    def contain_words(self, words: Iterable[Word], folders: Collection[WorkingDir]) -> bool:
        """Return whether all files that `words` name, in one of `folders`, are known to be in the bounds."""
        return all(is_find_placeholder(word) or self._contain_word(word, folders) for word in words)

    def _contain_word(self, word: Word, folders: Collection[WorkingDir]) -> bool:
        files = expand_files(word, folders)
        return files is not None and all(self._contain_file(path) for path in files)

    def _contain_file(self, path: Path) -> bool:
        try:
            return self.contains(Path(os.path.realpath(path)))
        except ValueError:  # a NUL byte
            return False


def may_name_folder(path: Path, writable_roots: WritableRoots) -> bool:
    """Return whether a Read rule may name the folder of `path`, outside the roots: not the home or `/`."""
    folder, home = path.parent, Path(os.path.realpath(Path.home()))
    is_wide = (
        folder == Path("/") or home.is_relative_to(folder) or writable_roots.work_dir.is_relative_to(folder)
    )
    return not is_wide and not writable_roots.contains(path)


@lru_cache(maxsize=1)
def shared_folders() -> tuple[Path, ...]:
    """Return the system folders and toolchains of this machine, with links resolved."""
    home = Path.home()
    folders = [*map(Path, _SYSTEM_FOLDERS), *toolchain_folders(home)]
    return tuple(
        {Path(os.path.realpath(folder)): None for folder in folders if folder not in (Path("/"), home)}
    )


def toolchain_folders(home: Path) -> list[Path]:
    """Return folders with compilers, interpreters and packages, in `home` and of this program."""
    return [*(home / name for name in _TOOLCHAIN_FOLDERS), Path(sys.prefix), Path(sys.base_prefix)]

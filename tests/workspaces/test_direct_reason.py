"""What a command printed or left shows that it has to run directly."""

import stat

import pytest

from kimi_tui.workspaces.effects import PathEffect, PathState
from kimi_tui.workspaces.overlay.direct_reason import find_direct_reason, find_split_links


def state(inode: int, *, n_links: int = 1, size: int = 5, mode: int = stat.S_IFREG | 0o644) -> PathState:
    return PathState(
        mode=mode, size=size, mtime_ns=1, ctime_ns=1, inode=inode, device=1, n_links=n_links, owner=(0, 0)
    )


def write(path: str, before: PathState | None, after: PathState, *, link_to: str = "") -> PathEffect:
    return PathEffect(path=path, kind="write", before=before, after=after, source="/layer", link_to=link_to)


@pytest.mark.parametrize(
    "output",
    [
        "mv: cannot move 'src' to 'lib': Invalid cross-device link",
        "OSError: [Errno 18] Invalid cross-device link: 'src' -> 'lib'",
        "Error: EXDEV: cross-device link not permitted, rename 'docs' -> 'd'",
        "rm: cannot remove '/work': Device or resource busy",
        "OSError: [Errno 16] Device or resource busy: '/work'",
        "fatal: hardlink different from source at 'copy/.git/objects/48/43dd'",
        "sh: README.md: Value too large for defined data type",
    ],
)
def test_failures_of_views_are_recognized(output: str) -> None:
    assert find_direct_reason(output)


def test_other_failures_are_not_recognized() -> None:
    assert not find_direct_reason("mv: cannot stat 'src': No such file or directory")


def test_a_changed_file_that_had_several_names_is_recognized() -> None:
    assert find_split_links([write("/work/a", state(1, n_links=2), state(2))])


def test_a_changed_file_with_one_name_is_no_reason() -> None:
    assert not find_split_links([write("/work/a", state(1), state(2, size=9))])


def test_a_new_name_of_an_existing_link_is_recognized() -> None:
    link = stat.S_IFLNK | 0o777
    assert find_split_links([write("/work/also", None, state(2, n_links=2, mode=link))])


def test_new_files_with_several_names_are_no_reason() -> None:
    new = state(2, n_links=2)
    assert not find_split_links([write("/work/a", None, new), write("/work/b", None, new)])


def test_a_new_name_of_a_file_that_is_known_is_no_reason() -> None:
    assert not find_split_links([write("/work/b", None, state(2, n_links=2), link_to="/work/a")])

"""Paths below another root directory resolve as they do for a process that has it."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.rooted_path import real_path


@dataclass
class View:
    """A view at a fixed place."""

    root: str


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "home" / "work" / "sub").mkdir(parents=True)
    (root / "etc").mkdir()
    for link, target in {
        "home/work/absolute": "/etc",
        "home/work/relative": "../../etc",
        "home/work/above": "../../../../../../etc",
        "home/work/chain": "absolute",
        "home/work/loop": "loop",
        "home/work/missing": "nothing/here",
        "home/self": "/home/work/./sub/..",
    }.items():
        (root / link).symlink_to(target)
    return root


@pytest.mark.parametrize(
    ("path", "resolved"),
    [
        ("/home/work/sub", "/home/work/sub"),
        ("/home/work/absolute/passwd", "/etc/passwd"),
        ("/home/work/relative/passwd", "/etc/passwd"),
        ("/home/work/above/passwd", "/etc/passwd"),
        ("/home/work/chain", "/etc"),
        ("/home/work/missing/x", "/home/work/nothing/here/x"),
        ("/home/self/absolute", "/etc"),
        ("/home/work/new/../a", "/home/work/a"),
        ("/", "/"),
    ],
)
def test_links_resolve_below_the_root(root: Path, path: str, resolved: str) -> None:
    assert real_path(path, root=str(root)) == resolved


def test_a_loop_ends(root: Path) -> None:
    assert real_path("/home/work/loop/x", root=str(root)).startswith("/home/work/loop")


def test_without_a_root_it_is_realpath(root: Path) -> None:
    path = root / "home" / "work" / "relative"
    assert real_path(path) == os.path.realpath(path)


def test_a_link_out_of_the_directory_isnt_inside(root: Path) -> None:
    scope = PathScope(Path("/home/work"), view=View(str(root)))
    located = scope.locate("relative/passwd")
    assert (str(located.real), located.is_inside) == ("/etc/passwd", False)
    assert located.host_path == root / "etc" / "passwd"
    assert scope.locate("sub").is_inside
    with pytest.raises(FileProblem):
        scope.locate("../../etc/passwd")

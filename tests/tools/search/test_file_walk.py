"""Directory walks: they can be stopped, and they don't follow links."""

from kimi_tui.tools.search.file_walk import DirectoryWalk
from tests.tools.tool_env import ToolEnv


def test_a_walk_ends_when_it_is_stopped(tool_env: ToolEnv) -> None:
    for number in range(10):
        tool_env.write_file(f"{number}/file")
    walk = DirectoryWalk(tool_env.dir)
    visited = []
    for entry in walk:
        visited.append(entry.relative)
        if entry.relative == "1/file":
            walk.stop.set()

    assert visited[-1] == "1/file"
    assert walk.is_cut_short


def test_a_walk_ends_after_its_time_limit(tool_env: ToolEnv) -> None:
    tool_env.write_file("a/file")
    walk = DirectoryWalk(tool_env.dir, seconds=-1)

    assert list(walk) == []
    assert walk.is_cut_short


def test_a_walk_does_not_follow_link_loops(tool_env: ToolEnv) -> None:
    tool_env.write_file("a/file")
    (tool_env.dir / "a" / "up").symlink_to("..")
    walk = DirectoryWalk(tool_env.dir)

    assert [entry.relative for entry in walk] == ["a", "a/file", "a/up"]
    assert not walk.is_cut_short


def test_an_unreadable_directory_is_recorded(tool_env: ToolEnv) -> None:
    walk = DirectoryWalk(tool_env.dir / "gone")

    assert list(walk) == []
    assert walk.unreadable == [""]

"""Glob, as seen by the model."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.tools.search.glob import Glob
from kimi_tui.tools.search.glob_pattern import InvalidPattern, parse_glob
from kimi_tui.wire.events import ToolReturn
from tests.tools.tool_env import ToolEnv, brief_text, output_text


async def glob(tool_env: ToolEnv, pattern: str, **arguments: Any) -> ToolReturn:
    return await tool_env.run(Glob(tool_env.path_scope, tool_env.user), pattern=pattern, **arguments)


def found_paths(result: ToolReturn) -> list[str]:
    assert not result.is_error, result.message
    return output_text(result).splitlines()


async def test_files_are_found_at_any_depth(project: ToolEnv) -> None:
    assert found_paths(await glob(project, "**/*.{py,ts}")) == ["src/a.py", "src/b.ts"]
    assert found_paths(await glob(project, "src/?.py")) == ["src/a.py"]
    assert found_paths(await glob(project, "**/[!a].*")) == ["src/b.ts"]


async def test_a_pattern_without_a_slash_searches_one_directory_and_says_so(project: ToolEnv) -> None:
    result = await glob(project, "*.ts")

    assert found_paths(result) == []
    assert "`**/*.ts` also searches subdirectories" in result.message


async def test_hidden_files_are_found_but_not_version_control_data(project: ToolEnv) -> None:
    assert found_paths(await glob(project, "**/*.yml")) == [".github/workflow.yml"]
    assert found_paths(await glob(project, "**/config")) == []


async def test_directories_end_in_a_slash_and_can_be_left_out(project: ToolEnv) -> None:
    assert found_paths(await glob(project, "*")) == [".github/", ".gitignore", "README.md", "build/", "src/"]
    assert found_paths(await glob(project, "*", include_dirs=False)) == [".gitignore", "README.md"]


async def test_paths_are_relative_to_the_work_dir(project: ToolEnv) -> None:
    assert found_paths(await glob(project, "*.py", directory="src")) == ["src/a.py"]
    assert found_paths(await glob(project, str(project.dir / "src" / "*.py"))) == ["src/a.py"]


async def test_outside_of_the_work_dir_paths_are_absolute(tool_env: ToolEnv, tmp_path: Path) -> None:
    (tmp_path / "other.txt").touch()
    assert found_paths(await glob(tool_env, "*.txt", directory=str(tmp_path))) == [
        str(tmp_path / "other.txt")
    ]


async def test_ignored_files_are_left_out_and_reported(project: ToolEnv) -> None:
    project.write_file("node_modules/x/index.py")
    result = await glob(project, "**/*.py")

    assert found_paths(result) == ["src/a.py"]
    assert "build, node_modules" in result.message
    assert "1 more" in (await glob(project, "*.log")).message


async def test_ignored_files_are_found_if_the_path_points_to_them(project: ToolEnv) -> None:
    project.write_file("build/deep/more.py")
    expected = ["build/out.py", "build/deep/more.py"]

    assert found_paths(await glob(project, "**/*.py", directory="build")) == expected
    assert found_paths(await glob(project, "build/**/*.py")) == expected


async def test_nested_ignore_files_apply_to_their_directory(project: ToolEnv) -> None:
    project.write_file("src/.gitignore", "*.ts\n!keep.ts\n!keep.log\n/gen\n")
    project.write_file("src/keep.ts")
    project.write_file("src/keep.log")
    project.write_file("src/gen/c.py")
    project.write_file("other/d.ts")
    project.write_file("other/gen/e.py")

    assert found_paths(await glob(project, "**/*.ts")) == ["other/d.ts", "src/keep.ts"]
    assert found_paths(await glob(project, "**/*.py")) == ["other/gen/e.py", "src/a.py"]
    assert found_paths(await glob(project, "**/*.log")) == ["src/keep.log"]


async def test_a_nested_repository_has_its_own_rules(tool_env: ToolEnv) -> None:
    tool_env.write_file(".gitignore", "*.py\n")
    tool_env.write_file("free.py")
    tool_env.write_file("repository/.git/HEAD")
    tool_env.write_file("repository/.gitignore", "*.ts\n")
    tool_env.write_file("repository/a.py")
    tool_env.write_file("repository/b.ts")

    assert found_paths(await glob(tool_env, "**/*.{py,ts}")) == ["free.py", "repository/a.py"]


async def test_a_directory_named_like_a_pattern_is_found(tool_env: ToolEnv) -> None:
    tool_env.write_file("app/[slug]/page.tsx")
    assert found_paths(await glob(tool_env, "app/[slug]/*.tsx")) == ["app/[slug]/page.tsx"]


async def test_links_to_directories_are_found_and_not_followed(tool_env: ToolEnv) -> None:
    tool_env.write_file("real/a.txt")
    (tool_env.dir / "loop").symlink_to(".")
    (tool_env.dir / "link").symlink_to("real")

    assert found_paths(await glob(tool_env, "**/*.txt")) == ["real/a.txt"]
    assert found_paths(await glob(tool_env, "l*")) == ["link", "loop"]
    assert found_paths(await glob(tool_env, "link/*.txt")) == ["link/a.txt"]


async def test_at_most_a_thousand_matches_are_returned(tool_env: ToolEnv) -> None:
    for number in range(1200):
        tool_env.write_file(f"{number:04}.txt")
    result = await glob(tool_env, "*.txt")

    assert len(found_paths(result)) == 1000
    assert "there are more" in result.message
    assert brief_text(result) == "the first 1,000 matches"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"pattern": "../*.py"}, "“..”"),
        ({"pattern": "{a"}, "without “}”"),
        ({"pattern": "[z-a]"}, "invalid [...]"),
        ({"pattern": "*.py", "directory": "missing"}, "doesn't exist"),
        ({"pattern": "*.py", "directory": "file.txt"}, "isn't a directory"),
        ({"pattern": "*.py", "directory": "../"}, "absolute path"),
    ],
)
async def test_an_invalid_search_is_an_error(
    tool_env: ToolEnv, arguments: dict[str, Any], expected: str
) -> None:
    tool_env.write_file("file.txt")
    result = await glob(tool_env, **arguments)

    assert result.is_error
    assert expected in result.message


@pytest.mark.skipif(os.name == "nt", reason="file names are text on Windows")
async def test_names_that_are_not_text_are_found(tool_env: ToolEnv) -> None:
    tool_env.write_file(os.fsdecode(b"caf\xe9.txt"))
    assert found_paths(await glob(tool_env, "*.txt")) == ["caf\ufffd.txt"]


async def test_a_canceled_search_ends(tool_env: ToolEnv) -> None:
    """Cancels a search of the whole file system."""
    running = asyncio.ensure_future(glob(tool_env, "/**/no such file"))
    await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("**", ["a", "a/b"], []),
        ("a**b", ["ab", "axxb"], ["a/b"]),
        ("**/x/**", ["x/a", "a/x/b/c"], ["x", "xa/b"]),
        ("{a,b/c}/d", ["a/d", "b/c/d"], ["c/d"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[^a]", ["b"], ["a", "/"]),
        ("x[]", ["x[]"], ["x"]),
        ("[!]a]", ["b"], ["a", "]"]),
        ("a,b", ["a,b"], ["a"]),
        ("a}[b", ["a}[b"], []),
        ("*.py", [".py", "a.py"], ["a.pyc", "a.py\n"]),
    ],
)
def test_patterns_match_whole_paths(pattern: str, matching: list[str], others: list[str]) -> None:
    regex = parse_glob(pattern).regex
    assert [path for path in matching if not regex.match(path)] == []
    assert [path for path in others if regex.match(path)] == []


@pytest.mark.timeout(60)
def test_no_pattern_backtracks_endlessly() -> None:
    for pattern, mismatch, match in (
        ("*a" * 12 + "*b", "a" * 200, "a" * 200 + "b"),
        ("**/a/" * 9 + "z", "a/" * 900 + "y", "a/" * 900 + "z"),
        ("{*a,*b}" * 8 + "c", "a" * 200, "a" * 200 + "c"),
    ):
        regex = parse_glob(pattern).regex
        assert regex.match(mismatch) is None
        assert regex.match(match) is not None
    with pytest.raises(InvalidPattern, match="braces"):
        parse_glob("{a,b}" * 12)


def test_an_empty_pattern_is_invalid() -> None:
    with pytest.raises(InvalidPattern):
        parse_glob("")

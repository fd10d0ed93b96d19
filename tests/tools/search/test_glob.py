"""Glob, as a model sees it."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.tools.search.glob import Glob
from kimi_tui.tools.search.pattern import BadPattern, parse_glob
from kimi_tui.wire.events import ToolReturn
from tests.tools.desk import Desk, brief, output


async def glob(desk: Desk, pattern: str, **arguments: Any) -> ToolReturn:
    return await desk.run(Glob(desk.workspace), pattern=pattern, **arguments)


def found(result: ToolReturn) -> list[str]:
    assert not result.is_error, result.message
    return output(result).splitlines()


async def test_files_are_found_at_any_depth(project: Desk) -> None:
    assert found(await glob(project, "**/*.{py,ts}")) == ["src/a.py", "src/b.ts"]
    assert found(await glob(project, "src/?.py")) == ["src/a.py"]
    assert found(await glob(project, "**/[!a].*")) == ["src/b.ts"]


async def test_a_pattern_without_slash_is_about_the_folder_itself_and_says_so(project: Desk) -> None:
    result = await glob(project, "*.ts")

    assert found(result) == []
    assert "`**/*.ts` looks below it too" in result.message


async def test_hidden_files_are_found_and_version_control_is_not(project: Desk) -> None:
    assert found(await glob(project, "**/*.yml")) == [".github/workflow.yml"]
    assert found(await glob(project, "**/config")) == []


async def test_folders_are_given_with_a_slash_unless_unwanted(project: Desk) -> None:
    assert found(await glob(project, "*")) == [".github/", ".gitignore", "README.md", "build/", "src/"]
    assert found(await glob(project, "*", include_dirs=False)) == [".gitignore", "README.md"]


async def test_paths_are_relative_to_the_work_dir(project: Desk) -> None:
    assert found(await glob(project, "*.py", directory="src")) == ["src/a.py"]
    assert found(await glob(project, str(project.dir / "src" / "*.py"))) == ["src/a.py"]


async def test_outside_of_the_work_dir_paths_are_absolute(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "other.txt").touch()
    assert found(await glob(desk, "*.txt", directory=str(tmp_path))) == [str(tmp_path / "other.txt")]


async def test_what_git_ignores_is_left_out_and_named(project: Desk) -> None:
    project.put("node_modules/x/index.py")
    result = await glob(project, "**/*.py")

    assert found(result) == ["src/a.py"]
    assert "build, node_modules" in result.message
    assert "1 more" in (await glob(project, "*.log")).message


async def test_what_git_ignores_is_found_when_the_path_leads_there(project: Desk) -> None:
    project.put("build/deep/more.py")
    expected = ["build/out.py", "build/deep/more.py"]

    assert found(await glob(project, "**/*.py", directory="build")) == expected
    assert found(await glob(project, "build/**/*.py")) == expected


async def test_nested_ignore_files_count_where_they_are(project: Desk) -> None:
    project.put("src/.gitignore", "*.ts\n!keep.ts\n!keep.log\n/gen\n")
    project.put("src/keep.ts")
    project.put("src/keep.log")
    project.put("src/gen/c.py")
    project.put("other/d.ts")
    project.put("other/gen/e.py")

    assert found(await glob(project, "**/*.ts")) == ["other/d.ts", "src/keep.ts"]
    assert found(await glob(project, "**/*.py")) == ["other/gen/e.py", "src/a.py"]
    assert found(await glob(project, "**/*.log")) == ["src/keep.log"]


async def test_a_repository_below_has_its_own_rules(desk: Desk) -> None:
    desk.put(".gitignore", "*.py\n")
    desk.put("free.py")
    desk.put("repository/.git/HEAD")
    desk.put("repository/.gitignore", "*.ts\n")
    desk.put("repository/a.py")
    desk.put("repository/b.ts")

    assert found(await glob(desk, "**/*.{py,ts}")) == ["free.py", "repository/a.py"]


async def test_a_folder_named_like_a_pattern_is_found(desk: Desk) -> None:
    desk.put("app/[slug]/page.tsx")
    assert found(await glob(desk, "app/[slug]/*.tsx")) == ["app/[slug]/page.tsx"]


async def test_links_to_folders_are_found_and_not_followed(desk: Desk) -> None:
    desk.put("real/a.txt")
    (desk.dir / "loop").symlink_to(".")
    (desk.dir / "link").symlink_to("real")

    assert found(await glob(desk, "**/*.txt")) == ["real/a.txt"]
    assert found(await glob(desk, "l*")) == ["link", "loop"]
    assert found(await glob(desk, "link/*.txt")) == ["link/a.txt"]


async def test_a_thousand_matches_are_given_at_most(desk: Desk) -> None:
    for number in range(1200):
        desk.put(f"{number:04}.txt")
    result = await glob(desk, "*.txt")

    assert len(found(result)) == 1000
    assert "there are more" in result.message
    assert brief(result) == "the first 1,000 matches"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pattern": "../*.py"}, "“..”"),
        ({"pattern": "{a"}, "no “}”"),
        ({"pattern": "[z-a]"}, "makes no sense"),
        ({"pattern": "*.py", "directory": "missing"}, "does not exist"),
        ({"pattern": "*.py", "directory": "file.txt"}, "no folder"),
        ({"pattern": "*.py", "directory": "../"}, "absolute path"),
    ],
)
async def test_a_search_that_makes_no_sense_is_a_clear_error(
    desk: Desk, arguments: dict[str, Any], said: str
) -> None:
    desk.put("file.txt")
    result = await glob(desk, **arguments)

    assert result.is_error
    assert said in result.message


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
async def test_names_are_bytes(desk: Desk) -> None:
    desk.put(os.fsdecode(b"caf\xe9.txt"))
    assert found(await glob(desk, "*.txt")) == ["caf\ufffd.txt"]


async def test_a_cancelled_search_ends(desk: Desk) -> None:
    """A search of everything is begun and called off."""
    running = asyncio.ensure_future(glob(desk, "/**/no such file"))
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
def test_no_pattern_and_name_that_a_model_thought_of_keep_it_busy() -> None:
    for pattern, near, there in (
        ("*a" * 12 + "*b", "a" * 200, "a" * 200 + "b"),
        ("**/a/" * 9 + "z", "a/" * 900 + "y", "a/" * 900 + "z"),
        ("{*a,*b}" * 8 + "c", "a" * 200, "a" * 200 + "c"),
    ):
        regex = parse_glob(pattern).regex
        assert regex.match(near) is None
        assert regex.match(there) is not None
    with pytest.raises(BadPattern, match="braces"):
        parse_glob("{a,b}" * 12)


def test_an_empty_pattern_is_none() -> None:
    with pytest.raises(BadPattern):
        parse_glob("")

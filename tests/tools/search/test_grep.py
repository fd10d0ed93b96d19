"""Grep, as seen by the model, with ripgrep and with the Python program."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from kimi_tui.permission.subject import PathSubject
from kimi_tui.tools.approval import ToolRejected
from kimi_tui.tools.search.grep import Grep
from kimi_tui.tools.search.programs import Ripgrep, collect_output, find_ripgrep
from kimi_tui.wire.events import ToolReturn
from tests.loop_clock import LoopClock
from tests.tools.call_context import build_context
from tests.tools.tool_env import ToolEnv, brief_text, output_text


class FixedRipgrep(Ripgrep):
    """Ripgrep at fixed paths, or nowhere."""

    def __init__(self, *paths: str) -> None:
        self._paths = paths

    def paths(self) -> tuple[str, ...]:
        return self._paths


NO_RIPGREP = FixedRipgrep()


@pytest.fixture(params=["ripgrep", "fallback"])
def ripgrep(request: pytest.FixtureRequest) -> Ripgrep:
    return Ripgrep() if request.param == "ripgrep" else NO_RIPGREP


async def grep(
    tool_env: ToolEnv,
    pattern: str,
    *,
    ripgrep: Ripgrep = Ripgrep(),
    **arguments: Any,
) -> ToolReturn:
    tool = Grep(tool_env.path_scope, tool_env.user, ripgrep=ripgrep)
    return await tool_env.run(tool, pattern=pattern, **arguments)


def output_lines(result: ToolReturn) -> list[str]:
    assert not result.is_error, result.message
    return output_text(result).splitlines()


async def test_files_are_listed_newest_first(project: ToolEnv, ripgrep: Ripgrep) -> None:
    for age, name in enumerate(("src/b.ts", "src/a.py", ".github/workflow.yml")):
        os.utime(project.dir / name, (10_000 - age, 10_000 - age))
    result = await grep(project, "needle", ripgrep=ripgrep)

    assert output_lines(result) == ["src/b.ts", "src/a.py", ".github/workflow.yml"]
    assert brief_text(result) == "3 files"


async def test_lines_have_path_and_number(project: ToolEnv, ripgrep: Ripgrep) -> None:
    result = await grep(project, "needle", ripgrep=ripgrep, output_mode="content")

    assert output_lines(result) == [
        ".github/workflow.yml:1:needle: 3",
        "src/a.py:3:needle = 1",
        "src/a.py:4:print(needle)",
        "src/b.ts:1:const needle = 2",
    ]
    assert brief_text(result) == "4 matching lines"


async def test_line_numbers_may_be_left_out(project: ToolEnv, ripgrep: Ripgrep) -> None:
    result = await grep(project, "const", ripgrep=ripgrep, output_mode="content", **{"-n": False})
    assert output_lines(result) == ["src/b.ts:const needle = 2"]


async def test_context_is_marked_and_gaps_are_shown(tool_env: ToolEnv, ripgrep: Ripgrep) -> None:
    tool_env.write_file("a.txt", "".join(f"{number}\n" for number in range(1, 21)))
    result = await grep(tool_env, "^(3|12)$", ripgrep=ripgrep, output_mode="content", **{"-B": 1, "-A": 2})

    assert output_lines(result) == [
        "a.txt-2-2", "a.txt:3:3", "a.txt-4-4", "a.txt-5-5",
        "--",
        "a.txt-11-11", "a.txt:12:12", "a.txt-13-13", "a.txt-14-14",
    ]  # fmt: skip
    around = await grep(tool_env, "^3$", ripgrep=ripgrep, output_mode="content", **{"-C": 1})
    assert output_lines(around) == ["a.txt-2-2", "a.txt:3:3", "a.txt-4-4"]


async def test_matches_are_counted(project: ToolEnv, ripgrep: Ripgrep) -> None:
    tool_env = project
    tool_env.write_file("src/c.py", "needle needle\nneedle\n")
    result = await grep(tool_env, "needle", ripgrep=ripgrep, output_mode="count", path="src")

    assert output_lines(result) == ["src/a.py:2", "src/b.ts:1", "src/c.py:3"]
    assert brief_text(result) == "6 matches in 3 files"


async def test_files_are_selected_by_glob_and_type(project: ToolEnv, ripgrep: Ripgrep) -> None:
    assert output_lines(await grep(project, "needle", ripgrep=ripgrep, glob="*.ts")) == ["src/b.ts"]
    assert output_lines(await grep(project, "needle", ripgrep=ripgrep, glob="src/*.{ts,tsx}")) == ["src/b.ts"]
    assert output_lines(await grep(project, "needle", ripgrep=ripgrep, type="py")) == ["src/a.py"]
    both = await grep(project, "needle", ripgrep=ripgrep, glob="*.ts *.py", path="src")
    assert sorted(output_lines(both)) == ["src/a.py", "src/b.ts"]
    assert sorted(output_lines(await grep(project, "needle", ripgrep=ripgrep, glob="!*.ts", path="src"))) == [
        "src/a.py"
    ]


async def test_case_may_be_ignored(project: ToolEnv, ripgrep: Ripgrep) -> None:
    assert output_lines(await grep(project, "NEEDLE", ripgrep=ripgrep)) == []
    assert len(output_lines(await grep(project, "NEEDLE", ripgrep=ripgrep, **{"-i": True}))) == 3


async def test_a_pattern_may_span_lines(project: ToolEnv, ripgrep: Ripgrep) -> None:
    single = await grep(project, "import.*print", ripgrep=ripgrep)
    several = await grep(project, "import.*print", ripgrep=ripgrep, multiline=True, output_mode="content")

    assert output_lines(single) == []
    assert output_lines(several) == [
        "src/a.py:1:import os",
        "src/a.py:2:",
        "src/a.py:3:needle = 1",
        "src/a.py:4:print(needle)",
    ]


async def test_a_long_result_is_returned_in_pages(tool_env: ToolEnv, ripgrep: Ripgrep) -> None:
    tool_env.write_file("a.txt", "x\n" * 600)
    first = await grep(tool_env, "x", ripgrep=ripgrep, output_mode="content")
    last = await grep(tool_env, "x", ripgrep=ripgrep, output_mode="content", offset=500)

    assert len(output_lines(first)) == 250
    assert "Entries 1 to 250 of 600; continue with offset=250." in first.message
    assert output_lines(last)[0] == "a.txt:501:x"
    assert "Entries 501 to 600 of 600." in last.message
    assert (
        len(output_lines(await grep(tool_env, "x", ripgrep=ripgrep, output_mode="content", head_limit=0)))
        == 600
    )
    beyond = await grep(tool_env, "x", ripgrep=ripgrep, output_mode="content", offset=900)
    assert "offset=900 is beyond the last of 600 entries" in beyond.message


async def test_a_long_line_is_cut(tool_env: ToolEnv, ripgrep: Ripgrep) -> None:
    tool_env.write_file("a.txt", "needle" + "x" * 1_000_000 + "\n")
    (line,) = output_lines(await grep(tool_env, "needle", ripgrep=ripgrep, output_mode="content"))

    assert line.startswith("a.txt:1:needle")
    assert len(line) < 2200


async def test_the_output_has_a_limit(tool_env: ToolEnv, ripgrep: Ripgrep) -> None:
    tool_env.write_file("a.txt", ("y" * 1500 + "\n") * 300)
    result = await grep(tool_env, "y", ripgrep=ripgrep, output_mode="content", head_limit=0)

    assert len(output_text(result)) <= 100_000
    assert "output limit" in result.message
    assert f"offset={len(output_lines(result))}" in result.message


async def test_an_ignored_file_is_searched_if_named(project: ToolEnv, ripgrep: Ripgrep) -> None:
    result = await grep(project, "needle", ripgrep=ripgrep, path="debug.log", output_mode="content")
    assert output_lines(result) == ["debug.log:1:needle"]


async def test_an_ignored_directory_is_searched_if_named(project: ToolEnv, ripgrep: Ripgrep) -> None:
    assert output_lines(await grep(project, "needle", ripgrep=ripgrep, path="build")) == ["build/out.py"]


async def test_version_control_data_is_never_searched(tool_env: ToolEnv, ripgrep: Ripgrep) -> None:
    tool_env.write_file("sub/.git/config", "needle\n")
    assert output_lines(await grep(tool_env, "needle", ripgrep=ripgrep)) == []


async def test_outside_of_the_work_dir_paths_are_absolute(
    tool_env: ToolEnv, tmp_path: Path, ripgrep: Ripgrep
) -> None:
    (tmp_path / "other.txt").write_text("needle\n")
    result = await grep(tool_env, "needle", ripgrep=ripgrep, path=str(tmp_path))

    assert output_lines(result) == [str(tmp_path / "other.txt")]
    assert tool_env.user.requests == []


async def test_line_endings_do_not_belong_to_lines(tool_env: ToolEnv, ripgrep: Ripgrep) -> None:
    tool_env.write_file("a.txt", b"one\r\ntwo\r\n")
    assert output_lines(await grep(tool_env, "one$", ripgrep=ripgrep, output_mode="content")) == [
        "a.txt:1:one"
    ]


async def test_utf16_is_searched_and_binaries_are_not(tool_env: ToolEnv, ripgrep: Ripgrep) -> None:
    tool_env.write_file("wide.txt", "needle\n".encode("utf-16"))
    tool_env.write_file("data.bin", b"\x00needle\n")
    assert output_lines(await grep(tool_env, "needle", ripgrep=ripgrep, output_mode="content")) == [
        "wide.txt:1:needle"
    ]


@pytest.mark.skipif(os.name == "nt", reason="file names are text on Windows")
async def test_names_that_are_not_text_are_found(tool_env: ToolEnv, ripgrep: Ripgrep) -> None:
    tool_env.write_file(os.fsdecode(b"caf\xe9\n1.txt"), "needle\n")
    result = await grep(tool_env, "needle", ripgrep=ripgrep, output_mode="content")
    assert output_lines(result) == ["caf\ufffd\ufffd1.txt:1:needle"]

    by_printable_name = await grep(tool_env, "needle", ripgrep=ripgrep, path="caf\ufffd\ufffd1.txt")
    assert len(output_lines(by_printable_name)) == 1


async def test_bytes_that_are_not_utf8_are_replaced(tool_env: ToolEnv, ripgrep: Ripgrep) -> None:
    tool_env.write_file("a.txt", b"caf\xe9 needle\n")
    assert output_lines(await grep(tool_env, "needle", ripgrep=ripgrep, output_mode="content")) == [
        "a.txt:1:caf\ufffd needle"
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"pattern": "a("}, "pattern"),
        ({"pattern": "x", "type": "nonsense"}, "nonsense"),
        ({"pattern": "x", "glob": "{a"}, "glob"),
        ({"pattern": "x", "path": "missing"}, "doesn't exist"),
        ({"pattern": "a\x00b"}, "NUL"),
        ({"pattern": "a\ud800b"}, "surrogate pair"),
    ],
)
async def test_an_invalid_search_is_an_error(
    project: ToolEnv, ripgrep: Ripgrep, arguments: dict[str, Any], expected: str
) -> None:
    result = await grep(project, ripgrep=ripgrep, **arguments)

    assert result.is_error
    assert expected in result.message


async def test_a_newline_in_the_pattern_gives_a_hint(project: ToolEnv) -> None:
    assert "Set multiline" in (await grep(project, "a\\nb")).message


async def test_look_around_falls_back_to_python(project: ToolEnv) -> None:
    result = await grep(project, "(?<=const )needle", output_mode="content")

    assert output_lines(result) == ["src/b.ts:1:const needle = 2"]
    assert "Python" in result.message


async def test_no_matches_is_not_an_error(project: ToolEnv, ripgrep: Ripgrep) -> None:
    result = await grep(project, "no such thing", ripgrep=ripgrep)

    assert not result.is_error
    assert "No matches." in result.message
    assert "ignored by git" in result.message


async def test_secret_files_are_left_out_and_reported(tool_env: ToolEnv, ripgrep: Ripgrep) -> None:
    tool_env.write_file(".env", "TOKEN=needle\n")
    tool_env.write_file("keys/server.pem", "needle\n")
    tool_env.write_file(".env.example", "TOKEN=needle here\n")
    for mode in ("files_with_matches", "content", "count"):
        result = await grep(tool_env, "needle", ripgrep=ripgrep, output_mode=mode)
        assert len(output_lines(result)) == 1
        assert output_lines(result)[0].startswith(".env.example")
        assert "Not searched because they may hold secrets: .env, keys/server.pem." in result.message


async def test_the_note_on_secret_files_reveals_nothing_about_their_content(
    tool_env: ToolEnv, ripgrep: Ripgrep
) -> None:
    tool_env.write_file(".env", "TOKEN=needle\n")
    right = await grep(tool_env, "TOKEN=n", ripgrep=ripgrep, glob=".env")
    wrong = await grep(tool_env, "TOKEN=m", ripgrep=ripgrep, glob=".env")

    assert output_text(right) == output_text(wrong) == ""
    assert right.message.split("Files")[0] == wrong.message.split("Files")[0]


async def test_a_named_secret_file_is_searched_with_approval(tool_env: ToolEnv, ripgrep: Ripgrep) -> None:
    path = tool_env.write_file(".env", "TOKEN=needle\n")
    result = await grep(tool_env, "needle", ripgrep=ripgrep, path=".env", output_mode="content")

    assert output_lines(result) == [".env:1:TOKEN=needle"]
    assert tool_env.user.requests[0].subject == PathSubject(path, writes=False)

    tool_env.user.rejects = True
    with pytest.raises(ToolRejected):
        await grep(tool_env, "needle", ripgrep=ripgrep, path=".env")


@pytest.mark.skipif(os.name == "nt", reason="not available on Windows")
@pytest.mark.timeout(60)
async def test_the_targets_of_links_are_checked_for_secrets(
    tool_env: ToolEnv, ripgrep: Ripgrep, tmp_path: Path
) -> None:
    home = tmp_path / "home" / ".aws"
    home.mkdir(parents=True)
    (home / "config").write_text("needle = 1\n")
    (home / "notes").write_text("needle = 2\n")
    (tool_env.dir / "link").symlink_to(home)
    result = await grep(tool_env, "needle", path="link", ripgrep=ripgrep, output_mode="content")

    assert output_lines(result) == ["link/notes:1:needle = 2"]
    assert tool_env.user.requests == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems only have the directory's path")
async def test_a_directory_replaced_by_a_link_is_not_searched(tool_env: ToolEnv, tmp_path: Path) -> None:
    """The directory is replaced after it was opened, before the program starts."""
    tool_env.write_file("d/a.txt", "needle here\n")
    tool_env.write_file("elsewhere/b.txt", "needle there\n")

    class ReplacingRipgrep(Ripgrep):
        def paths(self) -> tuple[str, ...]:
            if not (tool_env.dir / "old").exists():
                (tool_env.dir / "d").rename(tool_env.dir / "old")
                (tool_env.dir / "d").symlink_to("elsewhere")
            return super().paths()

    result = await grep(tool_env, "needle", path="d", ripgrep=ReplacingRipgrep(), output_mode="content")
    assert output_lines(result) == ["d/a.txt:1:needle here"]


async def test_a_file_replaced_by_a_link_is_not_searched(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "needle here\n")
    tool_env.write_file("b.txt", "needle there\n")

    class ReplacingRipgrep(FixedRipgrep):
        def paths(self) -> tuple[str, ...]:
            (tool_env.dir / "a.txt").unlink()
            (tool_env.dir / "a.txt").symlink_to("b.txt")
            return super().paths()

    for paths in (find_ripgrep(), ()):
        tool_env.write_file("a.txt", "needle here\n")
        replacing = ReplacingRipgrep(*paths)
        result = await grep(tool_env, "needle", path="a.txt", ripgrep=replacing, output_mode="content")
        assert output_lines(result) == ["a.txt:1:needle here"]
        (tool_env.dir / "a.txt").unlink()


async def test_special_files_do_not_block_the_search(tool_env: ToolEnv, ripgrep: Ripgrep) -> None:
    os.mkfifo(tool_env.dir / "fifo")
    (tool_env.dir / "loop").symlink_to("loop")
    with (tool_env.dir / "huge").open("wb") as file:
        file.truncate(1 << 30)
    tool_env.write_file("a.txt", "needle\n")

    assert output_lines(await grep(tool_env, "needle", ripgrep=ripgrep)) == ["a.txt"]
    assert (await grep(tool_env, "needle", ripgrep=ripgrep, path="fifo")).is_error
    assert (await grep(tool_env, "needle", ripgrep=ripgrep, path="/dev/zero")).is_error
    assert (await grep(tool_env, "needle", ripgrep=ripgrep, path="loop")).is_error


def make_program(folder: Path, body: str) -> Ripgrep:
    """Create a program to use instead of ripgrep."""
    path = folder / "rg"
    path.write_text(f"#!{sys.executable}\n{body}\n")
    path.chmod(0o755)
    return FixedRipgrep(str(path))


@pytest.mark.skipif(os.name == "nt", reason="scripts are not executable on Windows")
@pytest.mark.timeout(60)
async def test_a_search_that_times_out_returns_partial_results(tool_env: ToolEnv, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()
    slow = make_program(
        tmp_path,
        "import os, sys, time\nsys.stdout.write('./a.txt\\0')\nsys.stdout.flush()\n"
        f"open({str(pids)!r} + '/' + str(os.getpid()), 'w').close()\ntime.sleep(1000)",
    )
    tool_env.write_file("a.txt")
    clock = LoopClock()
    tool = Grep(tool_env.path_scope, tool_env.user, ripgrep=slow, seconds=200)
    running = asyncio.ensure_future(tool_env.run(tool, pattern="x"))
    while len(list(pids.iterdir())) < 2:
        await asyncio.sleep(0.005)
    result = await clock.advance_until(running, 200)

    assert output_lines(result) == ["a.txt"]
    assert "was stopped" in result.message


@pytest.mark.skipif(os.name == "nt", reason="scripts are not executable on Windows")
@pytest.mark.timeout(60)
async def test_a_search_that_finds_too_much_is_stopped(tool_env: ToolEnv, tmp_path: Path) -> None:
    endless = make_program(tmp_path, "while True: print('./a.txt\\0' + '1:' + 'x' * 100000)")
    result = await grep(tool_env, "x", ripgrep=endless, output_mode="content")

    assert "found too much" in result.message
    assert len(output_lines(result)) <= 250


@pytest.mark.skipif(os.name == "nt", reason="scripts are not executable on Windows")
@pytest.mark.timeout(60)
async def test_a_canceled_search_leaves_no_process(tool_env: ToolEnv, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()
    endless = make_program(
        tmp_path,
        f"import os, time\nopen({str(pids)!r} + '/' + str(os.getpid()), 'w').close()\ntime.sleep(1000)",
    )
    tool = Grep(tool_env.path_scope, tool_env.user, ripgrep=endless)
    running = asyncio.ensure_future(tool.run(Grep.Params.model_validate({"pattern": "x"}), build_context()))
    while len(list(pids.iterdir())) < 2:
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    for entry in pids.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(entry.name), 0)


async def test_modules_in_the_searched_directory_are_never_imported(
    project: ToolEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", ".")
    project.write_file("pathspec.py", "raise SystemExit(2)  # needle\n")
    result = await grep(project, "needle", ripgrep=NO_RIPGREP)

    assert len(output_lines(result)) == 4


async def test_a_program_that_cannot_be_started_is_skipped(project: ToolEnv) -> None:
    assert len(output_lines(await grep(project, "needle", ripgrep=FixedRipgrep("/nowhere/rg")))) == 3


@pytest.mark.skipif(os.name == "nt", reason="scripts are not executable on Windows")
async def test_unreadable_files_are_reported(tool_env: ToolEnv, tmp_path: Path) -> None:
    partly = make_program(
        tmp_path,
        "import sys\nsys.stdout.write('./a.txt\\0')\n"
        "sys.exit('rg: ./closed: Permission denied (os error 13)') if 0 else None\n"
        "print('rg: ./closed: Permission denied (os error 13)', file=sys.stderr)\nsys.exit(2)",
    )
    tool_env.write_file("a.txt")
    result = await grep(tool_env, "x", ripgrep=partly)

    assert output_lines(result) == ["a.txt"]
    assert "1 path could not be read, such as rg: ./closed" in result.message


@pytest.mark.timeout(60)
async def test_a_pattern_that_backtracks_endlessly_is_stopped(tool_env: ToolEnv) -> None:
    """Endless backtracking keeps a process busy, never the event loop."""
    tool_env.write_file("a.txt", "a" * 60 + "b\n")
    tool = Grep(tool_env.path_scope, tool_env.user, seconds=3)
    turns = 0

    async def watch() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    watching = asyncio.ensure_future(watch())
    result = await tool_env.run(tool, pattern="(?=(a+)+$)(a+)+$")
    watching.cancel()
    assert "was stopped" in result.message
    assert turns > 10


class FakeProcess:
    """A program whose results are still in the pipe when the time limit is reached."""

    def __init__(self, found: bytes) -> None:
        self._found = found
        self.stdout, self.stderr = asyncio.StreamReader(), asyncio.StreamReader()
        self.returncode: int | None = None

    def kill(self) -> None:
        self.returncode = -9
        self.stdout.feed_data(self._found)
        for stream in (self.stdout, self.stderr):
            stream.feed_eof()

    async def wait(self) -> int | None:
        return self.returncode


async def test_results_in_the_pipe_are_kept_on_timeout() -> None:
    answer = await collect_output(cast("Any", FakeProcess(b"a.txt\n")), 0)
    assert (answer.output, answer.end) == (b"a.txt\n", "time")


def test_ripgrep_is_bundled() -> None:
    assert any("rg" in Path(program).name for program in find_ripgrep())

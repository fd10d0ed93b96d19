"""Grep, by ripgrep and by our own program, as a model sees it."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from kimi_tui.tools.approval import PathSubject, ToolRejected
from kimi_tui.tools.search.engine import answer_of, ripgrep_programs
from kimi_tui.tools.search.grep import Grep
from kimi_tui.wire.events import ToolReturn
from tests.clock import Clock
from tests.tools.calls import running_call
from tests.tools.desk import Desk, brief, output


@pytest.fixture(params=["ripgrep", "fallback"])
def programs(request: pytest.FixtureRequest) -> Callable[[], tuple[str, ...]]:
    return ripgrep_programs if request.param == "ripgrep" else tuple


async def grep(
    desk: Desk, pattern: str, *, programs: Callable[[], tuple[str, ...]] = ripgrep_programs, **arguments: Any
) -> ToolReturn:
    tool = Grep(desk.workspace, desk.user, programs=programs)
    return await desk.run(tool, pattern=pattern, **arguments)


def lines(result: ToolReturn) -> list[str]:
    assert not result.is_error, result.message
    return output(result).splitlines()


Programs = Callable[[], tuple[str, ...]]


async def test_the_names_of_files_are_given_newest_first(project: Desk, programs: Programs) -> None:
    for age, name in enumerate(("src/b.ts", "src/a.py", ".github/workflow.yml")):
        os.utime(project.dir / name, (10_000 - age, 10_000 - age))
    result = await grep(project, "needle", programs=programs)

    assert lines(result) == ["src/b.ts", "src/a.py", ".github/workflow.yml"]
    assert brief(result) == "3 files"


async def test_lines_are_given_with_path_and_number(project: Desk, programs: Programs) -> None:
    result = await grep(project, "needle", programs=programs, output_mode="content")

    assert lines(result) == [
        ".github/workflow.yml:1:needle: 3",
        "src/a.py:3:needle = 1",
        "src/a.py:4:print(needle)",
        "src/b.ts:1:const needle = 2",
    ]
    assert brief(result) == "4 matching lines"


async def test_line_numbers_may_be_left_out(project: Desk, programs: Programs) -> None:
    result = await grep(project, "const", programs=programs, output_mode="content", **{"-n": False})
    assert lines(result) == ["src/b.ts:const needle = 2"]


async def test_context_is_marked_and_gaps_are_shown(desk: Desk, programs: Programs) -> None:
    desk.put("a.txt", "".join(f"{number}\n" for number in range(1, 21)))
    result = await grep(desk, "^(3|12)$", programs=programs, output_mode="content", **{"-B": 1, "-A": 2})

    assert lines(result) == [
        "a.txt-2-2", "a.txt:3:3", "a.txt-4-4", "a.txt-5-5",
        "--",
        "a.txt-11-11", "a.txt:12:12", "a.txt-13-13", "a.txt-14-14",
    ]  # fmt: skip
    around = await grep(desk, "^3$", programs=programs, output_mode="content", **{"-C": 1})
    assert lines(around) == ["a.txt-2-2", "a.txt:3:3", "a.txt-4-4"]


async def test_matches_are_counted(project: Desk, programs: Programs) -> None:
    desk = project
    desk.put("src/c.py", "needle needle\nneedle\n")
    result = await grep(desk, "needle", programs=programs, output_mode="count", path="src")

    assert lines(result) == ["src/a.py:2", "src/b.ts:1", "src/c.py:3"]
    assert brief(result) == "6 matches in 3 files"


async def test_files_are_chosen_by_glob_and_by_type(project: Desk, programs: Programs) -> None:
    assert lines(await grep(project, "needle", programs=programs, glob="*.ts")) == ["src/b.ts"]
    assert lines(await grep(project, "needle", programs=programs, glob="src/*.{ts,tsx}")) == ["src/b.ts"]
    assert lines(await grep(project, "needle", programs=programs, type="py")) == ["src/a.py"]
    both = await grep(project, "needle", programs=programs, glob="*.ts *.py", path="src")
    assert sorted(lines(both)) == ["src/a.py", "src/b.ts"]
    assert sorted(lines(await grep(project, "needle", programs=programs, glob="!*.ts", path="src"))) == [
        "src/a.py"
    ]


async def test_case_may_be_ignored(project: Desk, programs: Programs) -> None:
    assert lines(await grep(project, "NEEDLE", programs=programs)) == []
    assert len(lines(await grep(project, "NEEDLE", programs=programs, **{"-i": True}))) == 3


async def test_a_pattern_may_span_lines(project: Desk, programs: Programs) -> None:
    single = await grep(project, "import.*print", programs=programs)
    several = await grep(project, "import.*print", programs=programs, multiline=True, output_mode="content")

    assert lines(single) == []
    assert lines(several) == [
        "src/a.py:1:import os",
        "src/a.py:2:",
        "src/a.py:3:needle = 1",
        "src/a.py:4:print(needle)",
    ]


async def test_a_long_result_is_given_in_pages(desk: Desk, programs: Programs) -> None:
    desk.put("a.txt", "x\n" * 600)
    first = await grep(desk, "x", programs=programs, output_mode="content")
    last = await grep(desk, "x", programs=programs, output_mode="content", offset=500)

    assert len(lines(first)) == 250
    assert "These are 1 to 250 of 600; go on with offset=250." in first.message
    assert lines(last)[0] == "a.txt:501:x"
    assert "These are 501 to 600 of 600." in last.message
    assert len(lines(await grep(desk, "x", programs=programs, output_mode="content", head_limit=0))) == 600
    beyond = await grep(desk, "x", programs=programs, output_mode="content", offset=900)
    assert "offset=900 is beyond them" in beyond.message


async def test_a_long_line_is_cut(desk: Desk, programs: Programs) -> None:
    desk.put("a.txt", "needle" + "x" * 1_000_000 + "\n")
    (line,) = lines(await grep(desk, "needle", programs=programs, output_mode="content"))

    assert line.startswith("a.txt:1:needle")
    assert len(line) < 2200


async def test_the_output_has_a_limit(desk: Desk, programs: Programs) -> None:
    desk.put("a.txt", ("y" * 1500 + "\n") * 300)
    result = await grep(desk, "y", programs=programs, output_mode="content", head_limit=0)

    assert len(output(result)) <= 100_000
    assert "output limit" in result.message
    assert f"offset={len(lines(result))}" in result.message


async def test_one_file_is_searched_though_git_ignores_it(project: Desk, programs: Programs) -> None:
    result = await grep(project, "needle", programs=programs, path="debug.log", output_mode="content")
    assert lines(result) == ["debug.log:1:needle"]


async def test_an_ignored_folder_is_searched_when_the_path_leads_there(
    project: Desk, programs: Programs
) -> None:
    assert lines(await grep(project, "needle", programs=programs, path="build")) == ["build/out.py"]


async def test_the_work_of_version_control_is_never_searched(desk: Desk, programs: Programs) -> None:
    desk.put("sub/.git/config", "needle\n")
    assert lines(await grep(desk, "needle", programs=programs)) == []


async def test_outside_of_the_work_dir_paths_are_absolute(
    desk: Desk, tmp_path: Path, programs: Programs
) -> None:
    (tmp_path / "other.txt").write_text("needle\n")
    result = await grep(desk, "needle", programs=programs, path=str(tmp_path))

    assert lines(result) == [str(tmp_path / "other.txt")]
    assert desk.user.asked == []


async def test_line_endings_are_no_part_of_lines(desk: Desk, programs: Programs) -> None:
    desk.put("a.txt", b"one\r\ntwo\r\n")
    assert lines(await grep(desk, "one$", programs=programs, output_mode="content")) == ["a.txt:1:one"]


async def test_utf16_is_searched_and_binaries_are_not(desk: Desk, programs: Programs) -> None:
    desk.put("wide.txt", "needle\n".encode("utf-16"))
    desk.put("data.bin", b"\x00needle\n")
    assert lines(await grep(desk, "needle", programs=programs, output_mode="content")) == [
        "wide.txt:1:needle"
    ]


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
async def test_names_are_bytes(desk: Desk, programs: Programs) -> None:
    desk.put(os.fsdecode(b"caf\xe9\n1.txt"), "needle\n")
    result = await grep(desk, "needle", programs=programs, output_mode="content")
    assert lines(result) == ["caf\ufffd\ufffd1.txt:1:needle"]

    by_its_shown_name = await grep(desk, "needle", programs=programs, path="caf\ufffd\ufffd1.txt")
    assert len(lines(by_its_shown_name)) == 1


async def test_bytes_that_are_no_utf8_are_replaced(desk: Desk, programs: Programs) -> None:
    desk.put("a.txt", b"caf\xe9 needle\n")
    assert lines(await grep(desk, "needle", programs=programs, output_mode="content")) == [
        "a.txt:1:caf\ufffd needle"
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pattern": "a("}, "pattern"),
        ({"pattern": "x", "type": "nonsense"}, "nonsense"),
        ({"pattern": "x", "glob": "{a"}, "glob"),
        ({"pattern": "x", "path": "missing"}, "does not exist"),
        ({"pattern": "a\x00b"}, "NUL"),
        ({"pattern": "a\ud800b"}, "half a character"),
    ],
)
async def test_a_search_that_makes_no_sense_is_a_clear_error(
    project: Desk, programs: Programs, arguments: dict[str, Any], said: str
) -> None:
    result = await grep(project, programs=programs, **arguments)

    assert result.is_error
    assert said in result.message


async def test_a_newline_in_the_pattern_says_how_to_span_lines(project: Desk) -> None:
    assert "Set multiline" in (await grep(project, "a\\nb")).message


async def test_look_around_works_though_ripgrep_has_none(project: Desk) -> None:
    result = await grep(project, "(?<=const )needle", output_mode="content")

    assert lines(result) == ["src/b.ts:1:const needle = 2"]
    assert "Python" in result.message


async def test_nothing_found_is_no_error(project: Desk, programs: Programs) -> None:
    result = await grep(project, "no such thing", programs=programs)

    assert not result.is_error
    assert "No match." in result.message
    assert "git ignores" in result.message


async def test_secrets_are_left_out_and_named(desk: Desk, programs: Programs) -> None:
    desk.put(".env", "TOKEN=needle\n")
    desk.put("keys/server.pem", "needle\n")
    desk.put(".env.example", "TOKEN=needle here\n")
    for mode in ("files_with_matches", "content", "count"):
        result = await grep(desk, "needle", programs=programs, output_mode=mode)
        assert len(lines(result)) == 1
        assert lines(result)[0].startswith(".env.example")
        assert "Not searched, since they may hold secrets: .env, keys/server.pem." in result.message


async def test_what_is_said_of_secrets_tells_nothing_of_them(desk: Desk, programs: Programs) -> None:
    desk.put(".env", "TOKEN=needle\n")
    right = await grep(desk, "TOKEN=n", programs=programs, glob=".env")
    wrong = await grep(desk, "TOKEN=m", programs=programs, glob=".env")

    assert output(right) == output(wrong) == ""
    assert right.message.split("Files")[0] == wrong.message.split("Files")[0]


async def test_a_secret_is_searched_by_name_with_consent(desk: Desk, programs: Programs) -> None:
    path = desk.put(".env", "TOKEN=needle\n")
    result = await grep(desk, "needle", programs=programs, path=".env", output_mode="content")

    assert lines(result) == [".env:1:TOKEN=needle"]
    assert desk.user.asked[0].subject == PathSubject(path, writes=False)

    desk.user.refuses = True
    with pytest.raises(ToolRejected):
        await grep(desk, "needle", programs=programs, path=".env")


@pytest.mark.skipif(os.name == "nt", reason="there are none")
@pytest.mark.timeout(60)
async def test_what_a_link_leads_to_is_as_secret_as_where_it_lies(
    desk: Desk, programs: Programs, tmp_path: Path
) -> None:
    home = tmp_path / "home" / ".aws"
    home.mkdir(parents=True)
    (home / "config").write_text("needle = 1\n")
    (home / "notes").write_text("needle = 2\n")
    (desk.dir / "link").symlink_to(home)
    result = await grep(desk, "needle", path="link", programs=programs, output_mode="content")

    assert lines(result) == ["link/notes:1:needle = 2"]
    assert desk.user.asked == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a folder is known by its path alone")
async def test_a_folder_that_is_turned_elsewhere_meanwhile_is_not_searched(
    desk: Desk, tmp_path: Path
) -> None:
    """The first program can't be started; by the next one's start the folder is another one."""
    desk.put("d/a.txt", "needle here\n")
    desk.put("elsewhere/b.txt", "needle there\n")
    turned = False

    def programs() -> tuple[str, ...]:
        nonlocal turned
        if not turned:
            turned = True
            (desk.dir / "d").rename(desk.dir / "old")
            (desk.dir / "d").symlink_to("elsewhere")
        return ripgrep_programs()

    result = await grep(desk, "needle", path="d", programs=programs, output_mode="content")
    assert lines(result) == ["d/a.txt:1:needle here"]


async def test_a_file_that_is_turned_elsewhere_meanwhile_is_not_searched(desk: Desk) -> None:
    desk.put("a.txt", "needle here\n")
    desk.put("b.txt", "needle there\n")

    for programs in (ripgrep_programs, tuple):
        desk.put("a.txt", "needle here\n")

        def turned(programs: Programs = programs) -> tuple[str, ...]:
            (desk.dir / "a.txt").unlink()
            (desk.dir / "a.txt").symlink_to("b.txt")
            return programs()

        result = await grep(desk, "needle", path="a.txt", programs=turned, output_mode="content")
        assert lines(result) == ["a.txt:1:needle here"]
        (desk.dir / "a.txt").unlink()


async def test_special_files_hold_up_nothing(desk: Desk, programs: Programs) -> None:
    os.mkfifo(desk.dir / "fifo")
    (desk.dir / "loop").symlink_to("loop")
    with (desk.dir / "huge").open("wb") as file:
        file.truncate(1 << 30)
    desk.put("a.txt", "needle\n")

    assert lines(await grep(desk, "needle", programs=programs)) == ["a.txt"]
    assert (await grep(desk, "needle", programs=programs, path="fifo")).is_error
    assert (await grep(desk, "needle", programs=programs, path="/dev/zero")).is_error
    assert (await grep(desk, "needle", programs=programs, path="loop")).is_error


def program(folder: Path, body: str) -> Programs:
    """A program in ripgrep's place."""
    path = folder / "rg"
    path.write_text(f"#!{sys.executable}\n{body}\n")
    path.chmod(0o755)
    return lambda: (str(path),)


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
@pytest.mark.timeout(60)
async def test_a_search_that_takes_too_long_gives_what_it_has(desk: Desk, tmp_path: Path) -> None:
    said = tmp_path / "said"
    said.mkdir()
    slow = program(
        tmp_path,
        "import os, sys, time\nsys.stdout.write('./a.txt\\0')\nsys.stdout.flush()\n"
        f"open({str(said)!r} + '/' + str(os.getpid()), 'w').close()\ntime.sleep(1000)",
    )
    desk.put("a.txt")
    clock = Clock()
    tool = Grep(desk.workspace, desk.user, programs=slow, seconds=200)
    running = asyncio.ensure_future(desk.run(tool, pattern="x"))
    while len(list(said.iterdir())) < 2:
        await asyncio.sleep(0.005)
    result = await clock.forward_until(running, 200)

    assert lines(result) == ["a.txt"]
    assert "was stopped" in result.message


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
@pytest.mark.timeout(60)
async def test_a_search_that_finds_too_much_is_stopped(desk: Desk, tmp_path: Path) -> None:
    endless = program(tmp_path, "while True: print('./a.txt\\0' + '1:' + 'x' * 100000)")
    result = await grep(desk, "x", programs=endless, output_mode="content")

    assert "found too much" in result.message
    assert len(lines(result)) <= 250


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
@pytest.mark.timeout(60)
async def test_a_cancelled_search_leaves_no_process(desk: Desk, tmp_path: Path) -> None:
    said = tmp_path / "pids"
    said.mkdir()
    endless = program(
        tmp_path,
        f"import os, time\nopen({str(said)!r} + '/' + str(os.getpid()), 'w').close()\ntime.sleep(1000)",
    )
    tool = Grep(desk.workspace, desk.user, programs=endless)
    running = asyncio.ensure_future(tool.run(Grep.Params.model_validate({"pattern": "x"}), running_call()))
    while len(list(said.iterdir())) < 2:
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    for entry in said.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(entry.name), 0)


async def test_modules_in_the_searched_folder_are_never_run(
    project: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", ".")
    project.put("pathspec.py", "raise SystemExit(2)  # needle\n")
    result = await grep(project, "needle", programs=tuple)

    assert len(lines(result)) == 4


async def test_a_program_that_cannot_be_started_is_passed_over(project: Desk) -> None:
    assert len(lines(await grep(project, "needle", programs=lambda: ("/nowhere/rg",)))) == 3


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
async def test_places_that_could_not_be_read_are_named(desk: Desk, tmp_path: Path) -> None:
    partly = program(
        tmp_path,
        "import sys\nsys.stdout.write('./a.txt\\0')\n"
        "sys.exit('rg: ./closed: Permission denied (os error 13)') if 0 else None\n"
        "print('rg: ./closed: Permission denied (os error 13)', file=sys.stderr)\nsys.exit(2)",
    )
    desk.put("a.txt")
    result = await grep(desk, "x", programs=partly)

    assert lines(result) == ["a.txt"]
    assert "1 place could not be read, such as rg: ./closed" in result.message


@pytest.mark.timeout(60)
async def test_a_pattern_that_never_ends_is_stopped(desk: Desk) -> None:
    """Backtracking without end keeps a process busy, never us."""
    desk.put("a.txt", "a" * 60 + "b\n")
    tool = Grep(desk.workspace, desk.user, seconds=3)
    turns = 0

    async def watch() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    watching = asyncio.ensure_future(watch())
    result = await desk.run(tool, pattern="(?=(a+)+$)(a+)+$")
    watching.cancel()
    assert "was stopped" in result.message
    assert turns > 10


class Stopped:
    """A program that has found something, which stands in its pipe still when its time is over."""

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


async def test_what_was_found_in_time_is_kept_when_the_time_is_over() -> None:
    answer = await answer_of(cast("Any", Stopped(b"a.txt\n")), 0)
    assert (answer.output, answer.end) == (b"a.txt\n", "time")


def test_ripgrep_comes_with_the_program() -> None:
    assert any("rg" in Path(program).name for program in ripgrep_programs())

"""The app ended at random moments, in every way a terminal program is: nothing lost, nothing left behind.

A few rounds belong to the suite; `make faults` runs as many as there are, several times over.
"""

import asyncio
import itertools
import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import pytest

from kimi_tui.history.context import Context
from tests.e2e.program import Program, script, tool_call
from tests.e2e.screen import Screen

ROUNDS = int(os.environ.get("KIMI_TUI_END_ROUNDS", "2"))
SEED = int(os.environ.get("KIMI_TUI_KILL_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)
PATIENCE_S = 40
LONG = "word " * 600

Ending = Literal["SIGKILL", "SIGTERM", "SIGHUP", "terminal gone"]
_ENDINGS: tuple[Ending, ...] = ("SIGTERM", "SIGHUP", "terminal gone", "SIGKILL")


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def say(screen: Screen, text: str) -> None:
    screen.type(text)
    screen.press("enter")


class Moment:
    """A moment of a session: how it comes about, and what must be true of the files whatever ends it."""

    options: tuple[str, ...] = ("--yolo",)
    scripts: tuple[str, ...] = ()
    config: str = ""

    def come(self, program: Program, screen: Screen) -> None:
        """Bring it about."""
        raise NotImplementedError

    def check(self, program: Program) -> None:
        """What holds afterwards."""


class Streaming(Moment):
    scripts = (script("chunk: 60", f"text: {LONG}"),)

    def come(self, program: Program, screen: Screen) -> None:
        say(screen, "talk")
        screen.until("word word word")


class Running(Moment):
    scripts = (script(tool_call("c1", "Bash", command="echo $$ > pid; exec sleep 300")),)

    def come(self, program: Program, screen: Screen) -> None:
        say(screen, "run it")
        wait_for(lambda: pids(program))


class Background(Moment):
    scripts = (
        script(tool_call("c1", "Bash", command="echo $$ > pid; exec sleep 300", run_in_background=True)),
        script("chunk: 60", f"text: it has begun {LONG}"),
    )

    def come(self, program: Program, screen: Screen) -> None:
        say(screen, "serve")
        screen.until("it has begun")
        wait_for(lambda: pids(program))


class Asking(Moment):
    options = ()
    scripts = (script(tool_call("c1", "Bash", command="echo done > asked")),)

    def come(self, program: Program, screen: Screen) -> None:
        say(screen, "ask me")
        screen.until("once")

    def check(self, program: Program) -> None:
        assert not (program.work_dir / "asked").exists(), "it ran without an approval"


class Compacting(Moment):
    scripts = (script("text: remember the blue door"), script("chunk: 60", f"text: {LONG}"))

    def come(self, program: Program, screen: Screen) -> None:
        say(screen, "hello")
        screen.until("remember the blue door")
        say(screen, "/compact")
        screen.until("ompact")

    def check(self, program: Program) -> None:
        assert "remember the blue door" in program.context_files[0].read_text(), "what was said is lost"


class Reverting(Moment):
    config = "[checkpoints]\nfiles = true\n"
    scripts = (
        script(tool_call("c1", "Bash", command="for n in 0 1 2 3 4 5 6 7; do echo agent > $n.txt; done")),
        script("text: all are written"),
    )

    def come(self, program: Program, screen: Screen) -> None:
        for n in range(4):
            (program.work_dir / f"{n}.txt").write_text("mine\n")
        say(screen, "write")
        screen.until("all are written")
        say(screen, "/revert 0")
        screen.until("7.txt")
        screen.press("enter")

    def check(self, program: Program) -> None:
        files = [program.work_dir / f"{n}.txt" for n in range(8)]
        found = [file.read_text() if file.exists() else "" for file in files]
        assert found in (["mine\n"] * 4 + [""] * 4, ["agent\n"] * 8), f"half a revert: {found}"


MOMENTS: tuple[Moment, ...] = (
    Reverting(),
    Asking(),
    Background(),
    Compacting(),
    Running(),
    Streaming(),
)


def pids(program: Program) -> list[int]:
    """The processes of commands, as they have written them down."""
    file = program.work_dir / "pid"
    return [int(file.read_text())] if file.exists() and file.read_text().endswith("\n") else []


def end(screen: Screen, ending: Ending) -> None:
    pid = screen.pid
    match ending:
        case "terminal gone":
            screen.vanish()
        case _:
            os.kill(pid, signal.Signals[ending])
            assert screen.exit_code() in (-signal.Signals[ending], 128 + signal.Signals[ending])
            if ending != "SIGKILL":
                screen.assert_terminal_is_restored()
    wait_for(lambda: not is_alive(pid))


def assert_conversation_is_whole(program: Program, prompt: str) -> None:
    (journal,) = program.context_files
    context = Context(journal)
    asyncio.run(context.restore())
    called = [call.id for message in context.history for call in message.tool_calls or ()]
    assert called == [message.tool_call_id for message in context.history if message.role == "tool"]
    assert prompt in journal.parent.joinpath("wire.jsonl").read_text()


@pytest.mark.timeout(1800)
def test_ended_at_any_moment_the_app_loses_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    pairs = list(itertools.product(MOMENTS, _ENDINGS))
    chance.shuffle(pairs)
    for number, (moment, ending) in enumerate(itertools.islice(itertools.cycle(pairs), ROUNDS)):
        program = Program(tmp_path / str(number))
        program.script(*moment.scripts)
        with (program.share_dir / "config.toml").open("a") as config:
            config.write(f"\n{moment.config}")
        screen = Screen(program, *moment.options, columns=110, lines=34)
        try:
            screen.until("Ask anything")
            moment.come(program, screen)
            time.sleep(chance.uniform(0, 0.4))
            end(screen, ending)
            if ending != "SIGKILL":
                assert not any(map(is_alive, pids(program))), f"an orphan (seed {SEED})"
            program.script("text: still here")
            later = program.run("--print", "--continue", "--yolo", "-p", "are you there?")
            assert (later.exit_code, later.stdout.strip()) == (0, "still here"), later.stderr
            assert not any(map(is_alive, pids(program))), f"an orphan (seed {SEED})"
            assert_conversation_is_whole(program, "are you there?")
            moment.check(program)
        except AssertionError as error:
            raise AssertionError(f"{type(moment).__name__}, {ending}, seed {SEED}: {error}") from error
        finally:
            for pid in pids(program):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            screen.close()

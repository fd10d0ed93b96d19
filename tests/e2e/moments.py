"""Moments of a session at which the program may end, and the ways in which programs end."""

import asyncio
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from kimi_tui.history.context import Context
from tests.e2e.processes import is_alive
from tests.e2e.program import Program, script, tool_call
from tests.e2e.screen import Screen
from tests.patience import PATIENCE_S

LONG = "word " * 600

Ending = Literal["SIGKILL", "SIGTERM", "SIGHUP", "terminal gone"]
ENDINGS: tuple[Ending, ...] = ("SIGTERM", "SIGHUP", "terminal gone", "SIGKILL")
PipeEnding = Literal["SIGKILL", "SIGTERM", "SIGHUP", "stdin gone", "stdout gone"]
PIPE_ENDINGS: tuple[PipeEnding, ...] = ("SIGTERM", "SIGHUP", "stdin gone", "stdout gone", "SIGKILL")


def wait_for(condition: Callable[[], object], *, told: str = "it never came to that") -> None:
    """Return when `condition` holds; an AssertionError, with what is `told`, when it takes too long."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, told
        time.sleep(0.02)


def pids(program: Program) -> list[int]:
    """The processes of commands, as they have written them down."""
    file = program.work_dir / "pid"
    return [int(file.read_text())] if file.exists() and file.read_text().endswith("\n") else []


def say(screen: Screen, text: str) -> None:
    """Type a prompt."""
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
        screen.until(lambda _: bool(pids(program)), seconds=PATIENCE_S)


class Background(Moment):
    scripts = (
        script(tool_call("c1", "Bash", command="echo $$ > pid; exec sleep 300", run_in_background=True)),
        script("chunk: 60", f"text: it has begun {LONG}"),
    )

    def come(self, program: Program, screen: Screen) -> None:
        say(screen, "serve")
        screen.until(lambda text: "it has begun" in text and bool(pids(program)), seconds=PATIENCE_S)


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


class Writing(Moment):
    """What waits for the turn's end, and what isn't sent yet."""

    scripts = Streaming.scripts

    def come(self, program: Program, screen: Screen) -> None:
        say(screen, "talk")
        screen.until("word word word")
        say(screen, "after that, paint it green")
        screen.type("and then, perhaps")
        wait_for(lambda: "perhaps" in _drafted(program))

    def check(self, program: Program) -> None:
        for text in ("after that, paint it green", "and then, perhaps"):
            assert text in _drafted(program), f"{text!r} is lost: {_drafted(program)!r}"


class Sending(Moment):
    """What was sent a moment ago."""

    scripts = (script("text: I see"),)

    def come(self, program: Program, screen: Screen) -> None:
        screen.type("remember the red door")
        wait_for(lambda: "red door" in _drafted(program))
        screen.press("enter")

    def check(self, program: Program) -> None:
        kept = _drafted(program) + "".join(file.read_text() for file in program.context_files)
        assert "remember the red door" in kept, "what was sent is lost"


def _drafted(program: Program) -> str:
    """What the drafts on disk say."""
    texts = []
    for file in program.share_dir.glob("drafts/*.json"):
        with suppress(FileNotFoundError):
            texts.append(str(json.loads(file.read_bytes())["text"]))
    return "\n".join(texts)


MOMENTS: tuple[Moment, ...] = (
    Sending(),
    Writing(),
    Reverting(),
    Asking(),
    Background(),
    Compacting(),
    Running(),
    Streaming(),
)


@dataclass(frozen=True, slots=True)
class Round:
    """One ending of the app."""

    moment: Moment
    ending: Ending
    delay_s: float
    """How long after its moment has come."""

    def __str__(self) -> str:
        return f"{type(self.moment).__name__}, {self.ending} after {self.delay_s:.3f} s"

    def play(self, program: Program) -> None:
        """Begin, end, and look at what is left. Raises AssertionError."""
        program.script(*self.moment.scripts)
        with (program.share_dir / "config.toml").open("a") as config:
            config.write(f"\n{self.moment.config}")
        screen = Screen(program, *self.moment.options, columns=110, lines=34)
        try:
            screen.until("Ask anything")
            self.moment.come(program, screen)
            time.sleep(self.delay_s)
            self._end(screen)
            if self.ending != "SIGKILL":
                _assert_no_orphan(program)
            _assert_goes_on(program)
            self.moment.check(program)
        finally:
            _end_what_is_left(program)
            screen.close()

    def _end(self, screen: Screen) -> None:
        pid = screen.pid
        match self.ending:
            case "terminal gone":
                screen.vanish()
            case ending:
                os.kill(pid, signal.Signals[ending])
                code = screen.exit_code()
                expected = (-signal.Signals[ending], 128 + signal.Signals[ending])
                assert code in expected, f"it ended with {code}"
                if ending != "SIGKILL":
                    screen.assert_terminal_is_restored()
        wait_for(lambda: not is_alive(pid))


@dataclass(frozen=True, slots=True)
class PipeRound:
    """One ending of a daemon on pipes, in the middle of a turn with talk and a command."""

    ending: PipeEnding
    delay_s: float

    def __str__(self) -> str:
        return f"a daemon, {self.ending} after {self.delay_s:.3f} s"

    def play(self, program: Program) -> None:
        """Begin, end, and look at what is left. Raises AssertionError."""
        program.script(
            script("text: first", tool_call("c1", "Bash", command="echo $$ > pid; sleep 0.2; echo out")),
            script("chunk: 2000", f"text: {LONG}"),
        )
        process = program.start("--daemon", "--yolo", stdin=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(b"work\n")
            process.stdin.flush()
            wait_for(lambda: pids(program))
            time.sleep(self.delay_s)
            match self.ending:
                case "stdin gone":
                    process.stdin.close()
                case "stdout gone":
                    process.stdout.close()
                    process.stdin.close()
                case _:
                    process.send_signal(signal.Signals[self.ending])
            process.wait(PATIENCE_S)
            if self.ending != "SIGKILL":
                _assert_no_orphan(program)
            _assert_goes_on(program)
        finally:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                with suppress(BrokenPipeError):
                    assert stream is not None
                    stream.close()
            _end_what_is_left(program)


def any_round(chance: random.Random) -> Round | PipeRound:
    """A round by chance; one of seven is a daemon's."""
    delay_s = chance.uniform(0, 0.4)
    if chance.randrange(len(MOMENTS) + 1):
        return Round(chance.choice(MOMENTS), chance.choice(ENDINGS), delay_s)
    return PipeRound(chance.choice(PIPE_ENDINGS), delay_s)


def _assert_goes_on(program: Program) -> None:
    """That the next run finds the conversation whole and goes on with it, and leaves no process behind."""
    program.script("text: still here")
    later = program.run("--print", "--continue", "--yolo", "-p", "are you there?")
    assert (later.exit_code, later.stdout.strip()) == (0, "still here"), later.stderr
    _assert_no_orphan(program)
    (journal,) = program.context_files
    context = Context(journal)
    asyncio.run(context.restore())
    called = [call.id for message in context.history for call in message.tool_calls or ()]
    assert called == [message.tool_call_id for message in context.history if message.role == "tool"]
    assert "are you there?" in journal.parent.joinpath("wire.jsonl").read_text()


def _assert_no_orphan(program: Program) -> None:
    """That no command runs on; the system ends what was killed a moment later."""
    wait_for(lambda: not any(map(is_alive, pids(program))), told="an orphan")


def _end_what_is_left(program: Program) -> None:
    for pid in pids(program):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

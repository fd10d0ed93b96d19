"""States of a session in which the program may be ended, and the ways to end it."""

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
from tests.timeouts import TEST_TIMEOUT_S

LONG = "word " * 600

Ending = Literal["SIGKILL", "SIGTERM", "SIGHUP", "terminal gone"]
ENDINGS: tuple[Ending, ...] = ("SIGTERM", "SIGHUP", "terminal gone", "SIGKILL")
PipeEnding = Literal["SIGKILL", "SIGTERM", "SIGHUP", "stdin gone", "stdout gone"]
PIPE_ENDINGS: tuple[PipeEnding, ...] = ("SIGTERM", "SIGHUP", "stdin gone", "stdout gone", "SIGKILL")


def wait_for(condition: Callable[[], object], *, message: str = "timed out") -> None:
    """Wait until `condition` is true. Raises AssertionError with `message` on a timeout."""
    deadline = time.monotonic() + TEST_TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, message
        time.sleep(0.02)


def pids(program: Program) -> list[int]:
    """Return the process ids that the commands have written to `../pid`.

    It is outside of the private view of a command, so that it appears while the command runs.
    """
    file = program.home / "pid"
    return [int(file.read_text())] if file.exists() and file.read_text().endswith("\n") else []


def type_prompt(screen: Screen, text: str) -> None:
    """Type a prompt and send it."""
    screen.type(text)
    screen.press("enter")


class Scenario:
    """A state of a session: how to reach it, and what must hold after the program has ended."""

    options: tuple[str, ...] = ("--yolo",)
    scripts: tuple[str, ...] = ()
    config: str = ""

    def reach(self, program: Program, screen: Screen) -> None:
        """Bring the session into this state."""
        raise NotImplementedError

    def check(self, program: Program) -> None:
        """Check the files after the program has ended."""


class Streaming(Scenario):
    scripts = (script("chunk: 60", f"text: {LONG}"),)

    def reach(self, program: Program, screen: Screen) -> None:
        type_prompt(screen, "talk")
        screen.wait_for("word word word")


class Running(Scenario):
    scripts = (script(tool_call("c1", "Bash", command="echo $$ > ../pid; exec sleep 300")),)

    def reach(self, program: Program, screen: Screen) -> None:
        type_prompt(screen, "run it")
        screen.wait_for(lambda _: bool(pids(program)), seconds=TEST_TIMEOUT_S)


class Background(Scenario):
    scripts = (
        script(tool_call("c1", "Bash", command="echo $$ > ../pid; exec sleep 300", run_in_background=True)),
        script("chunk: 60", f"text: it has begun {LONG}"),
    )

    def reach(self, program: Program, screen: Screen) -> None:
        type_prompt(screen, "serve")
        screen.wait_for(lambda text: "it has begun" in text and bool(pids(program)), seconds=TEST_TIMEOUT_S)


class AwaitingApproval(Scenario):
    options = ()
    scripts = (script(tool_call("c1", "Bash", command="echo done > asked")),)

    def reach(self, program: Program, screen: Screen) -> None:
        type_prompt(screen, "ask me")
        screen.wait_for("Allow Bash")

    def check(self, program: Program) -> None:
        assert not (program.work_dir / "asked").exists(), "it ran without approval"


class Compacting(Scenario):
    scripts = (script("text: remember the blue door"), script("chunk: 60", f"text: {LONG}"))

    def reach(self, program: Program, screen: Screen) -> None:
        type_prompt(screen, "hello")
        screen.wait_for("remember the blue door")
        type_prompt(screen, "/compact")
        screen.wait_for("ompact")

    def check(self, program: Program) -> None:
        assert "remember the blue door" in program.context_files[0].read_text(), "the response is lost"


class Reverting(Scenario):
    config = "[checkpoints]\nfiles = true\n"
    scripts = (
        script(tool_call("c1", "Bash", command="for n in 0 1 2 3 4 5 6 7; do echo agent > $n.txt; done")),
        script("text: all are written"),
    )

    def reach(self, program: Program, screen: Screen) -> None:
        for n in range(4):
            (program.work_dir / f"{n}.txt").write_text("mine\n")
        type_prompt(screen, "write")
        screen.wait_for("all are written")
        type_prompt(screen, "/revert 0")
        screen.wait_for("7.txt")
        screen.press("enter")

    def check(self, program: Program) -> None:
        files = [program.work_dir / f"{n}.txt" for n in range(8)]
        contents = [file.read_text() if file.exists() else "" for file in files]
        assert contents in (["mine\n"] * 4 + [""] * 4, ["agent\n"] * 8), f"partial revert: {contents}"


class Writing(Scenario):
    """A queued prompt, and a draft."""

    scripts = Streaming.scripts

    def reach(self, program: Program, screen: Screen) -> None:
        type_prompt(screen, "talk")
        screen.wait_for("word word word")
        type_prompt(screen, "after that, paint it green")
        screen.type("and then, perhaps")
        wait_for(lambda: "perhaps" in _draft_text(program))

    def check(self, program: Program) -> None:
        for text in ("after that, paint it green", "and then, perhaps"):
            assert text in _draft_text(program), f"{text!r} is lost: {_draft_text(program)!r}"


class Sending(Scenario):
    """A prompt that was just sent."""

    scripts = (script("text: I see"),)

    def reach(self, program: Program, screen: Screen) -> None:
        screen.type("remember the red door")
        wait_for(lambda: "red door" in _draft_text(program))
        screen.press("enter")

    def check(self, program: Program) -> None:
        saved = _draft_text(program) + "".join(file.read_text() for file in program.context_files)
        assert "remember the red door" in saved, "the prompt is lost"


def _draft_text(program: Program) -> str:
    """Return the text of all drafts on disk."""
    texts = []
    for file in program.data_dir.glob("drafts/*.json"):
        with suppress(FileNotFoundError):
            texts.append(str(json.loads(file.read_bytes())["text"]))
    return "\n".join(texts)


SCENARIOS: tuple[Scenario, ...] = (
    Sending(),
    Writing(),
    Reverting(),
    AwaitingApproval(),
    Background(),
    Compacting(),
    Running(),
    Streaming(),
)


@dataclass(frozen=True, slots=True)
class Round:
    """One run of the app that is ended in a scenario."""

    scenario: Scenario
    ending: Ending
    delay_s: float
    """Delay between reaching the scenario and ending the program."""

    def __str__(self) -> str:
        return f"{type(self.scenario).__name__}, {self.ending} after {self.delay_s:.3f} s"

    def run(self, program: Program) -> None:
        """Run the program, end it, and check what remains. Raises AssertionError."""
        program.script(*self.scenario.scripts)
        with (program.data_dir / "config.toml").open("a") as config:
            config.write(f"\n{self.scenario.config}")
        screen = Screen(program, *self.scenario.options, columns=110, lines=34)
        try:
            screen.wait_for("Ask anything")
            self.scenario.reach(program, screen)
            time.sleep(self.delay_s)
            self._end(screen)
            if self.ending != "SIGKILL":
                _assert_no_orphan(program)
            _assert_resumable(program)
            self.scenario.check(program)
        finally:
            _kill_leftovers(program)
            screen.close()

    def _end(self, screen: Screen) -> None:
        pid = screen.pid
        match self.ending:
            case "terminal gone":
                screen.close_terminal()
            case ending:
                os.kill(pid, signal.Signals[ending])
                code = screen.exit_code()
                expected = (-signal.Signals[ending], 128 + signal.Signals[ending])
                assert code in expected, f"exit code {code}"
                if ending != "SIGKILL":
                    screen.assert_terminal_is_restored()
        wait_for(lambda: not is_alive(pid))


@dataclass(frozen=True, slots=True)
class PipeRound:
    """One run of a daemon that is ended in the middle of a turn with text and a command."""

    ending: PipeEnding
    delay_s: float

    def __str__(self) -> str:
        return f"a daemon, {self.ending} after {self.delay_s:.3f} s"

    def run(self, program: Program) -> None:
        """Run the daemon, end it, and check what remains. Raises AssertionError."""
        program.script(
            script("text: first", tool_call("c1", "Bash", command="echo $$ > ../pid; sleep 0.2; echo out")),
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
            process.wait(TEST_TIMEOUT_S)
            if self.ending != "SIGKILL":
                _assert_no_orphan(program)
            _assert_resumable(program)
        finally:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                with suppress(BrokenPipeError):
                    assert stream is not None
                    stream.close()
            _kill_leftovers(program)


def random_round(rng: random.Random) -> Round | PipeRound:
    """Return a random round. One in nine is a daemon's."""
    delay_s = rng.uniform(0, 0.4)
    if rng.randrange(len(SCENARIOS) + 1):
        return Round(rng.choice(SCENARIOS), rng.choice(ENDINGS), delay_s)
    return PipeRound(rng.choice(PIPE_ENDINGS), delay_s)


def _assert_resumable(program: Program) -> None:
    """Assert that the next run restores the whole conversation, continues it, and leaves no process
    running.
    """
    program.script("text: still here")
    resumed = program.run("--print", "--continue", "--yolo", "-p", "are you there?")
    assert (resumed.exit_code, resumed.stdout.strip()) == (0, "still here"), resumed.stderr
    _assert_no_orphan(program)
    (journal,) = program.context_files
    context = Context(journal)
    asyncio.run(context.restore())
    called = [call.id for message in context.history for call in message.tool_calls or ()]
    assert called == [message.tool_call_id for message in context.history if message.role == "tool"]
    assert "are you there?" in journal.parent.joinpath("wire.jsonl").read_text()


def _assert_no_orphan(program: Program) -> None:
    """Assert that no command is still running. The system may take a moment to end killed processes."""
    wait_for(lambda: not any(map(is_alive, pids(program))), message="a command is still running")


def _kill_leftovers(program: Program) -> None:
    for pid in pids(program):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

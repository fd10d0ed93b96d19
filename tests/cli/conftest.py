"""Fixtures that run the real program with its own home directory, with pipes or in a terminal."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pexpect
import pytest

from tests.e2e.forked_terminal import ForkedSpawn
from tests.e2e.program import KIMI_TUI, Program
from tests.timeouts import TEST_TIMEOUT_S


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@dataclass
class Terminal:
    """Starts the program in a terminal."""

    program: Program
    started: list["pexpect.spawn[str]"] = field(default_factory=list)

    def start(self, *arguments: str, lines: int = 30, columns: int = 100, **env: str) -> "pexpect.spawn[str]":
        child: pexpect.spawn[str] = ForkedSpawn(
            KIMI_TUI,
            list(arguments),
            cwd=str(self.program.work_dir),
            env={**self.program.environment(), "TERM": "xterm-256color", **env},
            dimensions=(lines, columns),
            encoding="utf-8",
            timeout=TEST_TIMEOUT_S,
        )
        self.started.append(child)
        return child


@pytest.fixture
def terminal(program: Program) -> Iterator[Terminal]:
    terminal = Terminal(program)
    yield terminal
    for child in terminal.started:
        child.close(force=True)

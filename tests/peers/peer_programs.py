"""The two programs that the scenarios run on: kimi-tui as a client of Kimi CLI starts it, and Kimi CLI."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.program import FinishedRun, Program
from tests.timeouts import TEST_TIMEOUT_S

KIMI_CLI = "KIMI_TUI_PEER_KIMI_CLI"
"""Environment variable: path of the command `kimi` of an installed Kimi CLI."""


ACPX = "KIMI_TUI_PEER_ACPX"
"""Environment variable: path of the command `acpx`, an ACP client."""


TOAD = "KIMI_TUI_PEER_TOAD"
"""Environment variable: path of the command `toad`, an ACP client in the terminal."""


def find_kimi_cli() -> str | None:
    """Return the path of Kimi CLI's command, or None if it isn't installed for these tests."""
    return _find_peer(KIMI_CLI)


def find_acpx() -> str | None:
    """Return the path of acpx, or None if it isn't installed for these tests."""
    return _find_peer(ACPX)


def find_toad() -> str | None:
    """Return the path of Toad, or None if it isn't installed for these tests."""
    return _find_peer(TOAD)


def _find_peer(variable: str) -> str | None:
    path = os.environ.get(variable, "")
    return path if path and Path(path).is_file() else None


@dataclass(slots=True)
class KimiCliProgram(Program):
    """The real Kimi CLI, with its own home, working directory and data directory."""

    command: str = ""

    def start(self, *arguments: str, **options: Any) -> Any:
        """Start Kimi CLI. Standard output and error are pipes unless `options` say otherwise."""
        settings: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            **options,
        }
        return subprocess.Popen(
            [self.command, *arguments], cwd=self.work_dir, env=self.environment(), **settings
        )

    def run(self, *arguments: str, stdin: str | bytes = "", timeout: float = TEST_TIMEOUT_S) -> FinishedRun:
        """Run Kimi CLI until it exits."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        process = self.start(*arguments, stdin=subprocess.PIPE)
        stdout, stderr = process.communicate(data, timeout=timeout)
        return FinishedRun(process.returncode, stdout.decode(), stderr.decode())


@dataclass(slots=True)
class Peer:
    """One of the programs, for one scenario."""

    program: Program
    agent_options: tuple[str, ...] = ()
    sessions_folder: str = "sessions"
    """Where it stores sessions in its data directory."""
    closing: list[Callable[[], None]] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.program.home

    @property
    def session_folders(self) -> list[Path]:
        """The directories of all sessions."""
        files = self.program.data_dir.glob(f"{self.sessions_folder}/*/*/context.jsonl")
        return sorted(path.parent for path in files)


def peer_kimi_tui(home: Path) -> Peer:
    """Return kimi-tui, started as a client of Kimi CLI would start it."""
    return Peer(Program(home), agent_options=("--agent", "kimi"), sessions_folder="tui-sessions")


def peer_kimi_cli(home: Path, command: str) -> Peer:
    """Return the Kimi CLI at `command`."""
    return Peer(KimiCliProgram(home, command=command, env={"KIMI_CLI_NO_AUTO_UPDATE": "1"}))

"""The real program as a child process, with its own home directory."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.zygote import ForkedProcess
from tests.timeouts import TEST_TIMEOUT_S

KIMI_TUI = str(Path(sys.executable).with_name("kimi-tui"))


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """Exit code and output of a finished run."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Standard output, parsed as JSON lines."""
        return [json.loads(line) for line in self.stdout.split("\n") if line]

    @property
    def result(self) -> dict[str, Any]:
        """The result message, which is the last line."""
        last = self.lines[-1]
        assert last["type"] == "result"
        return last


@dataclass(slots=True)
class Program:
    """Runs `kimi-tui` with its own home, working directory and data directory, and a minimal environment."""

    home: Path
    env: dict[str, str] = field(default_factory=dict)
    umask: int = 0o022

    def __post_init__(self) -> None:
        self.work_dir.mkdir(parents=True, exist_ok=True)

    @property
    def work_dir(self) -> Path:
        return self.home / "work"

    @property
    def data_dir(self) -> Path:
        return self.home / "share"

    @property
    def context_files(self) -> list[Path]:
        """The context files of all sessions."""
        return sorted(self.data_dir.glob("tui-sessions/*/*/context.jsonl"))

    def configure(self, config: str) -> None:
        """Write the config file."""
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.data_dir / "config.toml").write_text(config)

    def script(self, *scripts: str) -> None:
        """Configure a scripted model that plays one of `scripts` per model call."""
        path = self.home / "scripts.json"
        path.write_text(json.dumps(scripts))
        self.configure(scripted_config(path))

    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "KIMI_SHARE_DIR": str(self.data_dir),
            "LANG": "C.UTF-8",
            **self.env,
        }

    def start(self, *arguments: str, **options: Any) -> ForkedProcess:
        """Start the program. Standard output and error are pipes unless `options` say otherwise."""
        pipe = subprocess.PIPE
        settings = {
            "stdin": subprocess.DEVNULL,
            "stdout": pipe,
            "stderr": pipe,
            "umask": self.umask,
            **options,
        }
        return ForkedProcess(arguments, cwd=self.work_dir, env=self.environment(), **settings)

    def run(self, *arguments: str, stdin: str | bytes = "", timeout: float = TEST_TIMEOUT_S) -> FinishedRun:
        """Run the program until it exits."""
        process = self.start(*arguments, stdin=subprocess.PIPE)
        data = stdin.encode() if isinstance(stdin, str) else stdin
        stdout, stderr = process.communicate(data, timeout=timeout)
        return FinishedRun(process.returncode, stdout.decode(), stderr.decode())


def scripted_config(scripts: Path, *, runs_first: bool = False) -> str:
    """Return a config file whose model plays the scripts in a file. It ends with the model's table.

    With `runs_first`, commands run before they are allowed, where the system supports it.
    """
    return f"""
        default_model = "scripted"
        [permissions]
        run_first = {json.dumps(runs_first)}
        [providers.script]
        type = "scripted"
        scripts = {json.dumps(str(scripts))}
        [models.scripted]
        provider = "script"
        model = "scripted"
        max_context_size = 100000
        """


def tool_call(call_id: str, name: str, **arguments: Any) -> str:
    """Return a script line that calls a tool."""
    return "tool_call: " + json.dumps({"id": call_id, "name": name, "arguments": json.dumps(arguments)})


def script(*lines: str) -> str:
    """Return the script of one model call."""
    return "\n".join(lines)


def toml(settings: Mapping[str, Any] | Sequence[Any] | str | float) -> str:
    """Return a TOML value. JSON's notation works for strings, numbers and arrays."""
    return json.dumps(settings)

"""Home directory of a measured program: config, working directory and generated sessions."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.sample_text import markdown

FIRST_CHECKPOINT = 1_000
"""Id of the first checkpoint in a generated session. Those of its initial prompt have lower ids."""
KIMI_TUI = str(Path(sys.executable).with_name("kimi-tui"))
ROOT = Path(__file__).parents[1]
END_MARKER = "ΨΩΞΨΩΞ"
"""End of a generated conversation: when it is shown, the history is on the screen.

No other text has these letters, because cells that don't change aren't written again.
"""


@dataclass(frozen=True, slots=True)
class Home:
    """Directories of one measured program, isolated from the rest of the environment."""

    path: Path

    @property
    def work_dir(self) -> Path:
        """The working directory."""
        return self.path / "work"

    @property
    def env(self) -> dict[str, str]:
        """The environment variables."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path),
            "KIMI_SHARE_DIR": str(self.path / "share"),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
        }

    def run(self, *command: str) -> resource.struct_rusage:
        """Run a program in the working directory. Return what it and its child processes used.

        Raises RuntimeError if it fails.
        """
        process = subprocess.Popen(
            command,
            env=self.env,
            cwd=self.work_dir,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{command[0]} ended with {process.returncode}")
        return used

    def configure(self, base_url: str) -> None:
        """Configure the model server at `base_url`."""
        share = self.path / "share"
        share.mkdir(exist_ok=True, mode=0o700)
        (share / "config.toml").write_text(
            f"""
            default_model = "m"
            [providers.p]
            type = "openai"
            base_url = "{base_url}"
            api_key = "none"
            [models.m]
            provider = "p"
            model = "m"
            max_context_size = 100000000
            """
        )

    def make_session(self, turns: int, *, checkpoints: bool = False) -> None:
        """Create a session of `turns` turns with a tool call each, to be resumed with `--continue`.

        With `checkpoints`, each turn has two. Otherwise the timeline is that of a single prompt.
        """
        subprocess.run(
            [KIMI_TUI, "--print", "-p", "hello", "--quiet"],
            env=self.env,
            cwd=self.work_dir,
            check=True,
            capture_output=True,
        )
        journal = next(self.path.glob("share/tui-sessions/*/*/context.jsonl"))
        with journal.open("a") as file:
            for line in _add_checkpoints(_turn_records(turns)) if checkpoints else _turn_records(turns):
                file.write(json.dumps(line, separators=(",", ":")) + "\n")


@contextmanager
def new_home() -> Iterator[Home]:
    """Create an empty home, which is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="kimi-tui-bench-") as folder:
        home = Home(Path(folder))
        home.work_dir.mkdir()
        yield home


@contextmanager
def serve_model(plan: Sequence[dict[str, Any]]) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Run a model server that responds according to `plan`.

    Yields its base URL and its process, which prints a line for each request.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.server", json.dumps(list(plan))],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _turn_records(count: int) -> Iterator[dict[str, Any]]:
    texts = [markdown(60, seed=seed) for seed in range(40)]
    for number in range(count):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "Bash", "arguments": '{"command": "ls"}'},
        }
        yield {"role": "user", "content": f"request {number}: please look at it"}
        yield {"role": "assistant", "content": "I look.", "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"c{number}", "content": "a.py\nb.py\nc.py\n" * 4}
        yield {"role": "assistant", "content": texts[number % len(texts)]}
    yield {"role": "user", "content": "and now?"}
    yield {"role": "assistant", "content": END_MARKER}


def _add_checkpoints(lines: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Add a checkpoint before each prompt and before the step with its tool call."""
    first = number = FIRST_CHECKPOINT
    for line in lines:
        kind = {"user": "user", "assistant": "step"}.get(line["role"])
        if kind == "user" or (kind == "step" and "tool_calls" in line):
            label = line["content"] if kind == "user" else f"step {number}"
            yield {"role": "_checkpoint", "id": number, "uid": f"made{number:016}", "kind": kind,
                   "parent": f"made{number - 1:016}" if number > first else None, "time": 1.7e9 + number,
                   "label": label, "files": "none were kept", "tokens": number}  # fmt: skip
            number += 1
        yield line

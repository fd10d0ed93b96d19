"""A home for a measured program: its config, its work dir, and sessions as long as wanted."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.words import markdown

FIRST_CHECKPOINT = 1_000
"""The number of a made session's first checkpoint: those of the prompt that made it have smaller ones."""
KIMI_TUI = str(Path(sys.executable).with_name("kimi-tui"))
ROOT = Path(__file__).parents[1]
LAST_WORDS = "ΨΩΞΨΩΞ"
"""Ends a conversation. No other text has these letters: cells that stay as they are aren't written again."""
"""What ends a made conversation: once it shows, the history is on the screen."""


@dataclass(frozen=True, slots=True)
class Home:
    """Folders of one measured program, which sees nothing else of the environment."""

    path: Path

    @property
    def work_dir(self) -> Path:
        """Where it works."""
        return self.path / "work"

    @property
    def env(self) -> dict[str, str]:
        """Its environment."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path),
            "KIMI_SHARE_DIR": str(self.path / "share"),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
        }

    def configure(self, base_url: str) -> None:
        """Let the model be the one at `base_url`."""
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
        """A session of `turns` turns with a tool call each, which `--continue` opens.

        With `checkpoints` there are two a turn; without, the timeline is as short as that of one prompt.
        """
        subprocess.run(
            [KIMI_TUI, "--print", "-p", "hello", "--quiet"],
            env=self.env,
            cwd=self.work_dir,
            check=True,
            capture_output=True,
        )
        journal = next(self.path.glob("share/sessions/*/*/context.jsonl"))
        with journal.open("a") as file:
            for line in _with_checkpoints(_turns(turns)) if checkpoints else _turns(turns):
                file.write(json.dumps(line, separators=(",", ":")) + "\n")


@contextmanager
def new_home() -> Iterator[Home]:
    """An empty home, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="kimi-tui-bench-") as folder:
        home = Home(Path(folder))
        home.work_dir.mkdir()
        yield home


@contextmanager
def model(plan: Sequence[dict[str, Any]]) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A model that answers by `plan`: its base URL, and its process, whose output has a line a request."""
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


def _turns(count: int) -> Iterator[dict[str, Any]]:
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
    yield {"role": "assistant", "content": LAST_WORDS}


def _with_checkpoints(lines: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A checkpoint before each request, and one before the step that answers it."""
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

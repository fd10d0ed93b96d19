"""Record `screenshots/tour.cast`: the demo's tour in the real program, as an asciicast (version 2).

Play it with `asciinema play screenshots/tour.cast`. Long pauses are shortened. The command of the tour runs
in a workspace without a question, so this needs Linux with bubblewrap.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pyte

CAST = Path(__file__).parents[1] / "screenshots" / "tour.cast"
COLUMNS, LINES = 100, 30
_MAX_PAUSE_S = 1.2
_KEY_DELAY_S = 0.08
_F3, _DOWN, _RIGHT, _ESCAPE = "\x1bOR", "\x1b[B", "\x1b[C", "\x1b"
STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("demo, no model", (*"tour", "\r")),
    ("Allow WriteFile", ("", "y")),
    ("Allow EditFile", ("", "y")),
    ("--help-all", (_F3,)),
    ("choose checkpoint", (_DOWN,) * 7),
    ("#0 you: tour", ("f",)),
    ("delete", ("", "\r")),
    ("Files reverted", ("", "u")),
    ("recreate", ("", "\r")),
    ("Revert undone", ("", _ESCAPE)),
    ("Ask anything", (*"/bisect ! grep -q again hello.py", "\r")),
    ("EditFile hello.py", ("", *'/attempts --prompt "write a.txt: one" --prompt "write a.txt: two"', "\r")),
    ("2 attempts", ("", *"/attempts", "\r")),
    ("adopt, with a preview", ("", _RIGHT)),
    ("1 + two", ("", "\r")),
    ("Adopt attempt 2", ("", "\r")),
    ("  adopted", ("", _ESCAPE)),
    ("Ask anything", ("\x04",)),
)
"""Text to wait for on the screen, and the keys to type then. An empty key is a pause."""


class Recording:
    """Output of the program, with the time of each chunk."""

    def __init__(self, child: "pexpect.spawn[bytes]") -> None:
        self._child = child
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        self._started_at = time.monotonic()
        self.chunks: list[tuple[float, str]] = []

    def wait_for(self, text: str, *, seconds: float = 60) -> None:
        """Read output until the screen shows `text`. Raises SystemExit after `seconds`."""
        deadline = time.monotonic() + seconds
        while not any(text in line for line in self._screen.display):
            if time.monotonic() > deadline:
                screen_text = "\n".join(self._screen.display)
                raise SystemExit(f"Timed out waiting for “{text}”. The screen:\n{screen_text}")
            self.read_output(0.1)

    def read_output(self, seconds: float) -> bool:
        """Read output for `seconds`. Return False if the program has exited."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                data = self._child.read_nonblocking(65536, timeout=0.05)
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                return False
            self._stream.feed(data)
            self.chunks.append((time.monotonic() - self._started_at, data.decode("utf-8", "replace")))
        return True

    def wait_for_exit(self, *, seconds: float = 60) -> None:
        """Read output until the program has exited. Raises SystemExit after `seconds`."""
        deadline = time.monotonic() + seconds
        while self.read_output(0.5):
            if time.monotonic() > deadline:
                screen_text = "\n".join(self._screen.display)
                raise SystemExit(f"Timed out waiting for the program to exit. The screen:\n{screen_text}")

    def type(self, keys: tuple[str, ...]) -> None:
        """Type `keys` at the pace of a person."""
        for key in keys:
            self._child.send(key)
            self.read_output(_KEY_DELAY_S if key else _MAX_PAUSE_S)


def limit_pauses(chunks: list[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """Yield the chunks with their new times: no pause is longer than `_MAX_PAUSE_S`."""
    now = previous = 0.0
    for at, text in chunks:
        now += min(at - previous, _MAX_PAUSE_S)
        previous = at
        yield round(now, 3), text


def main() -> int:
    """Record the tour."""
    with tempfile.TemporaryDirectory() as home:
        work_dir = Path(home) / "shop"
        work_dir.mkdir()
        env = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "KIMI_SHARE_DIR": f"{home}/share",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }
        program = str(Path(sys.executable).with_name("kimi-tui"))
        child: pexpect.spawn[bytes] = pexpect.spawn(
            program, ["--demo"], cwd=str(work_dir), env=env, dimensions=(LINES, COLUMNS)
        )
        recording = Recording(child)
        try:
            for text, keys in STEPS:
                recording.wait_for(text)
                recording.type(keys)
            recording.wait_for_exit()
        finally:
            child.close(force=True)
    header = {"version": 2, "width": COLUMNS, "height": LINES, "title": "kimi-tui tour"}
    lines = [header, *([at, "o", text] for at, text in limit_pauses(recording.chunks))]
    CAST.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

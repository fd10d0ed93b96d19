"""Records `screenshots/tour.cast`: the demo's tour in the real program, as an asciicast (version 2).

Play it with `asciinema play screenshots/tour.cast`. Waiting is cut to what an eye needs.
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
_LONGEST_PAUSE_S = 1.2
_BETWEEN_KEYS_S = 0.08
_F3, _DOWN = "\x1bOR", "\x1b[B"
ACTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("demo, not a model", (*"tour", "\r")),
    ("Allow WriteFile", ("", "y")),
    ("Allow EditFile", ("", "y")),
    ("Allow Bash", ("", "y")),
    ("--help-all", (_F3,)),
    ("choose a moment", (_DOWN,) * 7),
    ("#0 you: tour", ("f",)),
    ("delete", ("", "\r")),
    ("went back", (*"/undo", "\r")),
    ("recreate", ("", "\r")),
    ("undo", ("\x04",)),
)
"""What is waited for on the screen, and what is typed then; nothing for a moment to look."""


class Recording:
    """What the terminal shows, with the time of each piece."""

    def __init__(self, child: "pexpect.spawn[bytes]") -> None:
        self._child = child
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        self._began = time.monotonic()
        self.pieces: list[tuple[float, str]] = []

    def until(self, shown: str, *, seconds: float = 60) -> None:
        """Go on until the screen shows a text."""
        deadline = time.monotonic() + seconds
        while not any(shown in line for line in self._screen.display):
            if time.monotonic() > deadline:
                raise SystemExit(f"“{shown}” never came to stand on:\n" + "\n".join(self._screen.display))
            self.listen(0.1)

    def listen(self, seconds: float) -> bool:
        """Take in what comes; False when the program has ended."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                data = self._child.read_nonblocking(65536, timeout=0.05)
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                return False
            self._stream.feed(data)
            self.pieces.append((time.monotonic() - self._began, data.decode("utf-8", "replace")))
        return True

    def type(self, keys: tuple[str, ...]) -> None:
        """Type, at a hand's pace."""
        for key in keys:
            self._child.send(key)
            self.listen(_BETWEEN_KEYS_S if key else _LONGEST_PAUSE_S)


def shortened(pieces: list[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """The pieces, with no pause longer than a look takes."""
    now = before = 0.0
    for moment, text in pieces:
        now += min(moment - before, _LONGEST_PAUSE_S)
        before = moment
        yield round(now, 3), text


def main() -> int:
    """Record it."""
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
            for shown, keys in ACTS:
                recording.until(shown)
                recording.type(keys)
            while recording.listen(0.5):
                pass
        finally:
            child.close(force=True)
    head = {"version": 2, "width": COLUMNS, "height": LINES, "title": "kimi-tui: the tour"}
    lines = [head, *([moment, "o", text] for moment, text in shortened(recording.pieces))]
    CAST.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

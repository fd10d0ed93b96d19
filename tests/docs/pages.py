"""The user documentation as tests read it: its fenced examples, each below its heading."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
_FENCE = re.compile(
    r"^```(?P<language>\S*)(?: +(?P<file>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """One fenced block."""

    heading: str
    language: str
    file: str
    """Where it is to be put; empty when that doesn't matter."""
    text: str

    @property
    def toml(self) -> dict[str, Any]:
        return tomllib.loads(self.text)

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.splitlines() if line.strip()]

    def put_into(self, folder: Path) -> Path:
        """Write it where it says it belongs."""
        path = folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text)
        return path


def examples(page: str, *, language: str = "") -> list[Example]:
    """The examples of a page, in order; those of `language`, or all."""
    text = (DOCS / page).read_text("utf-8")
    headings = [(match.start(), match[1]) for match in _HEADING.finditer(text)]
    found = []
    for match in _FENCE.finditer(text):
        heading = next((name for at, name in reversed(headings) if at < match.start()), "")
        found.append(Example(heading, match["language"], match["file"] or "", match["text"]))
    return [example for example in found if not language or example.language == language]

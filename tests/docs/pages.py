"""Fenced examples of the user documentation, each with its heading."""

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
    """A fenced block."""

    heading: str
    language: str
    file: str
    """Path of the file to write it to, or an empty string."""
    text: str

    @property
    def toml(self) -> dict[str, Any]:
        return tomllib.loads(self.text)

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.splitlines() if line.strip()]

    def put_into(self, directory: Path) -> Path:
        """Write the example to its file below `directory` and return the path."""
        path = directory / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text)
        return path


def examples(page: str, *, language: str = "") -> list[Example]:
    """Return the examples of a page in order, optionally only those in one language."""
    text = (DOCS / page).read_text("utf-8")
    headings = [(match.start(), match[1]) for match in _HEADING.finditer(text)]
    blocks = []
    for match in _FENCE.finditer(text):
        heading = next((name for at, name in reversed(headings) if at < match.start()), "")
        blocks.append(Example(heading, match["language"], match["file"] or "", match["text"]))
    return [example for example in blocks if not language or example.language == language]

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

WriteFile = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> WriteFile:
    """Return a function that writes a file, and a system prompt next to each agent file."""

    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), "utf-8")
        prompt = path.parent / "system.md"
        if path.suffix == ".yaml" and not prompt.exists():
            prompt.write_text("You are a test.", "utf-8")
        return path

    return write_file

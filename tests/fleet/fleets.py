"""Fleets of the real program with scripted models."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.e2e.program import Program, script, scripted_config, tool_call

PRICE = """
max_output_tokens = 10000
[models.scripted.price]
input = 0
output = 100
"""
"""100 output tokens cost a cent."""


def write_script(name: str, content: str, *, usage: int = 100) -> tuple[str, str]:
    """Return the scripts of a task that writes a file. The prompt contains `write NAME`."""
    call = tool_call("1", "WriteFile", path=name, content=content)
    return (
        script(f"for: write {name}", f"usage: output={usage}", call),
        script(f"for: write {name}", f"usage: output={usage}", "text: Done."),
    )


class Fleet:
    """A program with a task file and a priced scripted model."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.tasks = program.work_dir / "tasks.jsonl"
        self.database = program.work_dir / "tasks.fleet.db"

    def configure(self, *scripts: str, more: str = "") -> None:
        path = self.program.home / "scripts.json"
        path.write_text(json.dumps(scripts))
        self.program.configure(scripted_config(path) + PRICE + more)

    def write(self, tasks: Sequence[dict[str, Any] | str]) -> None:
        lines = [task if isinstance(task, str) else json.dumps(task) for task in tasks]
        self.tasks.write_text("\n".join(lines) + "\n")

    def source(self, name: str = "src", **files: str) -> str:
        folder: Path = self.program.work_dir / name
        folder.mkdir(exist_ok=True)
        for file, content in files.items():
            (folder / file.replace("_", ".")).write_text(content)
        return name

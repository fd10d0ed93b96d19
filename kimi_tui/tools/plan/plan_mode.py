"""State of plan mode: whether only reading is allowed, and the one file that may be written."""

import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from kimi_tui.tools.tool import Tool

REFUSAL = (
    "Plan mode is on, so nothing may be changed yet. Use tools that only read. Shell commands run only if "
    "they can do nothing but read, such as git diff, git log, ls, grep and find without its actions, and "
    "don't write to a file."
)


class PlanMode:
    """Plan mode of one session. Sub-agents share it."""

    def __init__(self, file: Path | None = None, *, is_on: bool = False) -> None:
        """Create the state. `file` is the absolute path of the plan file; None if no plan can be written."""
        self.file = file
        self.is_on = is_on

    def refusal_reason(self, tool: Tool[Any], params: BaseModel) -> str:
        """Return why a call may not run now; empty if it may."""
        if not self.is_on or tool.is_read_only(params) or tool.discards_changes(params):
            return ""
        changed = tool.target_files(params)
        if changed and all(self._is_plan_path(name) for name in changed):
            return ""
        return f"{REFUSAL} Write the plan to {self.file}." if self.file is not None else REFUSAL

    def may_write(self, path: Path) -> bool:
        """Return whether `path` (absolute, links resolved) is the plan file and plan mode is on."""
        return self.is_on and self.file is not None and path == _real_location(self.file)

    def _is_plan_path(self, name: str) -> bool:
        path = os.path.expanduser(name)  # noqa: PTH111
        try:
            return self.may_write(Path(os.path.realpath(path))) if os.path.isabs(path) else False  # noqa: PTH117
        except ValueError:  # a NUL character
            return False


def _real_location(file: Path) -> Path:
    """Return the location of `file` itself: if it is a link, not that of its target."""
    return Path(os.path.realpath(file.parent)) / file.name

"""Plan mode as a state: whether only reading is allowed for now, and the one file that may be written."""

import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from kimi_tui.tools.tool import Tool

REFUSED = (
    "Plan mode is on, so nothing may change yet. Go on with tools that only read. Of shell commands only "
    "those run that can do nothing but read, such as git diff, git log, ls, grep and find without its "
    "actions, and they must not write to a file."
)


class PlanMode:
    """One for a session: whoever shares it, such as a sub-agent, is held to it too."""

    def __init__(self, file: Path | None = None, *, is_on: bool = False) -> None:
        """`file` is where the plan is kept, absolute; None where no plan can be."""
        self.file = file
        self.is_on = is_on

    def refusal(self, tool: Tool[Any], params: BaseModel) -> str:
        """Why a call may not run now; empty when it may."""
        if not self.is_on or tool.only_reads(params):
            return ""
        changed = tool.changed_files(params)
        if changed and all(self._names_plan(name) for name in changed):
            return ""
        return f"{REFUSED} The plan itself goes into {self.file}." if self.file is not None else REFUSED

    def may_write(self, path: Path) -> bool:
        """Whether `path`, absolute with links resolved, is the plan's file while there is a plan to write."""
        return self.is_on and self.file is not None and path == _place(self.file)

    def _names_plan(self, name: str) -> bool:
        path = os.path.expanduser(name)  # noqa: PTH111
        try:
            return self.may_write(Path(os.path.realpath(path))) if os.path.isabs(path) else False  # noqa: PTH117
        except ValueError:  # a NUL
            return False


def _place(file: Path) -> Path:
    """Where `file` itself lies: not where it leads to, should it be a link."""
    return Path(os.path.realpath(file.parent)) / file.name

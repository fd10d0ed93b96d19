"""LS: what is in a folder, as a tree."""

import asyncio

from pydantic import Field

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.search.pattern import BadPattern, glob_regex
from kimi_tui.tools.search.tree import LeftOut, read_tree
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed, ok
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.events import ToolReturn


class LSParams(ToolParams):
    """What to list."""

    path: str = Field(".", description="The folder: relative to the work dir, or absolute.")
    ignore: list[str] = Field([], description="Patterns of names or paths to leave out, such as `*.pyc`.")
    depth: int = Field(1, ge=1, le=20, description="How many levels of folders to show.")


class LS(Tool[LSParams]):
    """Lists folders."""

    name = "LS"
    Params = LSParams

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def run(self, params: LSParams, call: RunningCall) -> ToolReturn:
        """The tree: folders first, files with their sizes."""
        try:
            folder = self._workspace.locate(params.path)
            left_out = [_left_out(text) for text in params.ignore]
            root, n_entries = await asyncio.to_thread(read_tree, folder, params.depth, left_out)
        except FileProblem as problem:
            return failed(str(problem), brief=problem.what)
        found = f"{n_entries} {'entry' if n_entries == 1 else 'entries'}"
        more = " There are more: list a folder further down." if root.is_incomplete else ""
        output = "".join(f"{line}\n" for line in root.lines())
        return ok(output, message=f"{folder.shown}: {found}.{more}", brief=found)


def _left_out(text: str) -> LeftOut:
    pattern = text.strip("/")
    try:
        return LeftOut(glob_regex(pattern), is_of_paths="/" in pattern)
    except BadPattern as error:
        raise FileProblem(f"The pattern {text} can't be understood: {error}.", hint="Correct it.") from error

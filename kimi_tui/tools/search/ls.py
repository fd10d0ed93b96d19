"""LS: lists a directory as a tree."""

import asyncio

from pydantic import Field

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.message_text import msg_n
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.file.secret_consent import require_folder_consent
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.search.directory_tree import IgnorePattern, read_tree
from kimi_tui.tools.search.glob_pattern import InvalidPattern, compile_glob
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure, success
from kimi_tui.wire.events import ToolReturn


class LSParams(ToolParams):
    """Parameters of LS."""

    path: str = Field(".", description="The directory: relative to the working directory, or absolute.")
    ignore: list[str] = Field([], description="Patterns of names or paths to leave out, such as `*.pyc`.")
    depth: int = Field(1, ge=1, le=20, description="How many levels to show.")


class LS(Tool[LSParams]):
    """Lists directories."""

    name = "LS"
    Params = LSParams

    def __init__(self, path_scope: PathScope, approval: Approval) -> None:
        self._path_scope = path_scope
        self._approval = approval

    async def run(self, params: LSParams, call: CallContext) -> ToolReturn:
        """Return the tree: directories first, files with their sizes."""
        try:
            folder = self._path_scope.locate(params.path)
            await require_folder_consent(folder, call, self._approval)
            omitted = [_parse_ignore_pattern(text) for text in params.ignore]
            root, n_entries = await asyncio.to_thread(
                read_tree, folder, params.depth, omitted, scope=self._path_scope
            )
        except FileProblem as problem:
            return failure(str(problem), brief=problem.what)
        summary = msg_n("{count} entry", "{count} entries", n_entries)
        more = " There are more: list a subdirectory." if root.is_incomplete else ""
        output = "".join(f"{line}\n" for line in root.format_lines())
        return success(output, message=f"{folder.display_path}: {summary}.{more}", brief=summary)


def _parse_ignore_pattern(text: str) -> IgnorePattern:
    pattern = text.strip("/")
    try:
        return IgnorePattern(compile_glob(pattern), matches_paths="/" in pattern)
    except InvalidPattern as error:
        raise FileProblem(f"The pattern {text} is invalid: {error}.", hint="Correct it.") from error

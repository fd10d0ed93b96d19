"""A working directory with the file tools, and a user who answers immediately or when told to."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kimi_tui.base.content_parts import text_of
from kimi_tui.permission.subject import Subject
from kimi_tui.tools.approval import ToolRejected
from kimi_tui.tools.file.edit import EditFile
from kimi_tui.tools.file.line_reader import ReadLimits
from kimi_tui.tools.file.read import ReadFile
from kimi_tui.tools.file.read_tracker import FileTracker
from kimi_tui.tools.file.write import WriteFile
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.tool import CallContext, Tool
from kimi_tui.wire.display_blocks import BriefBlock, DiffBlock, DisplayBlock
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Proposal
from tests.tools.call_context import CallLog, build_context


@dataclass(frozen=True)
class RecordedRequest:
    action: str
    description: str
    subject: Subject
    display: tuple[DisplayBlock, ...]
    proposal: Proposal | None = None


class FakeUser:
    """Approves unless told otherwise. `on_request` is called before the answer."""

    def __init__(self) -> None:
        self.requests: list[RecordedRequest] = []
        self.rejects = False
        self.edited_text: str | None = None
        """Text to which the user edits proposals."""
        self.on_request: Callable[[], object] = lambda: None
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.unreadable: set[Path] = set()

    def may_read(self, path: Path, *, within: Path | None = None) -> bool:
        return path not in self.unreadable

    async def request(
        self,
        call: CallContext,
        *,
        action: str,
        description: str,
        subject: Subject,
        display: tuple[DisplayBlock, ...] = (),
        proposal: Proposal | None = None,
    ) -> str | None:
        self.requests.append(RecordedRequest(action, description, subject, display, proposal))
        self.on_request()
        await self.may_answer.wait()
        if self.rejects:
            raise ToolRejected
        return self.edited_text

    @property
    def actions(self) -> list[str]:
        return [request.action for request in self.requests]


class ToolEnv:
    """The file tools for one working directory."""

    def __init__(self, work_dir: Path, *additional_dirs: Path, limits: ReadLimits = ReadLimits()) -> None:
        self.dir = work_dir
        self.user = FakeUser()
        self.log = CallLog()
        self.path_scope = PathScope(work_dir, additional_dirs)
        self.tracker = FileTracker()
        self.read_tool = ReadFile(self.path_scope, self.tracker, self.user, limits=limits)
        self.write_tool = WriteFile(self.path_scope, self.tracker, self.user)
        self.edit_tool = EditFile(self.path_scope, self.tracker, self.user)

    def write_file(self, name: str, content: str | bytes = "") -> Path:
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def read_bytes(self, name: str) -> bytes:
        return (self.dir / name).read_bytes()

    async def run(self, tool: Tool[Any], **arguments: Any) -> ToolReturn:
        params = tool.Params.model_validate(arguments)
        return await tool.run(params, build_context(self.log, tool_name=tool.name))

    async def read(self, path: str, **arguments: Any) -> ToolReturn:
        return await self.run(self.read_tool, path=path, **arguments)

    async def write(self, path: str, content: str, **arguments: Any) -> ToolReturn:
        return await self.run(self.write_tool, path=path, content=content, **arguments)

    async def edit(self, path: str, old: str, new: str, **arguments: Any) -> ToolReturn:
        return await self.run(self.edit_tool, path=path, edit={"old": old, "new": new, **arguments})

    async def edits(self, path: str, *edits: tuple[str, str]) -> ToolReturn:
        return await self.run(
            self.edit_tool, path=path, edits=[{"old": old, "new": new} for old, new in edits]
        )


def output_text(result: ToolReturn) -> str:
    return text_of(result.output)


def brief_text(result: ToolReturn) -> str:
    return next((block.text for block in result.display if isinstance(block, BriefBlock)), "")


def diff_blocks(display: tuple[DisplayBlock, ...]) -> list[DiffBlock]:
    return [block for block in display if isinstance(block, DiffBlock)]

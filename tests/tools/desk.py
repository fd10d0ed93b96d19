"""A work dir with the tools that use it, and a user who answers at once or when told to."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kimi_tui.base.content import text_of
from kimi_tui.tools.approval import Subject, ToolRejected
from kimi_tui.tools.file.edit import EditFile
from kimi_tui.tools.file.ledger import FileLedger
from kimi_tui.tools.file.lines import Limits
from kimi_tui.tools.file.read import ReadFile
from kimi_tui.tools.file.write import WriteFile
from kimi_tui.tools.tool import RunningCall, Tool
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.display import BriefBlock, DiffBlock, DisplayBlock
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Proposal
from tests.tools.calls import CallLog, running_call


@dataclass(frozen=True)
class Asked:
    action: str
    description: str
    subject: Subject
    display: tuple[DisplayBlock, ...]
    proposal: Proposal | None = None


class User:
    """Consents, unless told otherwise; `while_asked` happens before the answer."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.refuses = False
        self.edits: str | None = None
        """What the user makes of what is proposed."""
        self.while_asked: Callable[[], object] = lambda: None
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.kept_from_reading: set[Path] = set()

    def may_read(self, path: Path) -> bool:
        return path not in self.kept_from_reading

    async def request(
        self,
        call: RunningCall,
        *,
        action: str,
        description: str,
        subject: Subject,
        display: tuple[DisplayBlock, ...] = (),
        proposal: Proposal | None = None,
    ) -> str | None:
        self.asked.append(Asked(action, description, subject, display, proposal))
        self.while_asked()
        await self.may_answer.wait()
        if self.refuses:
            raise ToolRejected
        return self.edits

    @property
    def actions(self) -> list[str]:
        return [asked.action for asked in self.asked]


class Desk:
    """The tools over one work dir."""

    def __init__(self, work_dir: Path, *additional_dirs: Path, limits: Limits = Limits()) -> None:
        self.dir = work_dir
        self.user = User()
        self.log = CallLog()
        self.workspace = Workspace(work_dir, additional_dirs)
        self.ledger = FileLedger()
        self.read_tool = ReadFile(self.workspace, self.ledger, self.user, limits=limits)
        self.write_tool = WriteFile(self.workspace, self.ledger, self.user)
        self.edit_tool = EditFile(self.workspace, self.ledger, self.user)

    def put(self, name: str, content: str | bytes = "") -> Path:
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def bytes_of(self, name: str) -> bytes:
        return (self.dir / name).read_bytes()

    async def run(self, tool: Tool[Any], **arguments: Any) -> ToolReturn:
        params = tool.Params.model_validate(arguments)
        return await tool.run(params, running_call(self.log, tool_name=tool.name))

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


def output(result: ToolReturn) -> str:
    return text_of(result.output)


def brief(result: ToolReturn) -> str:
    return next((block.text for block in result.display if isinstance(block, BriefBlock)), "")


def hunks(display: tuple[DisplayBlock, ...]) -> list[DiffBlock]:
    return [block for block in display if isinstance(block, DiffBlock)]

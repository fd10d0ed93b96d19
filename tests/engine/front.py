"""A front end that acts by commands and looks at events, and the home of its sessions."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from kimi_tui.base.content import UserInput
from kimi_tui.config.settings import Model, ModelPrice, Provider, Settings
from kimi_tui.engine.build import open_engine
from kimi_tui.engine.opened import OpenedSession, open_session
from kimi_tui.engine.options import EngineOptions
from kimi_tui.history.context import Context
from kimi_tui.history.conversation import sendable
from kimi_tui.wire.channel import Outgoing, Subscription, Wire
from kimi_tui.wire.commands import Command, Prompt, Shutdown
from kimi_tui.wire.events import (
    ApprovalAnswer,
    ApprovalResponse,
    Notification,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    SessionInfo,
    StatusUpdate,
    ToolResult,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest
from tests.engine.promises import assert_promises_are_kept
from tests.patience import PATIENCE_S

E = TypeVar("E")


class Front:
    """Watches everything that an engine sends."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.events: list[Any] = []
        self._subscription: Subscription = self.wire.subscribe()
        self._seen = 0

    def give(self, command: Command) -> None:
        self.wire.command(command)

    async def until(self, kind: type[E], *, where: Callable[[E], bool] = lambda _: True) -> E:
        """The next event of `kind` that was not waited for yet."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                while self._seen < len(self.events):
                    event = self.events[self._seen]
                    self._seen += 1
                    if isinstance(event, kind) and where(event):
                        return event
                batch = await self._subscription.drain()
                assert batch, f"the Wire was closed before a {kind.__name__} came"
                self.events += batch

    async def turn(self, user_input: UserInput) -> TurnEnd:
        """Say something and wait until its turn has ended."""
        self.give(Prompt(user_input))
        return await self.until(TurnEnd)

    async def asked(self) -> ApprovalRequest:
        """The next request for approval."""
        return await self.until(ApprovalRequest)

    def answer(self, request: ApprovalRequest, response: ApprovalAnswer, feedback: str = "") -> bool:
        return self.wire.answer(ApprovalResponse(request.id, response, feedback))

    def open_requests(self) -> list[ApprovalRequest]:
        """The requests that wait for an answer."""
        self.events += self._subscription.take()
        closed = {event.request_id for event in self.of(ApprovalResponse, RequestClosed)}
        return [request for request in self.of(ApprovalRequest) if request.id not in closed]

    async def told(self) -> Notification:
        """The next notification."""
        return await self.until(Notification)

    async def to_the_end(self) -> None:
        """Take in what is left once the Wire has closed."""
        while batch := await self._subscription.drain():
            self.events += batch

    def of(self, *kinds: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kinds)]

    def names(self, *, since: type | None = None) -> list[str]:
        """The kinds of what was sent, after the last of kind `since`."""
        names = [type(event).__name__ for event in self.events]
        if since is not None:
            last = max(index for index, event in enumerate(self.events) if isinstance(event, since))
            names = names[last + 1 :]
        return names

    @property
    def replay(self) -> list[Outgoing]:
        """What stands between ReplayBegin and ReplayEnd."""
        begin = next(index for index, event in enumerate(self.events) if isinstance(event, ReplayBegin))
        end = next(index for index, event in enumerate(self.events) if isinstance(event, ReplayEnd))
        return self.events[begin + 1 : end]

    @property
    def results(self) -> dict[str, ToolResult]:
        return {event.tool_call_id: event for event in self.events if isinstance(event, ToolResult)}


@dataclass
class Home:
    """A work dir, a share dir, and settings with a scripted model."""

    path: Path
    permissions: dict[str, Any] = field(default_factory=dict)
    price: ModelPrice | None = None
    capabilities: frozenset[Any] | None = None
    scripts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.work_dir.mkdir()

    @property
    def work_dir(self) -> Path:
        return self.path / "work"

    @property
    def share_dir(self) -> Path:
        return self.path / "share"

    @property
    def session_dirs(self) -> list[Path]:
        return [file.parent for file in self.share_dir.glob("sessions/*/*/*.json*") if file.parent.is_dir()]

    @property
    def session_dir(self) -> Path:
        (only,) = set(self.session_dirs)
        return only

    @property
    def journal(self) -> str:
        return (self.session_dir / "context.jsonl").read_text()

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads((self.session_dir / "state.json").read_text())
        return state

    def file(self, name: str) -> Path:
        return self.work_dir / name

    def script(self, *scripts: str) -> None:
        """What the model plays from the next opening on."""
        self.scripts = list(scripts)

    def settings(self, **more: Any) -> Settings:
        path = self.path / "scripts.json"
        path.write_text(json.dumps(self.scripts))
        model = Model(
            provider="script",
            model="m",
            max_context_size=200_000,
            price=self.price,
            capabilities=self.capabilities,
        )
        return Settings.model_validate(
            {
                "default_model": "scripted",
                "providers": {"script": Provider(type="scripted", scripts=str(path))},
                "models": {"scripted": model},
                "permissions": self.permissions,
                **more,
            }
        )

    @asynccontextmanager
    async def opened(
        self,
        *,
        settings: Settings | None = None,
        shown_first: Callable[[OpenedSession], Awaitable[object]] | None = None,
        **options: Any,
    ) -> AsyncIterator[Front]:
        """A front end with an engine, which is shut down at the end.

        With `shown_first` the session is shown before there is an engine, and may be changed in between.
        """
        front = Front()
        asked = EngineOptions(
            settings=settings or self.settings(),
            share_dir=self.share_dir,
            work_dir=self.work_dir,
            home_dir=self.path / "home",
            **options,
        )
        session: OpenedSession | None = None
        if shown_first is not None:
            session = await open_session(asked.wanted)
            await session.show(front.wire.send)
            await shown_first(session)
        engine = await open_engine(front.wire, asked, session)
        serving = asyncio.ensure_future(engine.serve())
        try:
            await front.until(StatusUpdate)  # the last of the introduction
            yield front
        finally:
            front.give(Shutdown())
            async with asyncio.timeout(PATIENCE_S):
                await serving
                await front.to_the_end()
        assert_promises_are_kept(front.events)
        await assert_journal_can_be_sent(front)


async def assert_journal_can_be_sent(front: Front) -> None:
    """Fail unless the journal is whole, and each call in it has its result."""
    journal = Path(front.of(SessionInfo)[0].recording).with_name("context.jsonl")
    context = Context(journal)
    await context.restore()
    assert not context.repairs
    assert list(context.history) == sendable(context.history)


def script(*lines: str) -> str:
    """A script of one model call."""
    return "\n".join(lines)


def call(call_id: str, name: str, **arguments: Any) -> str:
    """A script's line that calls a tool."""
    return "tool_call: " + json.dumps({"id": call_id, "name": name, "arguments": arguments})


def write(call_id: str, path: str, content: str = "text\n") -> str:
    return call(call_id, "WriteFile", path=path, content=content)


def bash(call_id: str, command: str) -> str:
    return call(call_id, "Bash", command=command)


def kinds(events: Sequence[Outgoing]) -> list[str]:
    return [type(event).__name__ for event in events]

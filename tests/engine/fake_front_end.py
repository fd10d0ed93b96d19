"""Front end that sends commands and collects events, and an environment for its sessions."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from kimi_tui.base.content_parts import UserInput
from kimi_tui.config.project_trust import ProjectTrust
from kimi_tui.config.settings import ModelPrice, ModelSettings, ProviderConfig, Settings
from kimi_tui.engine.build.engine import build_engine
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.session.open import OpenedSession, open_session
from kimi_tui.history.context import Context
from kimi_tui.history.message_history import complete_tool_results
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
from tests.engine.event_order import assert_event_order
from tests.timeouts import TEST_TIMEOUT_S

E = TypeVar("E")


class FakeFrontEnd:
    """Collects all events of an engine."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.events: list[Any] = []
        self._subscription: Subscription = self.wire.subscribe()
        self._seen = 0

    def send(self, command: Command) -> None:
        self.wire.command(command)

    async def wait_for(self, kind: type[E], *, where: Callable[[E], bool] = lambda _: True) -> E:
        """Return the next event of type `kind` that earlier calls didn't return."""
        async with asyncio.timeout(TEST_TIMEOUT_S):
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
        """Send a prompt and wait until its turn has ended."""
        self.send(Prompt(user_input))
        return await self.wait_for(TurnEnd)

    async def next_approval_request(self) -> ApprovalRequest:
        """Return the next permission request."""
        return await self.wait_for(ApprovalRequest)

    def answer(self, request: ApprovalRequest, response: ApprovalAnswer, feedback: str = "") -> bool:
        return self.wire.answer(ApprovalResponse(request.id, response, feedback))

    def open_requests(self) -> list[ApprovalRequest]:
        """Return the permission requests that are awaiting an answer."""
        self.events += self._subscription.pop_pending()
        closed = {event.request_id for event in self.of(ApprovalResponse, RequestClosed)}
        return [request for request in self.of(ApprovalRequest) if request.id not in closed]

    async def next_notification(self) -> Notification:
        """Return the next notification."""
        return await self.wait_for(Notification)

    async def drain(self) -> None:
        """Collect the remaining events after the Wire has closed."""
        while batch := await self._subscription.drain():
            self.events += batch

    def of(self, *kinds: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kinds)]

    def names(self, *, since: type | None = None) -> list[str]:
        """Return the type names of the events, or of those after the last event of type `since`."""
        names = [type(event).__name__ for event in self.events]
        if since is not None:
            last = max(index for index, event in enumerate(self.events) if isinstance(event, since))
            names = names[last + 1 :]
        return names

    @property
    def replay(self) -> list[Outgoing]:
        """Events between ReplayBegin and ReplayEnd."""
        begin = next(index for index, event in enumerate(self.events) if isinstance(event, ReplayBegin))
        end = next(index for index, event in enumerate(self.events) if isinstance(event, ReplayEnd))
        return self.events[begin + 1 : end]

    @property
    def results(self) -> dict[str, ToolResult]:
        return {event.tool_call_id: event for event in self.events if isinstance(event, ToolResult)}


@dataclass
class SessionEnv:
    """A working directory, a data directory, and settings with a scripted model."""

    path: Path
    permissions: dict[str, Any] = field(default_factory=dict)
    runs_first: bool = False
    """Whether commands run before they are allowed, where the system supports it."""
    price: ModelPrice | None = None
    capabilities: frozenset[Any] | None = None
    scripts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.work_dir.mkdir()

    @property
    def work_dir(self) -> Path:
        return self.path / "work"

    @property
    def data_dir(self) -> Path:
        return self.path / "share"

    @property
    def session_dirs(self) -> list[Path]:
        return [
            file.parent for file in self.data_dir.glob("tui-sessions/*/*/*.json*") if file.parent.is_dir()
        ]

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
        """Set the model's scripts for sessions that are opened from now on."""
        self.scripts = list(scripts)

    def settings(self, **more: Any) -> Settings:
        path = self.path / "scripts.json"
        path.write_text(json.dumps(self.scripts))
        model = ModelSettings(
            provider="script",
            model="m",
            max_context_size=200_000,
            price=self.price,
            capabilities=self.capabilities,
        )
        return Settings.model_validate(
            {
                "default_model": "scripted",
                "providers": {"script": ProviderConfig(type="scripted", scripts=str(path))},
                "models": {"scripted": model},
                "permissions": {"run_first": self.runs_first, **self.permissions},
                **more,
            }
        )

    def trust_project(self, settings: Settings) -> None:
        """Trust the project's files with their current content."""
        trust = ProjectTrust(self.data_dir)
        reviewed = trust.review(
            self.work_dir, home=self.path / "home", extra_skill_dirs=settings.extra_skill_dirs
        )
        if reviewed:
            self.data_dir.mkdir(exist_ok=True)
            trust.decide((each.file for each in reviewed), trusted=True)

    @asynccontextmanager
    async def open_session(
        self,
        *,
        settings: Settings | None = None,
        before_engine: Callable[[OpenedSession], Awaitable[object]] | None = None,
        trusts_project: bool = True,
        early_command: Command | None = None,
        **options: Any,
    ) -> AsyncIterator[FakeFrontEnd]:
        """Start an engine and yield its front end. Shut the engine down on exit.

        `before_engine` is called with the session after its replay and before the engine is built.
        `early_command` is sent before the engine starts.
        """
        front = FakeFrontEnd()
        if early_command is not None:
            front.send(early_command)
        engine_options = EngineOptions(
            settings=settings or self.settings(),
            data_dir=self.data_dir,
            work_dir=self.work_dir,
            home_dir=self.path / "home",
            **options,
        )
        if trusts_project:
            self.trust_project(engine_options.settings)
        session: OpenedSession | None = None
        if before_engine is not None:
            session = await open_session(engine_options.session_selector)
            await session.send_replay(front.wire.send)
            await before_engine(session)
        engine = await build_engine(front.wire, engine_options, session)
        serving = asyncio.ensure_future(engine.serve())
        try:
            await front.wait_for(StatusUpdate)  # the last event of the initial state
            yield front
        finally:
            front.send(Shutdown())
            async with asyncio.timeout(TEST_TIMEOUT_S):
                await serving
                await front.drain()
        assert_event_order(front.events)
        await assert_journal_is_valid(front)


async def assert_journal_is_valid(front: FakeFrontEnd) -> None:
    """Assert that the journal is undamaged and that each tool call has a result."""
    journal = Path(front.of(SessionInfo)[0].recording).with_name("context.jsonl")
    context = Context(journal)
    await context.restore()
    assert not context.repairs
    assert list(context.history) == complete_tool_results(context.history)


def script(*lines: str) -> str:
    """Return the script of one model call."""
    return "\n".join(lines)


def call(call_id: str, name: str, /, **arguments: Any) -> str:
    """Return a script line that calls a tool."""
    return "tool_call: " + json.dumps({"id": call_id, "name": name, "arguments": arguments})


def write(call_id: str, path: str, content: str = "text\n") -> str:
    return call(call_id, "WriteFile", path=path, content=content)


def bash(call_id: str, command: str) -> str:
    return call(call_id, "Bash", command=command)


def kinds(events: Sequence[Outgoing]) -> list[str]:
    return [type(event).__name__ for event in events]

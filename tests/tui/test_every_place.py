"""Every pane and dialog: walks through the app, on small and large screens, a picture at each place.

The pictures were looked at before they were committed; `pytest --snapshot-update` on this file
takes them anew.
"""

import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from pytest_textual_snapshot import SVGImageExtension

from kimi_tui.base.message import FunctionCall
from kimi_tui.language.saying import speak
from kimi_tui.tui.app import KimiTuiApp
from kimi_tui.tui.options import ThemeChoice, TuiOptions
from kimi_tui.tui.prompt.prompt import Prompt
from kimi_tui.tui.screen import MainScreen
from kimi_tui.wire.agents import AgentList, ListedAgent, ListedSubagent
from kimi_tui.wire.background import BackgroundTask, TasksUpdate, TaskText
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.codec import envelope
from kimi_tui.wire.commands import (
    Compare,
    ListSessions,
    LookIntoBranch,
    PlanRevert,
    PreviewSession,
    ReadTask,
    RunSlash,
    ShowTimeline,
)
from kimi_tui.wire.events import (
    BtwBegin,
    BtwEnd,
    RequestClosed,
    StatusUpdate,
    StepBegin,
    ToolCall,
    TurnBegin,
)
from kimi_tui.wire.mcp import McpServerStatus, McpStatus
from kimi_tui.wire.sessions import ListedSession, SaidWords, SessionList, SessionPreview
from kimi_tui.wire.settings import ListSettings, Setting, SettingsList
from kimi_tui.wire.setup import LocalModel, LocalServer, LookForModels, ModelService, ModelSources
from kimi_tui.wire.timeline import BranchContent
from tests.tui.conftest import SESSION, FakeClipboard, FakeClock
from tests.tui.hand import Hand
from tests.tui.test_looks import (
    CREATED,
    DANGER,
    EDIT,
    LATER,
    QUESTION,
    STATUS,
    WIDE_EDIT,
    pressed,
    settled,
    taken_in,
)
from tests.tui.timeline.story import COMPARISON, NOW, PLAN, TALK, TIMELINE


@dataclass(frozen=True, slots=True)
class Walk:
    """How the app looks on a walk."""

    language: Literal["en", "zh"]
    theme: ThemeChoice
    size: tuple[int, int]

    @property
    def name(self) -> str:
        """What its pictures are found by."""
        return f"{self.size[0]}x{self.size[1]}-{self.theme}-{self.language}"


WALKS = (
    Walk("en", "dark", (200, 60)),
    Walk("zh", "light", (80, 24)),
    Walk("zh", "dark", (120, 40)),
)
SERVER = BackgroundTask("bash-1", "bash", "the server", command="npm start", started=NOW - 75)
SEARCH = BackgroundTask("agent-2", "agent", "寻找登录表单", started=NOW - 20, activity="Grep login")
BUILD = BackgroundTask(
    "bash-3", "bash", "the build", "make", "failed", started=NOW - 600, ended=NOW - 568, outcome="exit code 2"
)
SERVERS = (
    McpServerStatus(
        name="github",
        status="connected",
        tools=("search_code", "search_issues", "get_issue", "create_issue", "add_comment", "merge"),
        transport="http",
        target="https://mcp.github.com",
        title="GitHub 2.0",
        prompts=("mcp:github:triage",),
    ),
    McpServerStatus(
        name="笔记",
        status="failed",
        error="The program notes is not there. Install it, or write its whole path.",
        transport="stdio",
        target="notes --all",
    ),
)
SETTINGS = (
    Setting("default_model", "", "text", "The model.", "通义千问", "", "user", "/home/me/config.toml"),
    Setting("theme", "", "choice", "The colours.", "auto", "auto", choices=("auto", "dark", "light")),
    Setting("providers.p.api_key", "providers.p", "secret", "Key.", "set", "", "environment", "E"),
    Setting(
        "loop_control.max_steps_per_turn",
        "loop_control",
        "integer",
        "Model calls in one turn.",
        "50",
        "1000",
        "project",
        "/work/shop/.kimi-tui/config.toml",
    ),
)
MODELS = replace(SESSION, models=("kimi-k2", "通义千问:8b"))
ANSWERS: Mapping[type, Outgoing] = {
    ShowTimeline: TIMELINE,
    PlanRevert: PLAN,
    Compare: COMPARISON,
    LookIntoBranch: BranchContent(1, tuple(map(envelope, TALK[:4]))),
    ListSessions: SessionList(
        (
            ListedSession("s1", "fix login", "/work/shop", NOW - 90),
            ListedSession("s2", "登录表单返回 500", "/work/商店", NOW - 8_000),
            ListedSession("s3", "which colour has the door, and what does the sign on it say?", "", 1_000.0),
        )
    ),
    PreviewSession: SessionPreview(
        "s1", (SaidWords("user", "fix the login"), SaidWords("agent", "登录处理程序在会话存在之前调用。"))
    ),
    RunSlash: AgentList(
        (
            ListedAgent(
                "default",
                "bundled",
                tools=("ReadFile", "EditFile", "Bash", "Task"),
                subagents=(ListedSubagent("explorer", "Finds things out and changes nothing"),),
            ),
            ListedAgent("翻译", "user", "把文档译成中文。", "通义千问", ("ReadFile", "WriteFile")),
            ListedAgent("broken", "user", problem="agent.yaml names a tool that there is not: Fly."),
        ),
        "default",
    ),
    ListSettings: SettingsList(SETTINGS, "/home/me/.kimi-tui/config.toml"),
    LookForModels: ModelSources(
        (
            ModelService("kimi", "https://api.moonshot.cn/v1", "kimi-k2.5", "KIMI_API_KEY", "stored"),
            ModelService("openai", "https://api.openai.com/v1", "gpt-5.4", "OPENAI_API_KEY"),
        ),
        (LocalServer("Ollama", "http://127.0.0.1:11434/v1", (LocalModel("通义千问:8b", 40_960),)),),
    ),
    ReadTask: TaskText("bash-1", 0, "> shop@1.0 start\n> listening on :3000\nGET /登录 200\n", 66),
}


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere in the app: how to get there, and away again."""

    name: str
    keys: tuple[str, ...] = ()
    away: tuple[str, ...] = ("escape",)
    messages: tuple[Outgoing, ...] = ()


def command(name: str) -> tuple[str, ...]:
    return (f"/{name}", "enter")


AT_REST = (
    Place("conversation", away=()),
    Place("tools", ("ctrl+l", "up"), ("ctrl+l",)),
    Place("search", ("ctrl+f", *"auth"), ("escape", "ctrl+g")),
    Place("commands", ("slash", "t"), ("escape", "ctrl+c")),
    Place("palette", ("ctrl+p",)),
    Place("menu of the prompt", ("+",)),
    Place("selected block", ("tab", "alt+up"), ("escape",)),
    Place("help", ("f1",)),
    Place("pager", ("ctrl+l", "up", "enter"), ("escape", "ctrl+l")),
    Place("models", command("model")),
    Place("themes", command("theme")),
    Place("agents", (*command("agents"), "down")),
    Place("sessions", command("sessions")),
    Place("preview of a session", (*command("sessions"), "ctrl+o"), ("escape", "escape")),
    Place("settings", ("f9", "down", "down", "down")),
    Place("a setting", ("f9", "enter"), ("escape", "escape")),
    Place("setup", (*command("login"), "down")),
    Place("mcp", (*command("mcp"), "down")),
    Place("tasks", command("tasks")),
    Place("output of a task", (*command("tasks"), "down", "down", "enter"), ("escape", "escape")),
    Place("timeline", ("f3", "down", "down", "down"), ()),
    Place("plan", ("enter", "down")),
    Place("comparison", ("space", "down")),
    Place("branch", ("end", "up", "o")),
    Place("timeline, filtered", ("slash", *"auth")),
    Place("read only", ("down",), ("f3",), (replace(MODELS, read_only=True, in_use=True),)),
)
AT_WORK = (
    Place("queue", (*"next", "enter", *"draft"), ("ctrl+c",), (TurnBegin("go on"), StepBegin(1))),
    Place(
        "side question",
        (),
        ("escape",),
        (BtwBegin("b1", "where does it come from?"), BtwEnd("b1", response="From `validate()`:\n\n- 这里\n")),
    ),
    Place("question", ("f2", "down"), (), (ToolCall("c5", FunctionCall("Ask")), QUESTION)),
    Place("approval", ("f2",), (), (RequestClosed("q1"), WIDE_EDIT)),
    Place("review", ("f2", LATER, "r", "enter"), ("escape",), (EDIT, DANGER, CREATED)),
)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clock times are those of Greenwich, and what is said is English again."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    speak("en")
    monkeypatch.undo()
    time.tzset()


@asynccontextmanager
async def opened(share_dir: Path, walk: Walk) -> AsyncIterator[tuple[Hand, Wire, FakeClock]]:
    """The app over an engine that answers what it is asked."""
    wire = Wire()
    status = StatusUpdate(mcp_status=McpStatus(loading=False, connected=1, total=2, tools=6, servers=SERVERS))

    async def engine() -> None:
        for message in (MODELS, *STATUS, status, TasksUpdate((SERVER, SEARCH, BUILD)), *TALK):
            wire.send(message)
        async for command in wire.commands():
            if (answer := ANSWERS.get(type(command))) is not None:
                wire.send(answer)

    clock = FakeClock()
    app = KimiTuiApp(
        wire=wire,
        start=engine,
        options=TuiOptions(
            work_dir=Path("/work/shop"),
            share_dir=share_dir,
            theme=walk.theme,
            reduced_motion=True,
            version="1.0",
            clipboard=FakeClipboard(),
            clock=clock,
            wall_clock=lambda: NOW,
            letter_pause_s=0,
        ),
    )
    async with app.run_test(size=walk.size):
        pilot = Hand(app)
        screen = app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        while screen.state.session is None or screen.state.replaying:
            await pilot.pause()
        await settled(pilot, wire)
        screen.furnished.workbench.transcript.flush()
        clock.now += 1
        yield pilot, wire, clock


@pytest.mark.parametrize("places", [AT_REST, AT_WORK], ids=["at rest", "at work"])
@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.name)
async def test_every_place_looks_as_it_did(
    walk: Walk, places: tuple[Place, ...], snapshot: Any, tmp_path: Path
) -> None:
    pictures = snapshot.use_extension(SVGImageExtension)
    speak(walk.language)
    different = []
    async with opened(tmp_path, walk) as (pilot, wire, clock):
        for place in places:
            for message in place.messages:
                wire.send(message)
            await taken_in(wire)
            await gone(pilot, wire, place.keys, clock)
            await settled(pilot, wire)
            if pictures(name=place.name) != pilot.app.export_screenshot():
                different.append(place.name)
            await gone(pilot, wire, place.away, clock)
    assert not different


async def gone(pilot: Hand, wire: Wire, keys: tuple[str, ...], clock: FakeClock) -> None:
    """Go somewhere by keys; what opens by one is there before the next."""
    for key in keys:
        prompt = pilot.app.screen.query(Prompt)
        if key == LATER:
            clock.now += 1
        elif key == "+":
            prompt.only_one().action_press("menu")  # what a click on that mark does
            await pilot.pause()
        elif key.startswith("/"):
            prompt.only_one().rewrite(key)  # letter by letter it takes longer than all that follows
        else:
            await pressed(pilot, wire, key)

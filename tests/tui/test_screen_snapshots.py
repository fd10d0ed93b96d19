"""SVG snapshots of every pane and dialog, on small and large screens.

Each test opens a series of screens and compares each with its snapshot. After an intended change, run
`pytest --snapshot-update` on this file and look at every snapshot that changed.
"""

import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import pytest
from PIL import Image
from pytest_textual_snapshot import SVGImageExtension

from kimi_tui.base.message import FunctionCall
from kimi_tui.base.message_text import msg
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.i18n.translate import set_language
from kimi_tui.tui.app import KimiTuiApp
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.prompt.prompt import PromptBox
from kimi_tui.tui.screen.main_screen import MainScreen
from kimi_tui.wire.agent_list import AgentList, AgentListItem, SubagentListItem
from kimi_tui.wire.attempts import Attempt, AttemptChanges, AttemptList, ReadAttempt
from kimi_tui.wire.background import BackgroundTask, TasksUpdate, TaskText
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.codec import envelope
from kimi_tui.wire.commands import (
    Compare,
    ListSessions,
    PlanRevert,
    PreviewSession,
    ReadBranch,
    ReadTask,
    RunSlash,
    SearchMessages,
    ShowTimeline,
)
from kimi_tui.wire.context_usage import ContextUsagePart, WindowFilling
from kimi_tui.wire.display_blocks import BackgroundTaskBlock, BriefBlock, DiffBlock, TodoItem
from kimi_tui.wire.events import (
    BtwBegin,
    BtwEnd,
    RequestClosed,
    StatusUpdate,
    StepBegin,
    TodoUpdate,
    ToolCall,
    ToolResult,
    ToolReturn,
    TurnBegin,
)
from kimi_tui.wire.mcp_status import McpServerStatus, McpStatus
from kimi_tui.wire.message_search import MessageMatch, MessageMatches
from kimi_tui.wire.model_setup import FindModels, LocalModel, LocalServer, ModelService, ModelSources
from kimi_tui.wire.permissions import ListPermissions, PermissionList, PermissionRule
from kimi_tui.wire.session import SlashCommandInfo
from kimi_tui.wire.session_list import SessionExcerpt, SessionList, SessionListItem, SessionPreview
from kimi_tui.wire.settings import ListSettings, Setting, SettingsList
from kimi_tui.wire.timeline import BranchContent, ComparedFile
from kimi_tui.wire.usage import ModelUsage, UsageReport
from tests.tui.app_driver import AppDriver
from tests.tui.conftest import SESSION, FakeClipboard, FakeClock
from tests.tui.test_snapshots import (
    CREATED,
    DANGER,
    EDIT,
    LATER,
    QUESTION,
    STATUS,
    WIDE_EDIT,
    press_key,
    wait_until_drained,
    wait_until_settled,
)
from tests.tui.timeline.sample_timeline import COMPARISON, MESSAGES, NOW, PLAN, TIMELINE


@dataclass(frozen=True, slots=True)
class Variant:
    """Language, theme and size of a series of snapshots."""

    language: Literal["en", "zh"]
    theme: str
    size: tuple[int, int]

    @property
    def name(self) -> str:
        """Identifies its snapshots."""
        return f"{self.size[0]}x{self.size[1]}-{self.theme}-{self.language}"


VARIANTS = (
    Variant("en", "dark", (200, 60)),
    Variant("zh", "light", (80, 24)),
    Variant("zh", "dark", (120, 40)),
)
_CONFIG_FILE = "/home/me/.kimi-tui/config.toml"
PERMISSIONS = (
    PermissionRule(list="deny", rule="Bash(git push *)", source="user", place=_CONFIG_FILE, line=9),
    PermissionRule(
        list="allow",
        rule="Reading in the working directory, added directories, system directories and toolchains",
        source="mode",
        place="built in",
        is_editable=False,
    ),
    PermissionRule(
        list="allow",
        rule="Edit(./源码/登录.py)",
        source="session",
        added="2026-02-01",
        needs_confirmation=True,
    ),
    PermissionRule(
        list="allow",
        rule="Bash(mytool *)",
        source="project",
        place="/work/shop/.kimi-tui/config.toml",
        line=4,
        added="2026-01-31",
        note="kimi-tui doesn't know mytool, so all its options are allowed",
    ),
)
SERVER = BackgroundTask("bash-1", "bash", "the server", command="npm start", started=NOW - 75)
SEARCH = BackgroundTask("agent-2", "agent", "寻找登录表单", started=NOW - 20, activity="Grep login")
BUILD = BackgroundTask(
    "bash-3",
    "bash",
    "the build",
    "make",
    "failed",
    started=NOW - 600,
    ended=NOW - 568,
    outcome=msg("exit code {code}", code=2),
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
    Setting("theme", "", "choice", "The colors.", "auto", "auto", choices=("auto", "dark", "light")),
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
MODELS = replace(
    SESSION,
    models=("kimi-k2", "通义千问:8b"),
    slash_commands=(
        *SESSION.slash_commands,
        SlashCommandInfo("context", "Show what uses the context window"),
        SlashCommandInfo("cost", "Show token usage and cost by model"),
    ),
)
CONTEXT = WindowFilling(
    (
        ContextUsagePart("system prompt", 4_100, 1),
        ContextUsagePart("tools", 7_900, 17),
        ContextUsagePart("lent tools", 5_200, 6),
        ContextUsagePart("prompts", 900, 4),
        ContextUsagePart("answers", 6_400, 12),
        ContextUsagePart("thinking", 2_500, 9),
        ContextUsagePart("tool calls", 3_000, 31),
        ContextUsagePart("tool results", 38_000, 31),
    ),
    tokens=68_000,
    max_tokens=200_000,
    compacts_at=170_000,
    is_measured=True,
)
USAGE = UsageReport(
    (
        ModelUsage("kimi-k2", TokenUsage(48_000, 11_200, 131_000, 9_400), 0.11),
        ModelUsage("通义千问:8b", TokenUsage(12_000, 1_200)),
    ),
    TokenUsage(60_000, 12_400, 131_000, 9_400),
    0.11,
)
FINISHED = Attempt(
    number=1,
    checkpoint=4,
    prompt="reject locked users",
    model="kimi-k2",
    thinking="high",
    state="finished",
    duration_s=83.0,
    cost_usd=0.42,
    last_message="登录现在会拒绝被锁定的用户。\n\nLocked users are rejected.",
    check="pytest -q",
    verdict="pass",
    files=2,
    added=5,
    removed=1,
)
ATTEMPTS = AttemptList(
    (
        FINISHED,
        replace(FINISHED, number=2, model="通义千问:8b", thinking="off", verdict="fail", files=1, added=1),
        Attempt(number=3, checkpoint=4, prompt="x", model="gpt", thinking="low", state="running"),
    )
)
AGENTS = AgentList(
    (
        AgentListItem(
            "default",
            "bundled",
            tools=("ReadFile", "EditFile", "Bash", "Task"),
            subagents=(SubagentListItem("explorer", "Finds things out and changes nothing"),),
        ),
        AgentListItem("翻译", "user", "把文档译成中文。", "通义千问", ("ReadFile", "WriteFile")),
        AgentListItem("broken", "user", problem="agent.yaml names a tool that there is not: Fly."),
    ),
    "default",
)
SLASH_ANSWERS: Mapping[str, Outgoing] = {"agents": AGENTS, "context": CONTEXT, "cost": USAGE}
ANSWERS: Mapping[type, Outgoing] = {
    ReadAttempt: AttemptChanges(
        FINISHED,
        (
            ComparedFile(
                "src/auth.py",
                "changed",
                1,
                1,
                DiffBlock("src/auth.py", "    return True\n", "    return not user.locked\n"),
            ),
            ComparedFile("tests/test_auth.py", "added", 4),
        ),
    ),
    ShowTimeline: TIMELINE,
    PlanRevert: PLAN,
    Compare: COMPARISON,
    ReadBranch: BranchContent(1, tuple(map(envelope, MESSAGES[:4]))),
    ListSessions: SessionList(
        (
            SessionListItem("s1", "fix login", "/work/shop", NOW - 90),
            SessionListItem("s2", "登录表单返回 500", "/work/商店", NOW - 8_000),
            SessionListItem("s3", "what color is the door, and what does the sign on it say?", "", 1_000.0),
        )
    ),
    SearchMessages: MessageMatches(
        "登录 validate",
        (
            MessageMatch(
                session_id="s2",
                title="登录表单返回 500",
                work_dir="/work/商店",
                time=NOW - 8_000,
                speaker="agent",
                checkpoint=12,
                passage="登录处理程序在会话存在之前调用 `validate()`。\n\nIt is called later now.",
                matches=((0, 2), (17, 25)),
            ),
            MessageMatch(
                session_id="s1",
                title="fix login",
                work_dir="/work/shop",
                time=NOW - 90_000,
                speaker="tool",
                checkpoint=4,
                is_on_current_branch=False,
                passage="src/auth.py:12: def validate(form):  # 登录",
                matches=((20, 28), (38, 40)),
            ),
        ),
    ),
    PreviewSession: SessionPreview(
        "s1",
        (
            SessionExcerpt("user", "fix the login"),
            SessionExcerpt("agent", "登录处理程序在会话存在之前调用。"),
        ),
    ),
    ListSettings: SettingsList(SETTINGS, "/home/me/.kimi-tui/config.toml"),
    ListPermissions: PermissionList(PERMISSIONS),
    FindModels: ModelSources(
        (
            ModelService("kimi", "https://api.moonshot.cn/v1", "kimi-k2.5", "KIMI_API_KEY", "stored"),
            ModelService("openai", "https://api.openai.com/v1", "gpt-5.4", "OPENAI_API_KEY"),
        ),
        (LocalServer("Ollama", "http://127.0.0.1:11434/v1", (LocalModel("通义千问:8b", 40_960),)),),
    ),
    ReadTask: TaskText("bash-1", 0, "> shop@1.0 start\n> listening on :3000\nGET /登录 200\n", 66),
}


BUILD_CALL = '{"command": "npm run build && npm test"}'
MOVED = ToolResult(
    "c6",
    ToolReturn(
        output="> shop@1.0 build\n登录 built in 2.1 s\n",
        message="The user moved the command to the background.",
        display=(
            BriefBlock(msg("in the background: {task_id}", task_id="bash-4")),
            BackgroundTaskBlock("bash-4", "bash", "running", "build and test"),
        ),
    ),
)
"""Result of a command after ctrl+b."""


@dataclass(frozen=True, slots=True)
class SnapshotCase:
    """A screen or dialog: the keys that open it and the keys that close it."""

    name: str
    keys: tuple[str, ...] = ()
    closing_keys: tuple[str, ...] = ("escape",)
    messages: tuple[Outgoing, ...] = ()


def picture() -> bytes:
    """Return an image with a gradient, as PNG."""
    image = Image.linear_gradient("L").resize((128, 96))
    stream = BytesIO()
    Image.merge("RGB", (image, image.transpose(Image.Transpose.ROTATE_90).resize((128, 96)), image)).save(
        stream, "PNG"
    )
    return stream.getvalue()


def command(name: str) -> tuple[str, ...]:
    return (f"/{name}", "enter")


AT_REST = (
    SnapshotCase("conversation", closing_keys=()),
    SnapshotCase("tools", ("ctrl+l", "up"), ("ctrl+l",)),
    SnapshotCase("search", ("ctrl+f", *"auth"), ("escape", "ctrl+g")),
    SnapshotCase("commands", ("slash", "t"), ("escape", "ctrl+c")),
    SnapshotCase("palette", ("ctrl+p",)),
    SnapshotCase("menu of the prompt", ("+",)),
    SnapshotCase("selected block", ("tab", "alt+up"), ("escape",)),
    SnapshotCase(
        "attached images",
        ("ctrl+v", "ctrl+v"),
        ("ctrl+c",),
        (replace(MODELS, capabilities=("image_in",)),),
    ),
    SnapshotCase("help", ("f1",)),
    SnapshotCase("pager", ("ctrl+l", "up", "enter"), ("escape", "ctrl+l")),
    SnapshotCase("models", command("model")),
    SnapshotCase("themes", command("theme")),
    SnapshotCase("agents", (*command("agents"), "down")),
    SnapshotCase("sessions", command("sessions")),
    SnapshotCase("preview of a session", (*command("sessions"), "ctrl+o"), ("escape", "escape")),
    SnapshotCase("message search", command("search 登录 validate")),
    SnapshotCase("settings", ("f9", "down", "down", "down")),
    SnapshotCase("a setting", ("f9", "enter"), ("escape", "escape")),
    SnapshotCase("permissions", (*command("permissions"), "down", "down", "down")),
    SnapshotCase("a permission", (*command("permissions"), "enter"), ("escape", "escape")),
    SnapshotCase("setup", (*command("login"), "down")),
    SnapshotCase("mcp", (*command("mcp"), "down")),
    SnapshotCase("cost", command("cost")),
    SnapshotCase("context", command("context")),
    SnapshotCase("checkpoints", (*command("checkpoints"), "down")),
    SnapshotCase("question before quitting", ("ctrl+d",)),
    SnapshotCase("tasks", command("tasks")),
    SnapshotCase("output of a task", (*command("tasks"), "down", "down", "enter"), ("escape", "escape")),
    SnapshotCase("timeline", ("f3", "down", "down", "down"), ()),
    SnapshotCase("plan", ("enter", "down")),
    SnapshotCase("comparison", ("space", "down")),
    SnapshotCase("branch", ("end", "up", "o")),
    SnapshotCase("timeline, filtered", ("slash", *"auth")),
    SnapshotCase("read only", ("down",), ("f3",), (replace(MODELS, read_only=True, in_use=True),)),
)
WITH_ATTEMPTS = (
    SnapshotCase("comparison of attempts", command("attempts"), messages=(ATTEMPTS,)),
    SnapshotCase("start of attempts", (*command("attempts"), "n", "down", "space"), ("escape", "escape")),
    SnapshotCase("todo list, toggled", ("ctrl+t",), ("ctrl+t",)),
    SnapshotCase(
        "finished todo list",
        closing_keys=(),
        messages=(TodoUpdate((TodoItem("修复 validate()", "done"), TodoItem("add a test", "done"))),),
    ),
)
AT_WORK = (
    SnapshotCase("queue", (*"next", "enter", *"draft"), ("ctrl+c",), (TurnBegin("go on"), StepBegin(1))),
    SnapshotCase(
        "side question",
        (),
        ("escape",),
        (BtwBegin("b1", "where does it come from?"), BtwEnd("b1", response="From `validate()`:\n\n- 这里\n")),
    ),
    SnapshotCase(
        "moved to the background", (), (), (ToolCall("c6", FunctionCall("Bash", BUILD_CALL)), MOVED)
    ),
    SnapshotCase("question", ("f2", "down"), (), (ToolCall("c5", FunctionCall("Ask")), QUESTION)),
    SnapshotCase("approval", ("f2",), (), (RequestClosed("q1"), WIDE_EDIT)),
    SnapshotCase("review", ("f2", LATER, "r", "enter"), ("escape",), (EDIT, DANGER, CREATED)),
)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the time zone to UTC, and the language back to English afterwards."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    set_language("en")
    monkeypatch.undo()
    time.tzset()


@asynccontextmanager
async def open_variant(data_dir: Path, variant: Variant) -> AsyncIterator[tuple[AppDriver, Wire, FakeClock]]:
    """Open the app with an engine that answers its commands."""
    wire = Wire()
    status = StatusUpdate(mcp_status=McpStatus(loading=False, connected=1, total=2, tools=6, servers=SERVERS))

    async def engine() -> None:
        for message in (MODELS, *STATUS, status, TasksUpdate((SERVER, SEARCH, BUILD)), *MESSAGES):
            wire.send(message)
        async for command in wire.commands():
            answer = ANSWERS.get(type(command))
            if isinstance(command, RunSlash):
                answer = SLASH_ANSWERS.get(command.line)
            if answer is not None:
                wire.send(answer)

    clock, clipboard = FakeClock(), FakeClipboard()
    clipboard.image = picture()
    app = KimiTuiApp(
        wire=wire,
        start=engine,
        options=TuiOptions(
            work_dir=Path("/work/shop"),
            data_dir=data_dir,
            theme=variant.theme,
            reduced_motion=True,
            version="1.0",
            clipboard=clipboard,
            clock=clock,
            wall_clock=lambda: NOW,
            letter_pause_s=0,
        ),
    )
    async with app.run_test(size=variant.size):
        pilot = AppDriver(app)
        screen = app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        while screen.state.session is None or screen.state.is_replaying:
            await pilot.pause()
        await wait_until_settled(pilot, wire)
        screen.controllers.session_view.transcript.flush()
        clock.now += 1
        yield pilot, wire, clock


@pytest.mark.parametrize(
    "cases", [AT_REST, WITH_ATTEMPTS, AT_WORK], ids=["at rest", "with attempts", "at work"]
)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
async def test_screens_match_their_snapshots(
    variant: Variant, cases: tuple[SnapshotCase, ...], snapshot: Any, tmp_path: Path
) -> None:
    snapshots = snapshot.use_extension(SVGImageExtension)
    set_language(variant.language)
    different = []
    async with open_variant(tmp_path, variant) as (pilot, wire, clock):
        for case in cases:
            for message in case.messages:
                wire.send(message)
            await wait_until_drained(wire)
            await press_keys(pilot, wire, case.keys, clock)
            await wait_until_settled(pilot, wire)
            if snapshots(name=case.name) != pilot.app.export_screenshot():
                different.append(case.name)
            await press_keys(pilot, wire, case.closing_keys, clock)
    assert not different


async def press_keys(pilot: AppDriver, wire: Wire, keys: tuple[str, ...], clock: FakeClock) -> None:
    """Press keys. The screen that each one opens is shown before the next."""
    for key in keys:
        prompt = pilot.app.screen.query(PromptBox)
        if key == LATER:
            clock.now += 1
        elif key == "+":
            prompt.only_one().action_press("menu")  # what a click on the “+” does
            await pilot.pause()
        elif key.startswith("/"):
            prompt.only_one().replace_text(key)  # typing it letter by letter would be slow
        else:
            await press_key(pilot, wire, key)

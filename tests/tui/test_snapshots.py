"""SVG snapshots of the app.

After an intended change, run `pytest tests/tui/test_snapshots.py --snapshot-update`, then look at every
snapshot that changed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from textual.pilot import Pilot

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.frontend.image_attachments import AttachedImage, ImageAttachments
from kimi_tui.tui.app import KimiTuiApp
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.screen.main_screen import MainScreen
from kimi_tui.tui.transcript.view import BlockScrollView
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.display_blocks import DiffBlock, ShellBlock, TodoItem
from kimi_tui.wire.events import (
    CostUpdate,
    PlanDisplay,
    SessionInfo,
    StatusUpdate,
    StepBegin,
    TodoUpdate,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest, Proposal, Question, QuestionOption, QuestionRequest
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd
from tests.tui.app_driver import AppDriver
from tests.tui.conftest import SESSION, FakeClipboard, FakeClock

OLD = "def validate(form):\n    return form.user.ok\n"
NEW = "def validate(form):\n    if form.user is None:\n        return False\n    return form.user.ok\n"
DIFF = DiffBlock("src/auth.py", OLD, NEW, 12, 12)
ANSWER = """\
The login handler calls `validate()` **before** the session exists:

| form | today | should be |
|---|---|---|
| with a user | `ok` | `ok` |
| without | *500* | `False` |

```python
def validate(form):
    return form.user is not None and form.user.ok
```
"""
STATUS: tuple[Outgoing, ...] = (
    StatusUpdate(context_tokens=68_000, max_context_tokens=200_000, session_usage=TokenUsage(60_000, 12_400)),
    CostUpdate(0.11),
    TodoUpdate(
        (TodoItem("reproduce", "done"), TodoItem("fix validate()", "in_progress"), TodoItem("add a test"))
    ),
)
TURN: tuple[Outgoing, ...] = (
    TurnBegin("the login form returns 500, fix it"),
    StepBegin(1),
    ThinkPart("Let me look at the handler."),
    ToolCall("c1", FunctionCall("ReadFile", '{"path": "src/auth.py"}')),
    ToolResult("c1", ToolReturn(output=OLD, message="2 lines")),
    StepBegin(2),
    TextPart(ANSWER),
    ToolCall("c2", FunctionCall("EditFile", '{"path": "src/auth.py"}')),
    *STATUS,
)
EDITED = ToolResult("c2", ToolReturn(display=(DIFF,)))
CHINESE: tuple[Outgoing, ...] = (
    TurnBegin("登录表单返回 500，请修复 🙂"),
    StepBegin(1),
    TextPart(
        "登录处理程序在会话存在**之前**调用 `validate()`。\n\n| 表单 | 现在 |\n|---|---|\n| 有用户 | 正常 |\n"
    ),
    ToolCall("c1", FunctionCall("Bash", '{"command": "echo 你好"}')),
    ToolResult("c1", ToolReturn(output="你好，世界\n")),
    TodoUpdate((TodoItem("重现问题", "done"), TodoItem("修复并测试", "in_progress"))),
    TextPart("完成。"),
    TurnEnd(),
)
EDIT = ApprovalRequest(
    "r1", "c2", "EditFile", "edit file", "edit src/auth.py", display=(DIFF,), rule="Edit(./src/auth.py)"
)
WIDE_EDIT = ApprovalRequest(
    "r3",
    "c2",
    "EditFile",
    "edit file",
    "edit src/form.py",
    (
        DiffBlock(
            "src/form.py",
            "def save(form, session):\n    if form.user.ok:\n        return store(form)\n    return None\n",
            "def save(form, session):\n    # 没有用户不保存\n    if form.user is not None and form.user.ok:\n"
            "        return store(form, session)\n    return None\n",
            8,
            8,
        ),
    ),
    rule="Edit(./src/form.py)",
    proposal=Proposal("", "form.py"),
)
CREATED = ApprovalRequest(
    "r4",
    "c2",
    "WriteFile",
    "edit file",
    "create 新文件.py",
    (DiffBlock("docs/新文件.py", "", "print('你好，世界')\n"),),
    rule="Edit(./docs/*)",
)
DANGER = ApprovalRequest(
    "r2",
    "c2",
    "Bash",
    "run command",
    "clean",
    (ShellBlock("rm -rf build/ && make"),),
    danger="deletes recursively",
)
QUESTION = QuestionRequest(
    "q1",
    "c2",
    (
        Question(
            "Where should sessions be kept?",
            "Storage",
            (QuestionOption("Redis", "fast, one more server"), QuestionOption("Postgres", "one server less")),
        ),
    ),
)

TO_SESSIONS = ("slash", *"sessions", "enter")
LATER = "later"
"""In a sequence of keys: one second passes."""
Act = Callable[[Pilot[None]], Awaitable[None]]


def build_app(
    data_dir: Path,
    *messages: Outgoing,
    theme: str = "dark",
    session: SessionInfo = SESSION,
    error: ConfigError | None = None,
    keys: tuple[str, ...] = (),
) -> tuple[KimiTuiApp, Act]:
    """Return an app, and the function that brings it to the state to compare."""
    wire = Wire()
    clock = FakeClock()
    last_shown = asyncio.Event()

    async def engine() -> None:
        if error is not None:
            last_shown.set()
            raise error
        for message in (session, StatusUpdate(context_tokens=0, max_context_tokens=200_000), *messages):
            wire.send(message)
        last_shown.set()
        async for _ in wire.commands():
            pass

    app = KimiTuiApp(
        wire=wire,
        start=engine,
        options=TuiOptions(
            work_dir=Path("/work/shop"),
            data_dir=data_dir,
            theme=theme,
            reduced_motion=True,
            version="1.0",
            clipboard=FakeClipboard(),
            clock=clock,
            wall_clock=lambda: 10_000.0,
            letter_pause_s=0,
        ),
    )

    async def act(_: Pilot[None]) -> None:
        pilot = AppDriver(app)
        await last_shown.wait()
        screen = app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        while screen.state.session is None and not screen.state.has_failed:
            await pilot.pause()
        await wait_until_settled(pilot, wire)
        screen.controllers.session_view.transcript.flush()
        for key in keys:
            if key == LATER:
                clock.now += 1
            else:
                await press_key(pilot, wire, key)
        await wait_until_settled(pilot, wire)

    return app, act


async def press_key(pilot: AppDriver, wire: Wire, key: str) -> None:
    """Press a key and wait for its effects, including the engine's replies."""
    await pilot.press(key)
    if len(key) > 1:  # not a letter being typed
        await wait_until_drained(wire)
        await pilot.pause()


async def wait_until_drained(wire: Wire) -> None:
    """Wait until all sent messages have been handed to the screen, which takes one batch per frame."""
    while any(subscription.has_pending for subscription in wire._subscriptions):
        await asyncio.sleep(0.005)


_QUICK = {"disk", "draft", "files", "image", "search", "warm-up"}
"""Groups of short-lived workers that may change the screen when they finish."""


async def wait_until_settled(pilot: AppDriver, wire: Wire) -> None:
    """Wait until all messages have been handled and the screen has stopped changing."""
    await wait_until_drained(wire)
    unchanged_count, before = 0, None
    while unchanged_count < 3:
        await pilot.pause(0.01)
        while any(worker.group in _QUICK and not worker.is_finished for worker in pilot.app.workers):
            await pilot.pause(0.005)
        while any(view.is_measuring for view in pilot.app.screen.query(BlockScrollView)):
            await pilot.pause(0.005)
        await pilot.pause()
        now = pilot.app.screen, [list(strip) for strip in pilot.app.screen._compositor.render_strips()]
        unchanged_count = unchanged_count + 1 if now == before else 0
        before = now


CompareSnapshot = Callable[..., bool]


@pytest.fixture
def looks(snap_compare: Any, tmp_path: Path) -> CompareSnapshot:
    """Compare with the accepted snapshot."""

    def compare(*messages: Outgoing, size: tuple[int, int] = (100, 30), **showing: Any) -> bool:
        app, act = build_app(tmp_path, *messages, **showing)
        return bool(snap_compare(app, terminal_size=size, run_before=act))

    return compare


@pytest.mark.parametrize(
    ("size", "theme"),
    [((80, 24), "light"), ((80, 24), "high-contrast"), ((120, 40), "dark"), ((120, 40), "light")],
    ids=lambda value: f"{value[0]}x{value[1]}" if isinstance(value, tuple) else value,
)
def test_a_conversation(looks: CompareSnapshot, theme: str, size: tuple[int, int]) -> None:
    assert looks(*TURN, EDITED, TurnEnd(), size=size, theme=theme)


def test_a_conversation_with_both_panes(looks: CompareSnapshot) -> None:
    assert looks(*TURN, EDITED, TurnEnd(), size=(120, 40), keys=("ctrl+l", "up"))


def test_panes_over_a_narrow_terminal(looks: CompareSnapshot) -> None:
    assert looks(*TURN, EDITED, TurnEnd(), size=(80, 24), keys=("ctrl+t", "ctrl+l"))


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_chinese_conversation(looks: CompareSnapshot, theme: str) -> None:
    assert looks(*CHINESE, size=(110, 30), theme=theme, keys=("修", "复", "它"))


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 40)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_an_edit_that_waits(looks: CompareSnapshot, theme: str, size: tuple[int, int]) -> None:
    assert looks(*TURN, EDIT, size=size, theme=theme, keys=("f2",))


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_an_edit_in_two_columns(looks: CompareSnapshot, theme: str) -> None:
    assert looks(*TURN, WIDE_EDIT, size=(160, 40), theme=theme, keys=("f2",))


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", [(60, 16), (80, 24), (140, 40)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_step_that_is_reviewed(looks: CompareSnapshot, theme: str, size: tuple[int, int]) -> None:
    assert looks(
        *TURN,
        WIDE_EDIT,
        EDIT,
        DANGER,
        CREATED,
        size=size,
        theme=theme,
        keys=("f2", LATER, "r", "enter", "y", "n"),  # enter, so that no letter waits for another
    )


def test_an_edit_over_the_whole_conversation(looks: CompareSnapshot) -> None:
    assert looks(*TURN, EDIT, keys=("f2", "ctrl+o"))


def test_a_dangerous_command_and_another_request_behind_it(looks: CompareSnapshot) -> None:
    assert looks(*TURN, DANGER, EDIT, theme="light", keys=("f2",))


def test_several_questions_on_a_small_screen(looks: CompareSnapshot) -> None:
    checks = Question(
        "提交之前应运行哪些检查？",
        "检查",
        (
            QuestionOption(
                "lint", "ruff and the import contracts; a few seconds, whatever was changed in it"
            ),
            QuestionOption("types", "mypy --strict"),
        ),
        multi_select=True,
    )
    several = replace(QUESTION, questions=(*QUESTION.questions, checks))
    assert looks(*TURN, several, size=(80, 24), keys=("f2", "2", "space", "1", "1"))


def test_a_plan_and_its_approval(looks: CompareSnapshot) -> None:
    plan = PlanDisplay(
        "# Mend the login\n\n1. Move `validate()` **behind** the session\n2. Test it\n", "/plans/s.md"
    )
    approval = Question(
        "Carry out this plan?",
        "Plan",
        (
            QuestionOption("Yes, and accept edits", "edits in the working directory no longer need approval"),
            QuestionOption("Yes, and ask before each edit", "as usual"),
            QuestionOption("No, keep planning", "then say what to change"),
        ),
    )
    asked = replace(QUESTION, questions=(approval,))
    session = replace(SESSION, plan_mode=True)
    assert looks(*TURN, plan, asked, session=session, theme="light", size=(80, 24), keys=("f2",))


def test_the_first_screen(looks: CompareSnapshot) -> None:
    assert looks(size=(80, 24))


def test_the_demo(looks: CompareSnapshot) -> None:
    assert looks(session=replace(SESSION, title="", model="demo", model_kind="demo"), size=(80, 24))


def test_a_session_that_did_not_open(looks: CompareSnapshot) -> None:
    error = ConfigError("config.toml, line 3: theme is “drak”.", hint="Write dark, light or high-contrast.")
    assert looks(error=error, size=(80, 24))


def test_prompts_that_wait(looks: CompareSnapshot) -> None:
    assert looks(*TURN, keys=(*"next", "enter", *"then", "enter", *"draft", "ctrl+j", *"two"))


def test_a_terminal_too_small(looks: CompareSnapshot) -> None:
    assert looks(size=(38, 12))


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_users_own_shell(looks: CompareSnapshot, theme: str) -> None:
    commands: tuple[Outgoing, ...] = (
        ShellCommandBegin("s1", "cd 文档 && ls", "/work/shop"),
        ShellCommandEnd("s1", 0, "说明.md\nnotes.txt\n", "/work/shop/文档"),
        ShellCommandBegin("s2", "make test", "/work/shop/文档"),
        ShellCommandEnd("s2", 2, "make: *** No rule to make target 'test'.  Stop.\n", "/work/shop/文档"),
        ShellCommandBegin("s3", "vim 说明.md", "/work/shop/文档", on_terminal=True),
        ShellCommandEnd("s3", 0, "", "/work/shop/文档"),
    )
    assert looks(*commands, size=(80, 24), theme=theme, keys=("ctrl+x", *"git"))


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_prompt_with_a_picture(looks: CompareSnapshot, theme: str) -> None:
    grey = Image.linear_gradient("L").resize((160, 80))
    across = grey.transpose(Image.Transpose.ROTATE_90).resize((160, 80))
    stream = BytesIO()
    Image.merge("RGB", (grey, grey.rotate(180), across)).save(stream, "PNG")
    album = ImageAttachments()
    album.add(AttachedImage(data=stream.getvalue(), media_type="image/png", size=(160, 80)))
    said = album.expand("这张图片里有什么？ [image #1 160x80]")
    assert looks(TurnBegin(said), StepBegin(1), TextPart("一个渐变。"), TurnEnd(), size=(80, 24), theme=theme)

"""Take `screenshots/*.svg`: the real app and engine, with a scripted model, in a temporary project.

Each one is a `Screenshot`: a size, a theme, and the user's actions before it is taken. Commands run first in
a workspace, so this needs Linux with bubblewrap.
"""

import asyncio
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rich.cells import cell_len
from textual.pilot import Pilot

from kimi_tui.config.settings import ModelPrice, ModelSettings, ProviderConfig, Settings
from kimi_tui.engine.build.engine import build_engine
from kimi_tui.engine.options import EngineOptions
from kimi_tui.tui.app import KimiTuiApp
from kimi_tui.tui.options import TuiOptions
from kimi_tui.version import __version__
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.display_blocks import ShellBlock
from kimi_tui.wire.requests import Answer, ApprovalRequest
from kimi_tui.wire.running_session import RunningSession, RunningSessionList, encode_request

FOLDER = Path(__file__).parents[1] / "screenshots"

_SVG_TEXT = r'(?P<before><text [^>]*?)textLength="(?P<length>[\d.]+)"(?P<after>[^>]*)>(?P<text>[^<]*)</text>'

AUTH = """\
from dataclasses import dataclass, field


@dataclass
class Form:
    user: "User | None"


def validate(form: Form) -> bool:
    return form.user.ok
"""
TESTS = """\
from auth import Form, validate


def test_form_without_user_is_rejected() -> None:
    assert not validate(Form(None))


test_form_without_user_is_rejected()
print("1 passed")
"""
CHANGES = """\
from pathlib import Path

log = Path("CHANGES.md")
log.write_text(log.read_text() + "- Reject forms without a user and locked users\\n")
print("Added 1 entry to CHANGES.md")
"""
MAKEFILE = """\
build:
\t@mkdir -p build && cat auth.py > build/auth.js && echo "built build/auth.js"
"""
OLD = "    return form.user.ok\n"
GUARD = "    if form.user is None:\n"
LOCKED_GUARD = "    if form.user is None or form.user.locked:\n"
NEW = "    if form.user is None:\n        return False\n    return form.user.ok\n"


def tool_call_line(number: int, name: str, **arguments: object) -> str:
    """Return a line of the script that calls a tool."""
    return "tool_call: " + json.dumps({"id": f"c{number}", "name": name, "arguments": json.dumps(arguments)})


def todo_items(*statuses: str) -> list[dict[str, str]]:
    """Return the todo list with those statuses."""
    titles = ("Reproduce the failure", "Find the cause", "Fix validate()", "Run the tests")
    return [{"title": title, "status": status} for title, status in zip(titles, statuses, strict=True)]


def locked_todo_items(*statuses: str) -> list[dict[str, str]]:
    """Return the todo list of the second turn with those statuses."""
    titles = ("Reject locked users", "Run the tests", "Update the changelog")
    return [{"title": title, "status": status} for title, status in zip(titles, statuses, strict=True)]


def text_line(text: str) -> str:
    """Return a line of the script that responds with `text`."""
    return "text: " + json.dumps(text)


def usage_line(sent: int, received: int) -> str:
    """Return a line of the script that reports token usage."""
    return "usage: " + json.dumps({"input_other": sent, "output": received})


FIX = [
    "\n".join(
        [
            "think: The form might have no user. I should read validate() first.",
            text_line("I'll read the validation of the login form."),
            tool_call_line(
                1, "SetTodoList", todos=todo_items("in_progress", "pending", "pending", "pending")
            ),
            tool_call_line(2, "ReadFile", path="auth.py"),
            usage_line(61_000, 240),
        ]
    ),
    "\n".join(
        [
            text_line(
                "`validate()` assumes that **every form has a user**:\n\n"
                "| Form | Now | Expected |\n|---|---|---|\n"
                "| With a user | `user.ok` | `user.ok` |\n| Without | *500* | `False` |\n\n"
                "A check before the return fixes it."
            ),
            tool_call_line(3, "SetTodoList", todos=todo_items("done", "done", "in_progress", "pending")),
            tool_call_line(4, "EditFile", path="auth.py", edit={"old": OLD, "new": NEW}),
            usage_line(64_000, 310),
        ]
    ),
    "\n".join(
        [
            tool_call_line(5, "SetTodoList", todos=todo_items("done", "done", "done", "in_progress")),
            tool_call_line(6, "Bash", command="python3 test_auth.py"),
            usage_line(66_000, 120),
        ]
    ),
    "\n".join(
        [
            tool_call_line(7, "SetTodoList", todos=todo_items("done", "done", "done", "done")),
            usage_line(67_000, 60),
        ]
    ),
    "\n".join(
        [
            text_line(
                "Fixed. A form without a user is now rejected instead of crashing:\n\n"
                "```python\ndef validate(form: Form) -> bool:\n    if form.user is None:\n"
                "        return False\n    return form.user.ok\n```"
            ),
            usage_line(68_000, 180),
        ]
    ),
]


def locked_scripts(number: int) -> list[str]:
    """Return the scripts of a turn that rejects locked users; `number` is that of its first call."""
    return [
        "\n".join(
            [
                text_line("I'll reject locked users before reading `ok`."),
                tool_call_line(
                    number, "SetTodoList", todos=locked_todo_items("in_progress", *["pending"] * 2)
                ),
                tool_call_line(
                    number + 1, "EditFile", path="auth.py", edit={"old": GUARD, "new": LOCKED_GUARD}
                ),
                usage_line(70_000, 150),
            ]
        ),
        "\n".join(
            [
                tool_call_line(number + 2, "Bash", command="python3 test_auth.py"),
                tool_call_line(
                    number + 3, "SetTodoList", todos=locked_todo_items("done", "done", "in_progress")
                ),
                usage_line(71_000, 60),
            ]
        ),
        "\n".join(
            [
                tool_call_line(number + 4, "Bash", command="python3 changes.py"),
                usage_line(72_000, 60),
            ]
        ),
    ]


def attempt_scripts(new: str, message: str, sent: int) -> list[str]:
    """Return the scripts of an attempt that replaces the return of validate()."""
    edit = tool_call_line(1, "EditFile", path="auth.py", edit={"old": OLD, "new": new})
    return [f"{edit}\n{usage_line(sent, 200)}", f"{text_line(message)}\n{usage_line(sent, 90)}"]


ATTEMPTS = {
    "claude": attempt_scripts(
        "    return isinstance(form.user, User) and form.user.ok\n",
        "validate() now rejects everything that isn't a user.",
        61_000,
    ),
    "gpt": attempt_scripts(
        "    try:\n        return form.user.ok\n    except AttributeError:\n        return False\n",
        "I catch the error that a missing user raises.",
        64_000,
    ),
    "kimi-k2-turbo": attempt_scripts(NEW, "A form without a user is rejected.", 62_000),
}
LOCKED_DONE = ["\n".join([text_line("Locked users are rejected."), usage_line(72_000, 20)])]
RELEASE = ApprovalRequest(
    "r-1",
    "c-1",
    "Bash",
    "run command",
    "make release VERSION=2.4",
    display=(ShellBlock("make release VERSION=2.4"),),
)
SESSIONS = (
    RunningSession(
        id="1f6a2c04", title="release 2.4", work_dir="/srv/site", state="awaiting approval", since_s=42,
        cost_today_usd=0.31, last_line="The tests pass. I'll publish the release.",
        requests=(encode_request(RELEASE),),
    ),
    RunningSession(
        id="8b03d7e1", title="port the parser", work_dir="/srv/parser", state="working", since_s=660,
        cost_today_usd=1.27, clients=1, last_line="184 of 210 tests pass.",
    ),
    RunningSession(
        id="c2945f80", title="find the slow query", work_dir="/srv/shop", state="done", since_s=1500,
        cost_today_usd=0.08, last_line="The index on orders(user_id) is missing.",
    ),
    RunningSession(
        id="5d7ee139", title="update the dependencies", work_dir="/srv/shop", state="failed", since_s=7200,
        cost_today_usd=0.12, last_line="The build needs Node 22.",
    ),
)  # fmt: skip
CLEAN = [
    "\n".join(
        [
            text_line("登录表单的构建产物已经过期，我先把它们删除，然后重新构建。"),
            tool_call_line(1, "Bash", command="rm -rf build/ dist/ && make build"),
            usage_line(12_000, 90),
        ]
    ),
]


class FrozenClock:
    """Clock that doesn't advance, so that every run takes the same screenshots."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@dataclass(frozen=True)
class AppDriver:
    """Drives the app before a screenshot is taken."""

    app: KimiTuiApp
    pilot: Pilot[None]
    clock: FrozenClock

    async def wait_for(self, text: str) -> None:
        """Wait until the screen shows `text`. Raises SystemExit on a timeout."""
        for _ in range(300):
            await self.pilot.pause()
            if text in self.app.export_screenshot().replace("&#160;", " ").replace("&#x27;", "'"):
                return
            await asyncio.sleep(0.02)
        (FOLDER / "failed.svg").write_text(self.app.export_screenshot(), "utf-8")
        raise SystemExit(f"Timed out waiting for “{text}”. The screen is in screenshots/failed.svg.")

    async def wait_for_exit(self) -> None:
        """Wait until the app has exited."""
        for _ in range(250):
            if self.app.return_code is not None:
                return
            await asyncio.sleep(0.02)

    async def send(self, text: str) -> None:
        """Type `text` and send it."""
        for letter in text:
            await self.pilot.press("space" if letter == " " else letter)
        await self.pilot.press("enter")

    async def answer_request(self, title: str, key: str) -> None:
        """Wait for the permission request that shows `title`, and answer it with `key`."""
        await self.wait_for(title)
        await self.pilot.press("f2")
        self.clock.now += 1
        await self.pilot.press(key)


class ListedSessions:
    """Sessions of the resident engine, to show their list. They don't run."""

    async def list(self) -> RunningSessionList:
        """Return the sessions."""
        return RunningSessionList(sessions=SESSIONS, is_engine_running=True)

    async def watch(self) -> AsyncIterator[tuple[RunningSession, ...]]:
        """Yield the sessions."""
        yield SESSIONS

    async def answer(self, session_id: str, answer: Answer) -> bool:
        """Return whether the request is open: none is."""
        return False

    async def stop(self, session_id: str) -> tuple[RunningSession, ...]:
        """Return what was stopped: nothing."""
        return ()


@dataclass(frozen=True)
class Screenshot:
    """A screenshot and how to prepare it."""

    name: str
    action: Callable[[AppDriver], Awaitable[None]]
    script: list[str]
    size: tuple[int, int] = (110, 34)
    theme: str = "dark"
    demo: bool = False
    other_scripts: Mapping[str, list[str]] = field(default_factory=dict)
    """Scripts of other models, by name."""


async def _fix_login(driver: AppDriver) -> None:
    await driver.send("the login form returns 500, fix it")
    await driver.answer_request("Allow EditFile", "y")
    await driver.wait_for("Fixed. A form")


async def _reject_locked_users(driver: AppDriver) -> None:
    await driver.send("also reject locked users")
    await driver.answer_request("Allow EditFile", "y")
    await driver.answer_request("Allow the changes", "y")
    await driver.wait_for("Locked users are rejected")


async def conversation(driver: AppDriver) -> None:
    """A complete turn, with the todo list and the tool calls open."""
    await _fix_login(driver)
    await driver.pilot.press("ctrl+t", "ctrl+l", "escape", "ctrl+l")
    await driver.wait_for("tools 7")


async def timeline(driver: AppDriver) -> None:
    """All five panes: a reverted turn on a branch, and the effects of a command that await approval."""
    await _fix_login(driver)
    await _reject_locked_users(driver)
    await driver.send("/revert 6")
    await driver.wait_for("can be undone")
    await driver.pilot.press("enter")
    await driver.wait_for("Reverted to checkpoint")
    await driver.pilot.press("enter")  # the prompt has the message again
    await driver.answer_request("Allow EditFile", "y")
    await driver.wait_for("Allow the changes")
    await driver.pilot.press("ctrl+l", "f3", "down", "down", "down")
    await driver.wait_for("tools ")


async def review(driver: AppDriver) -> None:
    """A review of two turns, with a comment on a line."""
    await _fix_login(driver)
    await _reject_locked_users(driver)
    await driver.send("/review ")
    await driver.wait_for("1/")
    await driver.pilot.press("right")
    await driver.wait_for("validate")
    await driver.pilot.press("end", "c")
    await driver.wait_for("omment on line")
    await driver.send("Is a locked user told why?")
    await driver.wait_for("1 comment")
    await driver.wait_for("send comments")


async def attempts(driver: AppDriver) -> None:
    """A comparison of three models that were given the same prompt."""
    await _fix_login(driver)
    await driver.send('/attempts --model claude,gpt,kimi-k2-turbo --check "python3 test_auth.py"')
    await driver.wait_for("3 attempts")
    await driver.send("/attempts")
    await driver.wait_for("adopt, with a preview")
    await driver.pilot.press("right")
    await driver.wait_for("fails")
    await driver.pilot.press("left")
    await driver.wait_for("isinstance")


async def sessions(driver: AppDriver) -> None:
    """The sessions of all directories. One of them awaits approval."""
    await _fix_login(driver)
    await driver.pilot.press("f5")
    await driver.wait_for("Allow Bash")


async def approval(driver: AppDriver) -> None:
    """An edit that awaits approval."""
    await driver.send("the login form returns 500, fix it")
    await driver.wait_for("Allow EditFile")
    await driver.pilot.press("f2")


async def dangerous_command(driver: AppDriver) -> None:
    """A command that deletes files, with its effects, in a Chinese conversation."""
    await driver.send("重新构建登录页面")
    await driver.wait_for("Allow the changes")
    await driver.pilot.press("f2")


async def commands(driver: AppDriver) -> None:
    """The completion list for commands."""
    await driver.wait_for("What do you want to work on?")
    await driver.pilot.press("slash", "t")
    await driver.wait_for("Change the color theme")


async def demo(driver: AppDriver) -> None:
    """The start screen of the demo."""
    await driver.wait_for("Offline demo")


SCREENSHOTS = (
    Screenshot(
        "timeline", timeline, [*FIX, *locked_scripts(8), *LOCKED_DONE, *locked_scripts(10)], size=(140, 42)
    ),
    Screenshot("review", review, [*FIX, *locked_scripts(8), *LOCKED_DONE], size=(110, 22)),
    Screenshot("attempts", attempts, FIX, size=(110, 26), other_scripts=ATTEMPTS),
    Screenshot("sessions", sessions, FIX, size=(110, 26)),
    Screenshot("conversation", conversation, FIX, size=(120, 40)),
    Screenshot("approval", approval, FIX),
    Screenshot("danger", dangerous_command, CLEAN, size=(100, 28), theme="light"),
    Screenshot("small", approval, FIX, size=(80, 24), theme="high-contrast"),
    Screenshot("commands", commands, FIX, size=(80, 24), theme="light"),
    Screenshot("demo", demo, FIX, size=(100, 26), demo=True),
)


def correct_text_lengths(svg: str) -> str:
    """Return the picture with text lengths in cells. Rich counts characters, which squeezes Chinese."""

    def correct(match: re.Match[str]) -> str:
        text = html.unescape(match["text"])
        length = float(match["length"]) * cell_len(text) / max(len(text), 1)
        return f'{match["before"]}textLength="{length:g}"{match["after"]}>{match["text"]}</text>'

    return re.sub(_SVG_TEXT, correct, svg)


def project(root: Path) -> Path:
    """Create a small repository and return its path."""
    directory = root / "code" / "shop"
    directory.mkdir(parents=True)
    (directory / "auth.py").write_text(AUTH)
    (directory / "test_auth.py").write_text(TESTS)
    (directory / "changes.py").write_text(CHANGES)
    (directory / "CHANGES.md").write_text("# Changes\n\n")
    (directory / "Makefile").write_text(MAKEFILE)
    for name in ("build/auth.js", "build/old.js", "dist/shop.tar"):
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text("old\n")
    subprocess.run(["git", "init", "--quiet", "--initial-branch=fix-login"], cwd=directory, check=True)
    return directory


def settings_for(screenshot: Screenshot, root: Path) -> Settings:
    """Return settings with models that play the scripts of the screenshot."""
    scripts = {"kimi-k2": screenshot.script, **screenshot.other_scripts}
    folder = root / "share"  # attempts can read the data directory
    folder.mkdir()
    for name, script in scripts.items():
        (folder / f"{name}.json").write_text(json.dumps(script))
    return Settings(
        default_model="kimi-k2",
        default_thinking=True,
        providers={
            name: ProviderConfig(type="scripted", scripts=str(folder / f"{name}.json")) for name in scripts
        },
        models={
            name: ModelSettings(
                provider=name,
                model=name,
                max_context_size=262_144,
                capabilities=frozenset({"thinking"}),
                price=ModelPrice(input=0.6, output=2.5),
            )
            for name in scripts
        },
    )


async def take_screenshot(screenshot: Screenshot) -> None:
    """Run the app and save one screenshot."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        os.environ["HOME"] = temporary  # so that the header shows ~/code/shop
        work_dir, wire, clock = project(root), Wire(), FrozenClock()
        options = EngineOptions(
            settings=settings_for(screenshot, root),
            data_dir=root / "share",
            work_dir=work_dir,
            demo=screenshot.demo,
        )

        async def engine() -> None:
            await (await build_engine(wire, options)).serve()

        app = KimiTuiApp(
            wire=wire,
            start=engine,
            options=TuiOptions(
                work_dir=work_dir,
                data_dir=root / "share",
                theme=screenshot.theme,
                reduced_motion=True,
                version=__version__,
                clock=clock,
                running_sessions=ListedSessions(),
            ),
        )
        async with app.run_test(size=screenshot.size) as pilot:
            driver = AppDriver(app, pilot, clock)
            await screenshot.action(driver)
            await pilot.pause(0.3)
            picture = correct_text_lengths(app.export_screenshot(title="kimi-tui"))
            (FOLDER / f"{screenshot.name}.svg").write_text(picture, "utf-8")
            await pilot.press("ctrl+q")
            await driver.wait_for_exit()


def main(names: list[str]) -> None:
    """Take the named screenshots, or all of them."""
    FOLDER.mkdir(exist_ok=True)
    for screenshot in SCREENSHOTS:
        if not names or screenshot.name in names:
            asyncio.run(take_screenshot(screenshot))
            sys.stdout.write(f"screenshots/{screenshot.name}.svg\n")


if __name__ == "__main__":
    main(sys.argv[1:])

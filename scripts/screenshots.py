"""Takes `screenshots/*.svg`: the real app and engine, with a scripted model, in a throw-away project.

Each picture is a `Picture`: a size, a theme, and what the user does until it is taken.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot

from kimi_tui import __version__
from kimi_tui.config.settings import Model, ModelPrice, Provider, Settings
from kimi_tui.engine.build import open_engine
from kimi_tui.engine.options import EngineOptions
from kimi_tui.tui.app import KimiTuiApp
from kimi_tui.tui.options import ThemeChoice, TuiOptions
from kimi_tui.wire.channel import Wire

FOLDER = Path(__file__).parents[1] / "screenshots"

AUTH = """\
from dataclasses import dataclass


@dataclass
class Form:
    user: "User | None"


def validate(form: Form) -> bool:
    return form.user.ok
"""
TESTS = """\
from auth import Form, validate


def test_nobody_is_refused() -> None:
    assert not validate(Form(None))


test_nobody_is_refused()
print("1 passed")
"""
OLD = "    return form.user.ok\n"
NEW = "    if form.user is None:\n        return False\n    return form.user.ok\n"


def call(number: int, name: str, **arguments: object) -> str:
    """A line of the script that calls a tool."""
    return "tool_call: " + json.dumps({"id": f"c{number}", "name": name, "arguments": json.dumps(arguments)})


def todos(*statuses: str) -> list[dict[str, str]]:
    """The todo list with those statuses."""
    titles = ("Reproduce the failure", "Find the cause", "Fix validate()", "Run the tests")
    return [{"title": title, "status": status} for title, status in zip(titles, statuses, strict=True)]


def say(text: str) -> str:
    """A line of the script that says `text`."""
    return "text: " + json.dumps(text)


def usage(sent: int, received: int) -> str:
    """A line of the script that reports token usage."""
    return "usage: " + json.dumps({"input_other": sent, "output": received})


FIX = [
    "\n".join(
        [
            "think: The form may come without a user; I should look at validate() first.",
            say("I'll look at the check that the login form goes through."),
            call(1, "SetTodoList", todos=todos("in_progress", "pending", "pending", "pending")),
            call(2, "ReadFile", path="auth.py"),
            usage(61_000, 240),
        ]
    ),
    "\n".join(
        [
            say(
                "`validate()` assumes that **somebody** is logged in:\n\n"
                "| form | today | should be |\n|---|---|---|\n"
                "| with a user | `user.ok` | `user.ok` |\n| without | *500* | `False` |\n\n"
                "A guard before the return is enough."
            ),
            call(3, "SetTodoList", todos=todos("done", "done", "in_progress", "pending")),
            call(4, "EditFile", path="auth.py", edit={"old": OLD, "new": NEW}),
            usage(64_000, 310),
        ]
    ),
    "\n".join(
        [
            call(5, "SetTodoList", todos=todos("done", "done", "done", "in_progress")),
            call(6, "Bash", command="python3 test_auth.py"),
            usage(66_000, 120),
        ]
    ),
    "\n".join(
        [
            call(7, "SetTodoList", todos=todos("done", "done", "done", "done")),
            usage(67_000, 60),
        ]
    ),
    "\n".join(
        [
            say(
                "Fixed. A form without a user is now refused instead of failing:\n\n"
                "```python\ndef validate(form: Form) -> bool:\n    if form.user is None:\n"
                "        return False\n    return form.user.ok\n```"
            ),
            usage(68_000, 180),
        ]
    ),
]
CLEAN = [
    "\n".join(
        [
            say("登录表单的构建产物已经过期，我先把它们删除，然后重新构建。"),
            call(1, "Bash", command="rm -rf build/ dist/ && make build"),
            usage(12_000, 90),
        ]
    ),
]


class Clock:
    """Stands still, so that the pictures are the same each time."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


@dataclass(frozen=True)
class Stage:
    """The app while its picture is prepared."""

    app: KimiTuiApp
    pilot: Pilot[None]
    clock: Clock

    async def until(self, text: str) -> None:
        """Wait until `text` stands on the screen."""
        for _ in range(300):
            await self.pilot.pause()
            if text in self.app.export_screenshot().replace("&#160;", " ").replace("&#x27;", "'"):
                return
            await asyncio.sleep(0.02)
        (FOLDER / "failed.svg").write_text(self.app.export_screenshot(), "utf-8")
        raise SystemExit(f"“{text}” never came to stand on the screen; see screenshots/failed.svg.")

    async def until_left(self) -> None:
        """Wait until the app has ended."""
        for _ in range(250):
            if self.app.return_code is not None:
                return
            await asyncio.sleep(0.02)

    async def send(self, text: str) -> None:
        """Type `text` and send it."""
        for letter in text:
            await self.pilot.press("space" if letter == " " else letter)
        await self.pilot.press("enter")

    async def answer(self, question: str, key: str) -> None:
        """Answer the approval that asks `question`."""
        await self.until(question)
        await self.pilot.press("f2")
        self.clock.now += 1
        await self.pilot.press(key)


@dataclass(frozen=True)
class Picture:
    """One file of the folder."""

    name: str
    act: Callable[[Stage], Awaitable[None]]
    script: list[str]
    size: tuple[int, int] = (110, 34)
    theme: ThemeChoice = "dark"
    demo: bool = False


async def conversation(stage: Stage) -> None:
    """A whole turn, with both panes beside it."""
    await stage.send("the login form returns 500, fix it")
    await stage.answer("Allow EditFile", "y")
    await stage.answer("Allow Bash", "y")
    await stage.until("Fixed. A form")
    await stage.pilot.press("ctrl+l", "escape")
    await stage.until("tools 7")


async def approval(stage: Stage) -> None:
    """An edit that waits for consent."""
    await stage.send("the login form returns 500, fix it")
    await stage.until("Allow EditFile")
    await stage.pilot.press("f2")


async def danger(stage: Stage) -> None:
    """A dangerous command, in a Chinese conversation."""
    await stage.send("重新构建登录页面")
    await stage.until("Allow Bash")
    await stage.pilot.press("f2")


async def commands(stage: Stage) -> None:
    """The completion of commands."""
    await stage.until("What shall we work on?")
    await stage.pilot.press("slash", "t")
    await stage.until("Change the colours")


async def demo(stage: Stage) -> None:
    """The first screen of the demo."""
    await stage.until("scripted answers")


PICTURES = (
    Picture("conversation", conversation, FIX, size=(120, 40)),
    Picture("approval", approval, FIX),
    Picture("danger", danger, CLEAN, size=(100, 28), theme="light"),
    Picture("small", approval, FIX, size=(80, 24), theme="high-contrast"),
    Picture("commands", commands, FIX, size=(80, 24), theme="light"),
    Picture("demo", demo, FIX, size=(100, 26), demo=True),
)


def project(root: Path) -> Path:
    """A small repository to work in."""
    folder = root / "code" / "shop"
    folder.mkdir(parents=True)
    (folder / "auth.py").write_text(AUTH)
    (folder / "test_auth.py").write_text(TESTS)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/fix-login\n")
    return folder


def settings_for(picture: Picture, root: Path) -> Settings:
    """Settings whose only model plays the picture's script."""
    script = root / "script.json"
    script.write_text(json.dumps(picture.script))
    return Settings(
        default_model="kimi-k2",
        default_thinking=True,
        providers={"script": Provider(type="scripted", scripts=str(script))},
        models={
            "kimi-k2": Model(
                provider="script",
                model="kimi-k2",
                max_context_size=262_144,
                capabilities=frozenset({"thinking"}),
                price=ModelPrice(input=0.6, output=2.5),
            )
        },
    )


async def take(picture: Picture) -> None:
    """Take one picture."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        os.environ["HOME"] = temporary  # the header says ~/code/shop
        work_dir, wire, clock = project(root), Wire(), Clock()
        options = EngineOptions(
            settings=settings_for(picture, root),
            share_dir=root / "share",
            work_dir=work_dir,
            demo=picture.demo,
        )

        async def engine() -> None:
            await (await open_engine(wire, options)).serve()

        app = KimiTuiApp(
            wire=wire,
            start=engine,
            options=TuiOptions(
                work_dir=work_dir,
                share_dir=root / "share",
                theme=picture.theme,
                reduced_motion=True,
                version=__version__,
                clock=clock,
            ),
        )
        async with app.run_test(size=picture.size) as pilot:
            stage = Stage(app, pilot, clock)
            await picture.act(stage)
            await pilot.pause(0.3)
            (FOLDER / f"{picture.name}.svg").write_text(app.export_screenshot(title="kimi-tui"), "utf-8")
            await pilot.press("ctrl+q")
            await stage.until_left()


def main(names: list[str]) -> None:
    """Take the pictures named, or all."""
    FOLDER.mkdir(exist_ok=True)
    for picture in PICTURES:
        if not names or picture.name in names:
            asyncio.run(take(picture))
            sys.stdout.write(f"screenshots/{picture.name}.svg\n")


if __name__ == "__main__":
    main(sys.argv[1:])

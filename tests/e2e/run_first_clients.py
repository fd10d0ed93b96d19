"""Clients of the real program that answer questions about commands that ran first."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

from tests.acp.fake_editor import FakeEditor, PermissionPrompt
from tests.e2e.program import Program
from tests.e2e.screen import Screen
from tests.timeouts import TEST_TIMEOUT_S
from tests.wireserver.client import WireTestClient

AnswerKind = Literal["yes", "no", "feedback", "direct"]
FEEDBACK = "call it b"


class RunFirstClient(Protocol):
    """A user of one entry point. A turn ends when the model's text, or nothing, follows its last call."""

    gives_feedback: bool
    """Whether a refusal can say what to do instead."""
    has_modes: bool
    """Whether accept edits mode can be switched on."""

    async def start_turn(self) -> None:
        """Send a prompt."""
        ...

    async def question(self, expected: str) -> str:
        """Wait for a question that contains `expected`, and return its text."""
        ...

    async def answer(self, kind: AnswerKind) -> None:
        """Answer the question."""
        ...

    async def end_of_turn(self, text: str = "") -> None:
        """Wait until the turn has ended, with `text` as the model's response if it got that far."""
        ...

    async def interrupt(self) -> None:
        """Interrupt the turn."""
        ...

    async def accept_edits(self) -> None:
        """Switch on accept edits mode."""
        ...


class WireClient:
    """A client of the Wire server with `supports_effects`."""

    gives_feedback = True
    has_modes = False

    def __init__(self, client: WireTestClient) -> None:
        self._client = client
        client.initialize(capabilities={"supports_effects": True})
        self._turn = ""
        self._request: dict[str, Any] = {}

    async def start_turn(self) -> None:
        self._turn = self._client.start_call("prompt", {"user_input": "go"})

    async def question(self, expected: str) -> str:
        self._request = self._client.event("ApprovalRequest")
        text = str(self._request)
        assert expected in text
        return text

    async def answer(self, kind: AnswerKind) -> None:
        responses = {"yes": "approve", "no": "reject", "feedback": "reject", "direct": "run_directly"}
        more = {"feedback": FEEDBACK} if kind == "feedback" else {}
        self._client.answer(self._request["id"], response=responses[kind], **more)

    async def end_of_turn(self, text: str = "") -> None:
        assert "error" not in self._client.answer_to(self._turn)

    async def interrupt(self) -> None:
        self._client.start_call("cancel")

    async def accept_edits(self) -> None:
        raise NotImplementedError


class EditorClient:
    """An editor that speaks ACP."""

    gives_feedback = False
    has_modes = True

    def __init__(self, editor: FakeEditor, session_id: str) -> None:
        self._editor = editor
        self._session_id = session_id
        self._turn: Any = None
        self._prompt: PermissionPrompt | None = None

    async def start_turn(self) -> None:
        self._turn = self._editor.start_prompt(self._session_id, "go")

    async def question(self, expected: str) -> str:
        self._prompt = await self._editor.next_permission_prompt()
        text = self._prompt.call.model_dump_json()
        assert expected in text
        return text

    async def answer(self, kind: AnswerKind) -> None:
        assert self._prompt is not None
        name = {"yes": "Yes", "no": "No", "direct": "Run it for real"}[kind]
        ids = [option.option_id for option in self._prompt.options if option.name == name]
        self._prompt.answer.set_result(ids[0])

    async def end_of_turn(self, text: str = "") -> None:
        await self._turn

    async def interrupt(self) -> None:
        await self._editor.connection.cancel(self._session_id)
        if self._prompt is not None and not self._prompt.answer.done():
            self._prompt.answer.set_result(None)

    async def accept_edits(self) -> None:
        await self._editor.connection.set_session_mode(self._session_id, "accept_edits")


class LinearClient:
    """A user of screen reader mode."""

    gives_feedback = True
    has_modes = True

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._seen = 0
        self._is_asked = False
        screen.wait_for("You:")

    async def start_turn(self) -> None:
        self._screen.type("go\r")

    async def question(self, expected: str) -> str:
        self._wait_for_new(lambda new: expected in new and "Answer: " in new.partition("s: Show all.")[2])
        text = self._take()
        self._is_asked = True
        return text.partition("Permission request")[2]

    async def answer(self, kind: AnswerKind) -> None:
        self._is_asked = False
        self._screen.type({"yes": "y\r", "no": "n\r", "feedback": "f\r", "direct": "x\r"}[kind])
        if kind == "feedback":
            self._wait_for_new(lambda new: "What should it do instead?" in new)
            self._screen.type(f"{FEEDBACK}\r")

    async def end_of_turn(self, text: str = "") -> None:
        self._wait_for_new(lambda new: "You:" in new.partition("Took")[2])
        self._take()

    async def interrupt(self) -> None:
        os.kill(self._screen.pid, signal.SIGINT)
        if self._is_asked:
            self._wait_for_new(lambda new: "The request was closed." in new)
            self._screen.type("\r")

    async def accept_edits(self) -> None:
        self._screen.type("/edits\r")
        self._wait_for_new(lambda new: "You:" in new.partition("Permission mode: accept edits")[2])
        self._take()

    def _wait_for_new(self, condition: Callable[[str], bool]) -> None:
        self._screen.wait_for(lambda _: condition(self._screen.sent[self._seen :]))

    def _take(self) -> str:
        text = self._screen.sent[self._seen :]
        self._seen = len(self._screen.sent)
        return text


class AppClient:
    """A user of the full-screen app."""

    gives_feedback = True
    has_modes = True

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        screen.wait_for("Ask anything")

    async def start_turn(self) -> None:
        self._screen.wait_until_idle(quiet_s=0.3)
        self._screen.type("go\r")

    async def question(self, expected: str) -> str:
        self._screen.wait_for(lambda text: "Allow" in text and expected in text)
        text = self._screen.wait_until_idle(quiet_s=0.7)  # the panel ignores keys for half a second
        return text[text.index("Allow") :]

    async def answer(self, kind: AnswerKind) -> None:
        self._screen.type({"yes": "y\r", "no": "n\r", "feedback": "f\r", "direct": "x\r"}[kind])
        if kind == "feedback":
            self._screen.wait_until_idle(quiet_s=0.7)
            self._screen.type(f"{FEEDBACK}\r")

    async def end_of_turn(self, text: str = "") -> None:
        self._screen.wait_for(
            lambda shown: "Allow" not in shown and "Ask anything" in shown and text in shown
        )

    async def interrupt(self) -> None:
        self._screen.press("escape")

    async def accept_edits(self) -> None:
        self._screen.wait_until_idle(quiet_s=0.3)
        self._screen.type("\x1b[Z")
        self._screen.wait_for("accept edits")


async def wait_until_exists(path: Path) -> None:
    """Wait until a file exists."""
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while not path.exists():
            await asyncio.sleep(0.01)


def configure(program: Program, scripts: list[str], *, more: str = "") -> None:
    """Configure a scripted model, and commands that run first."""
    program.script(*scripts)
    config = program.data_dir / "config.toml"
    config.write_text(config.read_text().replace("run_first = false", "run_first = true") + more)

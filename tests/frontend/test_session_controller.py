"""Session controller: sending, queuing, steering, interrupting, and prompts that can't be sent."""

from dataclasses import dataclass, field, replace

from kimi_tui.base.content_parts import ImageURLPart, TextPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.frontend.drafts import Draft
from kimi_tui.frontend.image_attachments import AttachedImage, ImageAttachments
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.parsed_command import ParsedCommand
from kimi_tui.frontend.session_controller import CommandResult, SessionController
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.shell_line import ShellLine, parse_shell_line
from kimi_tui.frontend.terminal_notifier import TerminalNotifier
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import Command, Interrupt, Prompt, Shutdown, Steer, StopShell
from kimi_tui.wire.events import (
    ApprovalResponse,
    ReplayBegin,
    ReplayEnd,
    SessionInfo,
    SnapshotProgress,
    SteerInput,
    StepBegin,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest
from kimi_tui.wire.turn import TurnFailure
from kimi_tui.wire.user_shell import ShellCommandBegin
from tests.tui.conftest import SESSION, FakeClock


@dataclass
class Typed:
    """Text as the user submitted it."""

    text: str
    draft: Draft
    shell_line: ShellLine | None


@dataclass
class FakeFrontEnd:
    """A front end with a prompt, which records what the controller does with them."""

    prompt_text: str = ""
    command_result: CommandResult = "done"
    image_error: KimiTuiError | None = None
    history: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    commands: list[ParsedCommand] = field(default_factory=list)
    shell_commands: list[str] = field(default_factory=list)
    offers: int = 0
    shown: list[Outgoing] = field(default_factory=list)
    state: SessionViewState = field(default_factory=SessionViewState)
    images: ImageAttachments = field(default_factory=ImageAttachments)

    async def add_image_tokens(self, text: str) -> str:
        if self.image_error is not None:
            raise self.image_error
        return text

    def fill(self, text: str) -> None:
        self.prompt_text = text + self.prompt_text

    def give_back(self, draft: Draft) -> None:
        self.prompt_text = draft.text + self.prompt_text

    def remember(self, text: str, draft: Draft) -> None:
        self.history.append(text)

    def show_state(self, state: SessionViewState) -> None:
        self.state = state

    def show_batch(self, batch: MessageBatch) -> None:
        self.shown += batch.all

    def show_error(self, message: str) -> None:
        self.errors.append(message)

    async def run_command(self, command: ParsedCommand) -> CommandResult:
        self.commands.append(command)
        return self.command_result

    async def run_in_shell(self, line: ShellLine) -> None:
        self.shell_commands.append(line.command)

    async def offer_writing(self) -> None:
        self.offers += 1

    def send(self, sequence: str) -> None:
        """Notifications of the terminal are tested elsewhere."""


class RecordingWire(Wire):
    """A wire that records the commands sent to the engine."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Command] = []

    def command(self, command: Command) -> None:
        self.sent.append(command)


class Harness:
    """A controller whose user types and whose engine sends messages."""

    def __init__(self, *messages: Outgoing, session: SessionInfo = SESSION) -> None:
        self.front = FakeFrontEnd()
        self.wire = RecordingWire()
        clock = FakeClock()
        self.controller = SessionController(
            wire=self.wire,
            front_end=self.front,
            prompt=self.front,
            attachments=self.front,
            notifier=TerminalNotifier(method="off", terminal=self.front, clock=clock, in_tmux=False),
            clock=clock,
        )
        self.receive(session, *messages)

    @property
    def state(self) -> SessionViewState:
        assert self.front.state is self.controller.state
        return self.controller.state

    def receive(self, *messages: Outgoing) -> None:
        self.controller.show_batch(list(messages))

    async def type(self, text: str) -> bool:
        return await self.controller.submit(Typed(text, Draft(text), parse_shell_line(text, "agent")))


# sending and queuing


async def test_a_prompt_is_sent_immediately_when_idle() -> None:
    it = Harness()
    assert await it.type("hello")
    assert it.wire.sent == [Prompt("hello")]
    assert it.front.history == ["hello"]
    assert it.state.is_busy


async def test_a_prompt_is_queued_while_a_turn_runs() -> None:
    it = Harness(TurnBegin("before"))
    assert await it.type("next")
    assert it.wire.sent == []
    assert it.state.queue == ("next",)


async def test_a_letter_meant_for_a_request_is_not_sent_to_the_agent() -> None:
    request = ApprovalRequest("r1", "c1", "Bash", "run command", "")
    it = Harness(TurnBegin("before"), request)
    assert not await it.type("y")
    it.controller.answer(ApprovalResponse("r1", "approve"))
    assert not await it.type("y")
    it.controller.steer("y", Draft("y"))
    assert it.state.queue == ()
    assert all(not isinstance(command, Prompt | Steer) for command in it.wire.sent)
    assert it.front.errors == [
        "“y” was not sent to the agent. Answer the open request.",
        *["“y” was not sent to the agent. No request is open now."] * 2,
    ]
    it.receive(TurnEnd())
    assert await it.type("y")


async def test_a_second_prompt_is_queued_even_before_the_first_turn_begins() -> None:
    it = Harness()
    await it.type("one")
    await it.type("two")
    assert it.wire.sent == [Prompt("one")]
    assert it.state.queue == ("two",)


async def test_a_prompt_is_sent_with_the_images_that_it_names() -> None:
    it = Harness(session=replace(SESSION, capabilities=("image_in",)))
    it.front.images.add(AttachedImage(data=b"png", media_type="image/png", size=(2, 1)))
    await it.type("see [image #1 2x1]")
    (prompt,) = it.wire.sent
    assert isinstance(prompt, Prompt)
    assert isinstance(prompt.user_input, tuple)
    assert [type(part) for part in prompt.user_input] == [TextPart, ImageURLPart]


async def test_the_next_prompt_is_sent_after_a_finished_turn() -> None:
    it = Harness(TurnBegin("before"))
    await it.type("a")
    await it.type("b")
    it.receive(TurnEnd())
    assert it.wire.sent == [Prompt("a")]
    assert it.state.queue == ("b",)
    assert it.front.prompt_text == ""


async def test_the_queue_returns_to_the_prompt_after_any_other_outcome() -> None:
    it = Harness(TurnBegin("before"))
    await it.type("a")
    await it.type("b")
    it.receive(TurnEnd("cancelled"))
    assert it.wire.sent == []
    assert it.state.queue == ()
    assert it.front.prompt_text == "a\n\nb"


async def test_the_last_queued_prompt_can_be_edited() -> None:
    it = Harness(TurnBegin("before"))
    await it.type("a")
    await it.type("b")
    it.controller.edit_last_queued()
    assert (it.state.queue, it.front.prompt_text) == (("a",), "b")


def test_steering_reaches_the_running_turn_or_starts_one() -> None:
    it = Harness()
    it.controller.steer("hello", Draft("hello"))
    it.receive(TurnBegin("hello"))
    it.controller.steer("not there", Draft("not there"))
    assert it.wire.sent == [Prompt("hello"), Steer("not there")]
    assert it.front.history == ["hello", "not there"]


# what isn't a prompt


async def test_a_slash_command_is_run_and_kept_in_the_history() -> None:
    it = Harness()
    assert not await it.type("/model  kimi")
    assert it.front.commands == [ParsedCommand("model", "kimi")]
    assert it.front.history == ["/model  kimi"]
    assert it.wire.sent == []


async def test_an_api_key_after_login_never_reaches_the_history() -> None:
    it = Harness()
    await it.type("/setup sk-secret")
    assert it.front.history == ["/login"]


async def test_an_unknown_command_is_sent_or_edited_as_the_user_chooses() -> None:
    it = Harness()
    it.front.command_result = "send"
    assert await it.type("/ask me")
    it.front.command_result = "edit"
    assert not await it.type("/modle")
    assert it.wire.sent == [Prompt("/ask me")]
    assert it.front.prompt_text == "/modle"


async def test_a_shell_line_runs_in_the_shell() -> None:
    it = Harness()
    assert not await it.type("!ls")
    assert it.front.shell_commands == ["ls"]
    assert it.front.history == ["!ls"]


async def test_a_read_only_session_keeps_the_prompt_and_offers_to_continue() -> None:
    it = Harness(session=replace(SESSION, read_only=True))
    assert not await it.type("hello")
    assert (it.front.prompt_text, it.front.offers, it.wire.sent) == ("hello", 1, [])


# what can't be sent


async def test_a_prompt_whose_image_cannot_be_read_returns_to_the_prompt() -> None:
    it = Harness()
    it.front.image_error = KimiTuiError("a.png is no image.", hint="Use a PNG.")
    assert not await it.type("see @a.png")
    assert (it.front.prompt_text, it.front.errors) == ("see @a.png", ["a.png is no image. Use a PNG."])


async def test_a_prompt_with_an_image_returns_if_the_model_supports_none() -> None:
    it = Harness()
    it.front.images.add(AttachedImage(data=b"png", media_type="image/png", size=(2, 1)))
    assert not await it.type("see [image #1 2x1]")
    assert it.front.prompt_text == "see [image #1 2x1]"
    assert "kimi-k2 doesn't support images." in it.front.errors[0]


async def test_a_prompt_after_the_end_of_the_session_returns() -> None:
    it = Harness()
    it.wire.close()
    assert not await it.type("hello")
    assert it.front.prompt_text == "hello"
    assert it.front.history == []


async def test_a_prompt_that_could_not_be_recorded_returns() -> None:
    it = Harness()
    await it.type("hello")
    it.receive(
        TurnBegin("hello"), TurnEnd("failed", failure=TurnFailure("Disk full.", kind="JournalWriteError"))
    )
    assert it.front.prompt_text == "hello"


# interrupting


def test_interrupting_needs_a_turn() -> None:
    it = Harness()
    assert not it.controller.interrupt()
    it.receive(TurnBegin("x"))
    assert it.controller.interrupt()
    assert it.wire.sent == [Interrupt()]
    assert it.state.turn is not None
    assert it.state.turn.is_interrupted


def test_a_revert_that_scans_files_can_be_interrupted_without_a_turn() -> None:
    it = Harness(SnapshotProgress(1, 2))
    it.controller.interrupt()
    assert it.wire.sent == [Interrupt()]


def test_shell_commands_are_stopped_after_the_turn_or_before_it() -> None:
    it = Harness(TurnBegin("x"), ShellCommandBegin("s1", "sleep 9", "/work"))
    it.controller.interrupt()
    it.controller.interrupt(shell_first=True)
    it.receive(TurnEnd())
    it.controller.interrupt()
    assert it.wire.sent == [Interrupt(), StopShell(), StopShell()]


# prompts that a crash would lose


async def test_a_prompt_is_unsaved_until_the_engine_has_recorded_it() -> None:
    it = Harness()
    await it.type("hello")
    assert it.state.unsaved_prompts == ("hello",)
    it.receive(TurnBegin("hello"))
    assert it.state.unsaved_prompts == ("hello",)
    it.receive(StepBegin(1))
    assert it.state.unsaved_prompts == ()


async def test_a_failed_turn_acknowledges_its_prompt() -> None:
    it = Harness()
    await it.type("hello")
    it.receive(TurnBegin("hello"), TurnEnd("failed"))
    assert it.state.unsaved_prompts == ()


async def test_a_turn_with_another_prompt_acknowledges_nothing() -> None:
    it = Harness()
    await it.type("hello")
    it.receive(ReplayBegin(), TurnBegin("hello"), StepBegin(1), TurnEnd(), ReplayEnd())
    assert it.state.unsaved_prompts == ("hello",)
    it.receive(TurnBegin("/compact"), TurnEnd())
    assert it.state.unsaved_prompts == ("hello",)
    it.receive(TurnBegin((TextPart("hello"),)), StepBegin(1))
    assert it.state.unsaved_prompts == ()


async def test_later_steps_acknowledge_no_further_prompts() -> None:
    it = Harness()
    await it.type("one")
    it.receive(TurnBegin("one"), StepBegin(1))
    await it.type("two")
    it.controller.steer("not there", Draft("not there"))
    it.receive(StepBegin(2))
    assert it.state.unsaved_prompts == ("not there", "two")
    it.receive(SteerInput("not there"))
    assert it.state.unsaved_prompts == ("two",)


async def test_unsaved_prompts_return_if_the_engine_fails() -> None:
    it = Harness()
    await it.type("one")
    await it.type("two")
    it.controller.abandon()
    assert (it.state.unsaved_prompts, it.front.prompt_text) == ((), "one\n\ntwo")
    assert not await it.type("three")


async def test_sent_prompts_are_recorded_if_the_engine_exits_cleanly() -> None:
    it = Harness()
    await it.type("one")
    await it.type("two")
    it.controller.acknowledge_all()
    assert it.state.unsaved_prompts == ("two",)


async def test_prompts_after_shutdown_are_kept() -> None:
    it = Harness(TurnBegin("x"))
    it.controller.shut_down()
    it.controller.steer("not there", Draft("not there"))
    await it.type("later")
    it.receive(TurnEnd())
    assert it.wire.sent == [Shutdown()]
    it.controller.acknowledge_all()
    assert it.state.unsaved_prompts == ("not there", "later")

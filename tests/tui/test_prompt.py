"""The prompt, by its keys."""

import json
from typing import Any

import pytest
from rich.cells import cell_len
from textual import events
from textual.message import Message

from kimi_tui.base.paths import work_dir_key
from kimi_tui.tui.prompt.doorway import Doorway
from kimi_tui.tui.prompt.drafts import Draft, DraftStore
from kimi_tui.tui.prompt.prompt import Prompt as PromptWidget
from kimi_tui.wire.commands import Interrupt, Prompt, RunSlash, Steer
from kimi_tui.wire.events import SteerInput, StepBegin, StepRetry, TextPart, TurnBegin, TurnEnd, TurnFailure
from tests.tui.conftest import Desk


async def test_enter_sends_and_clears(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("hello")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Prompt) == [Prompt("hello")])
        assert desk.prompt_text == ""


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j", "alt+enter"])
async def test_keys_that_break_the_line(open_desk: Any, key: str) -> None:
    async with open_desk() as desk:
        await desk.pilot.press("a", key, "b", "enter")
        await desk.until(lambda: desk.told(Prompt) == [Prompt("a\nb")])


async def test_nothing_is_sent_for_nothing(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.pilot.press("space", "enter")
        await desk.pilot.pause()
        assert desk.told(Prompt) == []


async def test_the_prompt_grows_to_eight_lines(open_desk: Any) -> None:
    async with open_desk() as desk:
        editor = desk.screen.prompt.editor
        assert editor.size.height == 1
        await desk.pilot.press(*["ctrl+j"] * 4)
        await desk.pilot.pause()
        assert editor.size.height == 5
        await desk.pilot.press(*["ctrl+j"] * 10)
        await desk.pilot.pause()
        assert editor.size.height == 8


async def test_chinese_goes_through_as_it_is(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.pilot.press("修", "复", "登", "录", "enter")
        await desk.until(lambda: desk.told(Prompt) == [Prompt("修复登录")])


async def test_up_and_down_walk_through_what_was_sent(open_desk: Any) -> None:
    async with open_desk() as desk:
        for text in ("one", "two"):
            await desk.write(text)
            await desk.pilot.press("enter")
            await desk.say(TurnBegin(text))
            await desk.say(TurnEnd())
        await desk.write("draft")
        await desk.pilot.press("up")
        assert desk.prompt_text == "two"
        await desk.pilot.press("up")
        assert desk.prompt_text == "one"
        await desk.pilot.press("down", "down")
        assert desk.prompt_text == "draft"


async def test_up_moves_the_cursor_first_when_there_are_lines_above(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("a\nb")
        await desk.pilot.press("up", "x")
        assert desk.prompt_text == "ax\nb"


async def test_history_can_be_searched(open_desk: Any) -> None:
    async with open_desk() as desk:
        for text in ("fix the login", "write tests"):
            await desk.write(text)
            await desk.pilot.press("enter")
            await desk.say(TurnBegin(text))
            await desk.say(TurnEnd())
        await desk.pilot.press("ctrl+r")
        await desk.until(lambda: len(desk.app.screen_stack) == 2)
        await desk.write("login")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.prompt_text == "fix the login")


async def test_a_large_paste_folds_and_is_sent_whole(open_desk: Any) -> None:
    async with open_desk() as desk:
        text = "\n".join(f"line {number}" for number in range(42))
        desk.screen.prompt.editor.post_message(events.Paste(text))
        await desk.until(lambda: desk.prompt_text == "[paste #1 +42 lines]")
        await desk.write(" why")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Prompt) == [Prompt(f"{text} why")])


async def test_backspace_removes_a_folded_paste_as_a_whole(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("see ")
        desk.screen.prompt.editor.post_message(events.Paste("x" * 2000))
        await desk.until(lambda: desk.prompt_text.startswith("see [paste"))
        await desk.pilot.press("backspace")
        assert desk.prompt_text == "see "


async def test_pasted_escape_sequences_are_dropped(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.screen.prompt.editor.post_message(events.Paste("a\x1b[31mb\r\nc"))
        await desk.until(lambda: desk.prompt_text == "ab\nc")


async def test_ctrl_v_pastes_from_the_clipboard(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.clipboard.text = "from elsewhere"
        await desk.pilot.press("ctrl+v")
        await desk.until(lambda: desk.prompt_text == "from elsewhere")


async def test_slash_offers_commands_and_enter_runs_the_marked_one(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/cle")
        await desk.until(lambda: "Start over" in desk.shown())
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(RunSlash) == [RunSlash("clear")])
        assert desk.prompt_text == ""


async def test_tab_completes_without_running(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/tit")
        await desk.pilot.press("tab")
        await desk.until(lambda: desk.prompt_text == "/title ")
        assert desk.told(RunSlash) == []


async def test_escape_closes_the_completions_and_keeps_the_text(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/he")
        await desk.until(lambda: desk.screen.prompt.completions.completing)
        await desk.pilot.press("escape")
        await desk.until(lambda: not desk.screen.prompt.completions.completing)
        assert desk.prompt_text == "/he"


async def test_an_argument_completes(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/theme li")
        await desk.until(lambda: desk.screen.prompt.completions.completing)
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.app.theme == "light")


async def test_at_completes_files(open_desk: Any, options: Any) -> None:
    (options.work_dir / "src").mkdir()
    (options.work_dir / "src" / "auth.py").write_text("x")
    async with open_desk() as desk:
        await desk.write("see @au")
        await desk.until(lambda: desk.screen.prompt.completions.completing)
        await desk.pilot.press("tab")
        await desk.until(lambda: desk.prompt_text == "see @src/auth.py ")


async def test_an_unknown_command_asks_what_was_meant(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/titel my shop")
        await desk.pilot.press("enter")
        await desk.until(lambda: "There is no command /titel." in desk.shown())
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(RunSlash) == [RunSlash("title my shop")])


async def test_an_unknown_command_can_be_sent_as_it_is(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/zzz is what I typed")
        await desk.pilot.press("enter")
        await desk.until(lambda: len(desk.app.screen_stack) == 2)
        await desk.write("send it")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Prompt) == [Prompt("/zzz is what I typed")])


async def test_a_path_is_no_command(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/usr/bin/env fails")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Prompt) == [Prompt("/usr/bin/env fails")])


async def working(desk: Desk, text: str = "go") -> None:
    await desk.write(text)
    await desk.pilot.press("enter")
    await desk.say(TurnBegin(text), StepBegin(1))


async def test_enter_queues_while_the_agent_works_and_the_queue_goes_on_after(open_desk: Any) -> None:
    async with open_desk() as desk:
        await working(desk)
        await desk.write("and then")
        await desk.pilot.press("enter")
        await desk.until(lambda: "and then" in desk.shown())
        assert desk.told(Prompt) == [Prompt("go")]
        await desk.say(TurnEnd())
        await desk.until(lambda: desk.told(Prompt) == [Prompt("go"), Prompt("and then")])


async def test_a_queued_prompt_can_be_taken_back(open_desk: Any) -> None:
    async with open_desk() as desk:
        await working(desk)
        await desk.write("later")
        await desk.pilot.press("enter", "up")
        await desk.until(lambda: desk.prompt_text == "later")
        assert desk.screen.state.queue == ()


async def test_ctrl_s_steers_the_running_turn(open_desk: Any) -> None:
    async with open_desk() as desk:
        await working(desk)
        await desk.write("not there")
        await desk.pilot.press("ctrl+s")
        await desk.until(lambda: desk.told(Steer) == [Steer("not there")])
        assert desk.prompt_text == ""


async def test_alt_with_a_letter_is_that_letter_only_where_it_is_no_key(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.app.post_message(events.Key("alt+y", "y"))
        await desk.until(lambda: desk.prompt_text == "y")
        desk.app.post_message(events.Key("alt+t", "t"))
        await desk.until(lambda: "╭─ timeline" in desk.shown())
        assert desk.prompt_text == "y"


async def test_the_edge_counts_down_to_the_next_attempt(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("go"), StepBegin(1), StepRetry(1, 4, 8, 7.6, "APIConnectionError"))
        await desk.until(lambda: "trying again (4 of 8) in 8 s · esc interrupts" in desk.shown())
        desk.clock.now += 5
        await desk.until(lambda: "trying again (4 of 8) in 3 s · esc interrupts" in desk.shown())
        desk.clock.now += 3
        await desk.until(lambda: "trying again (4 of 8) · esc interrupts" in desk.shown())
        await desk.say(StepRetry(1, 5, 8, 15.0, "APIConnectionError"))
        await desk.until(lambda: "trying again (5 of 8) in 15 s" in desk.shown())
        await desk.say(TextPart("Here I am."))
        await desk.until(lambda: "trying" not in desk.words().replace("trying again in 15 s.", ""))


async def test_escape_interrupts_and_what_was_queued_returns(open_desk: Any) -> None:
    async with open_desk() as desk:
        await working(desk)
        await desk.write("later")
        await desk.pilot.press("enter", "escape")
        await desk.until(lambda: desk.told(Interrupt) == [Interrupt()])
        await desk.say(TurnEnd("cancelled"))
        await desk.until(lambda: desk.prompt_text == "later")


async def test_the_edge_of_the_prompt_says_what_the_agent_does(open_desk: Any) -> None:
    async with open_desk() as desk:
        await working(desk)
        assert "waiting for the model · esc interrupts" in desk.shown()
        await desk.say(TurnEnd())
        assert "interrupts" not in desk.shown()


async def test_a_draft_survives_a_crash(open_desk: Any, options: Any) -> None:
    dead = DraftStore(share_dir=options.share_dir, work_dir=options.work_dir, pid=2**22 + 1)
    dead.save(Draft("half a thought"))
    async with open_desk() as desk:
        await desk.until(lambda: desk.prompt_text == "half a thought")


def saved(options: Any) -> str:
    """What is kept on disk of what was typed."""
    drafts = (options.share_dir / "drafts").glob(f"{work_dir_key(options.work_dir)}.*.json")
    return "|".join(json.loads(file.read_text())["text"] for file in drafts)


async def test_what_is_typed_is_kept_until_the_engine_has_written_it_down(
    open_desk: Any, options: Any
) -> None:
    async with open_desk() as desk:
        await desk.write("one")
        await desk.pilot.press("enter")
        await desk.write("two")
        await desk.pilot.press("enter")
        await desk.write("three")
        await desk.until(lambda: saved(options) == "one\n\ntwo\n\nthree")
        await desk.say(TurnBegin("one"), StepBegin(1))
        await desk.until(lambda: saved(options) == "two\n\nthree")
        await desk.pilot.press("ctrl+s")
        await desk.until(lambda: desk.told(Steer))
        await desk.say(SteerInput("three"))
        await desk.until(lambda: saved(options) == "two")
        await desk.say(TurnEnd())
        await desk.until(lambda: desk.told(Prompt) == [Prompt("one"), Prompt("two")])
        await desk.say(TurnBegin("two"), StepBegin(1))
        await desk.until(lambda: not saved(options))


async def test_what_was_typed_last_is_kept_however_the_app_ends(open_desk: Any, options: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("x"), StepBegin(1))
        await desk.write("next")
        await desk.pilot.press("enter", "m", "o", "r", "e", "ctrl+q")
        await desk.until(lambda: desk.app.return_code == 0)
    assert saved(options) == "next\n\nmore"


async def test_an_old_draft_waits_while_the_user_writes_already(open_desk: Any, options: Any) -> None:
    async with open_desk() as desk:
        await desk.write("new")
        DraftStore(share_dir=options.share_dir, work_dir=options.work_dir, pid=2**22 + 1).save(Draft("old"))
        orphan = desk.screen.prompt.load()
        assert orphan is not None
        assert not desk.screen.prompt.adopt(orphan)
        assert desk.prompt_text == "new"
        assert "old" in saved(options)


async def test_what_is_pressed_before_the_screen_is_complete_is_done_then(open_desk: Any) -> None:
    done: list[Message] = []
    doorway = Doorway(done.append)
    messages = [PromptWidget.Submitted("a", Draft("a")), PromptWidget.ExitPressed()]
    doorway.send(messages[0])
    assert done == []
    doorway.open()
    doorway.send(messages[1])
    assert done == messages


async def test_keys_do_their_work_in_the_order_they_were_typed(open_desk: Any) -> None:
    async with open_desk() as desk:
        for key, letter in (
            ("b", "b"),
            ("left", None),
            ("a", "a"),
            ("end", None),
            ("ctrl+j", None),
            ("c", "c"),
        ):
            desk.app.post_message(events.Key(key, letter))
        await desk.until(lambda: desk.prompt_text == "ab\nc")
        for key, letter in (("d", "d"), ("enter", "\r"), ("e", "e")):
            desk.app.post_message(events.Key(key, letter))
        await desk.until(lambda: desk.told(Prompt) == [Prompt("ab\ncd")])
        await desk.until(lambda: desk.prompt_text == "e")


async def test_a_command_typed_faster_than_its_completions_come_is_what_was_typed(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/t")
        await desk.until(lambda: desk.screen.prompt.completions.completing)
        for letter in "itle":
            desk.app.post_message(events.Key(letter, letter))
        desk.app.post_message(events.Key("enter", "\r"))
        await desk.until(lambda: desk.told(RunSlash) == [RunSlash("title")])


async def test_what_could_not_be_sent_stands_before_what_was_typed_since(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/zzz")
        await desk.pilot.press("enter")
        await desk.until(lambda: len(desk.app.screen_stack) == 2)
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.prompt_text == "/zzz")
        assert desk.told(Prompt) == []


async def test_a_prompt_that_a_full_disk_refused_stands_in_the_editor_again(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("long thoughts")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Prompt))
        failure = TurnFailure("The conversation can't be written: no space left.", kind="JournalWriteError")
        await desk.say(TurnBegin("long thoughts"), TurnEnd("failed", 0, failure))
        await desk.until(lambda: desk.prompt_text == "long thoughts")


async def click_mark(desk: Desk, mark: str) -> None:
    """Click on what stands in the prompt's lower edge."""
    y = desk.screen.prompt.region.bottom - 1
    await desk.pilot.pause()
    line = desk.shown().splitlines()[y]
    assert mark in line, line
    await desk.pilot.click(offset=(cell_len(line[: line.index(mark)]), y))


async def test_a_prompt_is_sent_queued_and_stopped_by_the_mouse(open_desk: Any) -> None:
    async with open_desk() as desk:
        assert "↵" not in desk.shown()
        await desk.write("hello")
        await click_mark(desk, "↵ send")
        await desk.until(lambda: desk.told(Prompt) == [Prompt("hello")])
        await desk.say(TurnBegin("hello"), StepBegin(1))
        await desk.write("next")
        await click_mark(desk, "↵ queue")
        await desk.until(lambda: desk.screen.state.queue == ("next",))
        assert desk.screen.prompt.editor.has_focus
        await click_mark(desk, "■ stop")
        await desk.until(lambda: desk.told(Interrupt) == [Interrupt()])
        await desk.pilot.pause()
        assert "■" not in desk.shown(), "it is stopping already"


async def test_marks_cover_nothing_on_the_smallest_screen(open_desk: Any) -> None:
    async with open_desk(size=(40, 10)) as desk:
        desk.screen.prompt.fill("7" * 100)
        await desk.say(TurnBegin("go"), StepBegin(1))
        assert desk.shown().count("7") == 100
        await desk.pilot.press("ctrl+x")
        await desk.pilot.pause()
        edge = desk.shown().splitlines()[desk.screen.prompt.region.bottom - 1]
        assert "+  ↵ run  ■ stop" in edge
        assert desk.shown().count("7") == 100


async def test_what_else_the_prompt_s_keys_do_is_in_a_menu(open_desk: Any) -> None:
    async with open_desk() as desk:

        async def choose(label: str) -> None:
            await click_mark(desk, "+")
            await desk.until(lambda: label in desk.shown())
            lines = desk.shown().splitlines()
            y = next(at for at, line in enumerate(lines) if label in line)
            await desk.pilot.click(offset=(lines[y].index(label), y))
            await desk.until(lambda: len(desk.app.screen_stack) == 1)

        desk.clipboard.text = "first"
        await choose("paste, or attach")
        await desk.until(lambda: desk.prompt_text == "first")
        await choose("new line")
        await desk.until(lambda: desk.prompt_text == "first\n")
        await choose("clear the prompt")
        await desk.until(lambda: desk.prompt_text == "")
        await choose("run commands in your shell")
        await desk.until(lambda: "talks to the agent" in desk.shown())
        await click_mark(desk, "talks to")
        await desk.until(lambda: "talks to the agent" not in desk.shown())
        await desk.say(TurnBegin("go"), StepBegin(1))
        await desk.write("sooner")
        await choose("say it to the running turn")
        await desk.until(lambda: desk.told(Steer) == [Steer("sooner")])

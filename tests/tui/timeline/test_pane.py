"""The timeline pane: opened, walked, folded, filtered and left, by keys and by mouse."""

from dataclasses import replace
from typing import Any

from textual import events
from textual.widgets import Static

from kimi_tui.tui.hints import Hints
from kimi_tui.tui.session_wish import SessionWish
from kimi_tui.tui.timeline.pane import TimelinePane
from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.codec import envelope
from kimi_tui.wire.commands import (
    Compare,
    ForkSession,
    LookIntoBranch,
    NameCheckpoint,
    PlanSwitch,
    ShowTimeline,
    Shutdown,
)
from kimi_tui.wire.display import TodoItem
from kimi_tui.wire.events import TodoUpdate, TurnBegin
from kimi_tui.wire.timeline import BranchContent, SessionForked, Timeline, TimelineBranch, TimelineUpdate
from tests.tui.conftest import SESSION, Desk
from tests.tui.timeline.story import NOW, TIMELINE, node
from tests.tui.timeline.test_rows import line_of


def view(desk: Desk) -> TimelineView:
    return desk.screen.query_one(TimelineView)


def rows(desk: Desk) -> list[str]:
    """The pane's rows that are in sight, from the top."""
    texts = [view(desk).render_line(y).text for y in range(view(desk).size.height)]
    return [" ".join(text.split()) for text in texts if text.strip()]


def marked(desk: Desk) -> int | None:
    """The number of the marked checkpoint; None is now."""
    found = view(desk).node
    return found.id if found is not None else None


def said(desk: Desk, text: str) -> bool:
    """Whether a toast says `text`."""
    return any(text in toast.message for toast in desk.app._notifications)


async def click_row(desk: Desk, text: str, *, on: str = "", times: int = 1) -> None:
    """Click the row of the pane that shows `text`, at the letters `on`."""
    lines = [view(desk).render_line(y).text for y in range(view(desk).size.height)]
    y = next(y for y, line in enumerate(lines) if text in line)
    await desk.pilot.click(TimelineView, offset=(lines[y].index(on or text), y), times=times)


async def click_hint(desk: Desk, text: str) -> None:
    """Click what the pane says that one can do."""
    lines = desk.shown().split("\n")
    region = desk.screen.query_one(TimelinePane).query_one(Hints).region
    y = next(y for y in range(region.y, region.bottom) if text in lines[y])
    await desk.pilot.click(offset=(lines[y].index(text), y))


async def test_each_row_tells_number_label_lines_shell_coverage_and_age(open_timeline: Any) -> None:
    async with open_timeline((200, 24)) as desk:
        assert rows(desk) == [
            "● now 13 checkpoints",
            "│ 12 All tests pass now. 13k now",
            "│ 11 EditFile src/auth.py +4 −1 1f ◔ 12k 2m",
            "│ 10 Bash sed -i s/ok/OK/ src/auth.py +12 −120 3f $ 11k 30m",
            "● ▾ 9 good 登录表单返回 500，请修 … +16 −121 4f $ ◔ 10k 31m",
            "├─╮ ▸ 1 turn 2 steps, undone the login form returns 500,… 59m",
            "●─╯ ▸ 0 add a login form to the shop +42 −3 1f 1k 3h",
        ]


async def test_a_session_that_is_read_only_is_looked_at_and_not_travelled(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await desk.say(replace(SESSION, read_only=True))
        await desk.pilot.press("down")
        hints = desk.shown()
        assert "changed since" in hints
        assert "back to before this" not in hints
        for key in ("enter", "c", "u", "F", "n", "m"):
            await desk.pilot.press(key)
        assert said(desk, "This session is read only")
        assert len(list(desk.app._notifications)) == 1  # not once for each key
        await desk.pilot.press("space")
        await desk.until(lambda: desk.told(Compare))
        await desk.pilot.press("escape", "end", "up", "o")
        await desk.until(lambda: desk.told(LookIntoBranch))
        assert {type(command) for command in desk.engine.commands} <= {ShowTimeline, Compare, LookIntoBranch}


async def test_the_keys_walk_and_fold_and_the_conversation_follows(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        press = desk.pilot.press
        transcript = desk.screen.furnished.workbench.transcript
        assert marked(desk) is None
        before = _colours(transcript, "登录表单")
        await press("down", "j")
        assert marked(desk) == 11
        await press("k", "up", "up")
        assert marked(desk) is None
        await press("end", "right")
        assert "│ 1 ReadFile src/auth.py 2h" in rows(desk)
        await press("l")
        assert marked(desk) == 1
        assert _colours(transcript, "I look at") != _colours(transcript, "add a login")
        await press("h", "left")
        assert marked(desk) == 0
        assert not any("ReadFile" in row for row in rows(desk))
        await press("up", "right", "down")
        assert marked(desk) == 4
        await press("left")
        assert view(desk).marked.kind == "branch"  # type: ignore[union-attr]
        await press("left", "left")
        assert marked(desk) == 0
        await press("pageup")
        assert marked(desk) is None
        await press("pagedown", "escape")
        await desk.until(lambda: desk.app.focused is desk.screen.prompt.editor)
        assert _colours(transcript, "登录表单") == before


def _colours(transcript: Any, text: str) -> set[str]:
    """The colours of the words in the first row of the conversation that shows `text`."""
    for y in range(transcript.size.height):
        strip = transcript.render_line(y)
        if text in strip.text:
            return {part.style.color.name for part in strip if part.text.strip(" ▌")}
    raise AssertionError(f"{text} is not in sight")


async def test_the_mouse_marks_folds_and_presses_hints(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await click_row(desk, "11 EditFile")
        assert marked(desk) == 11
        await click_row(desk, "add a login", on="▸")
        assert "│ 1 ReadFile src/auth.py 2h" in rows(desk)
        await click_row(desk, "1 turn 2 steps", on="▸")
        assert any("4 the log" in row for row in rows(desk))
        await click_row(desk, "2 EditFile")
        await click_hint(desk, "changed since")
        await desk.until(lambda: desk.told(Compare))
        assert desk.told(Compare) == [Compare(2, None)]


async def test_a_new_checkpoint_comes_in_above_and_moves_nothing_that_is_read(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await desk.pilot.press("down", "down")
        new = node(13, "step", "WriteFile new.py", parent=12, changes=None)
        desk.engine.say(TimelineUpdate((TIMELINE.nodes[-1], new), "u13"))
        await desk.until(lambda: "│ 13 WriteFile new.py now" in rows(desk))
        assert marked(desk) == 11


async def test_a_filter_shows_what_fits_and_escape_shows_everything_again(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        everything = rows(desk)
        await desk.pilot.press("slash")
        await desk.write("pytest")
        await desk.until(lambda: len(rows(desk)) == 2)
        assert "timeline: 1 found" in desk.shown()
        await desk.pilot.press("down", "enter")
        assert marked(desk) == 5
        assert len(rows(desk)) == 2
        await desk.pilot.press("escape")
        await desk.until(lambda: rows(desk) == everything)
        assert desk.app.focused is view(desk)


async def test_a_name_a_fork_and_a_comparison_are_asked_for_here(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await desk.pilot.press("down", "n")
        await desk.write("green")
        await desk.pilot.press("enter")
        assert desk.told(NameCheckpoint) == [NameCheckpoint(12, "green")]
        desk.engine.say(TimelineUpdate((replace(TIMELINE.nodes[-1], name="green"),), "u12"))
        await desk.until(lambda: "12 green All tests" in rows(desk)[1])
        await desk.pilot.press("F", "d", "end", "d")
        assert desk.told(ForkSession) == [ForkSession(12)]
        await desk.until(lambda: desk.told(Compare))
        assert desk.told(Compare) == [Compare(0, 12)]
        assert view(desk).compared == ""


async def test_b_asks_for_the_plan_of_a_branch_and_says_where_there_is_none(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await desk.pilot.press("b")
        assert said(desk, "This is how things are now.")
        await desk.pilot.press("end", "b")
        assert said(desk, "there is no branch to go to")
        await desk.pilot.press("up", "b")
        await desk.until(lambda: desk.told(PlanSwitch))
        assert desk.told(PlanSwitch) == [PlanSwitch(1)]


async def test_the_key_goes_to_the_pane_and_hides_it_when_one_is_there(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.app.focused is desk.screen.prompt.editor)
        assert view(desk).region
        await desk.pilot.press("f3")
        await desk.until(lambda: desk.app.focused is view(desk))
        await desk.pilot.press("f3")
        await desk.until(lambda: desk.app.focused is desk.screen.prompt.editor)
        assert not view(desk).region
        assert len(desk.told(ShowTimeline)) == 1
        desk.engine.say(replace(SESSION, session_id="s2"))
        await desk.until(lambda: len(desk.told(ShowTimeline)) == 2)


async def test_from_the_prompt_the_pane_names_what_works_there(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        assert "u undo" in desk.words()
        await desk.pilot.press("escape")
        await desk.until(lambda: "/undo undo f3 choose a moment" in desk.words())
        await click_hint(desk, "choose a moment")
        await desk.until(lambda: desk.app.focused is view(desk) and "u undo" in desk.words())


async def test_a_compaction_opens_to_what_it_replaced_and_can_be_undone(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        compaction = node(13, "compaction", "compacted", parent=12)
        left = TimelineBranch(number=2, left=NOW, reason="compaction", tip="u12", messages=9)
        nodes = tuple(replace(known, branch=2 if known.branch is None else 1) for known in TIMELINE.nodes)
        desk.engine.say(Timeline((*nodes, compaction), (*TIMELINE.branches, left), "u13"))
        await desk.until(lambda: "13 compacted" in rows(desk)[1])
        await desk.pilot.press("home", "down")
        await desk.until(lambda: "b undo the compaction" in desk.words())
        await desk.pilot.press("right")
        await desk.until(lambda: desk.told(LookIntoBranch))
        desk.engine.say(BranchContent(2, (envelope(TurnBegin("add a login form")),), None, "We built it."))
        await desk.until(lambda: "This summary took its place: We built it." in desk.words())
        await desk.pilot.press("b")
        await desk.until(lambda: desk.told(PlanSwitch))
        assert desk.told(PlanSwitch) == [PlanSwitch(2)]


async def test_a_fork_can_be_gone_on_in(open_timeline: Any) -> None:
    wishes: list[SessionWish] = []

    async def reopen(wish: SessionWish, wire: Wire) -> None:
        wishes.append(wish)
        wire.send(replace(SESSION, session_id="s9", title="the fork"))
        async for command in wire.commands():
            if isinstance(command, Shutdown):
                break
        wire.close()

    async with open_timeline(reopen=reopen) as desk:
        desk.engine.say(SessionForked("s8", "another fork", 3))
        await desk.until(lambda: "go on in the new session" in desk.words())
        await desk.pilot.press("escape")
        await desk.until(lambda: "go on in the new session" not in desk.words())
        desk.engine.say(SessionForked("s9", "the fork", 3))
        await desk.until(lambda: "go on in the new session" in desk.words())
        await desk.pilot.press("enter")
        await desk.until(lambda: "the fork" in desk.words() and wishes)
        assert wishes == [SessionWish(session_id="s9")]


async def test_on_a_narrow_terminal_leaving_hides_it(open_timeline: Any) -> None:
    async with open_timeline((60, 16)) as desk:
        await desk.pilot.press("down")
        assert "enter back to before this" in desk.words()
        await desk.pilot.press("escape")
        await desk.until(lambda: not view(desk).region)


async def test_escape_twice_opens_it_from_an_empty_prompt_only(open_desk: Any) -> None:
    async with open_desk(size=(80, 24), wall_clock=lambda: NOW) as desk:
        await desk.pilot.press("x", "escape", "escape")
        assert not desk.told(ShowTimeline)
        await desk.pilot.press("backspace", "escape", "escape")
        await desk.until(lambda: desk.told(ShowTimeline))
        await desk.pilot.pause()
        assert desk.app.focused is view(desk)


async def test_hostile_labels_and_names_are_text(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        evil = node(
            13, "step", "[red]x[/] \x1b[31mred\n\x07", parent=12, name="[b]\x1b]0;t\x07", changes=None
        )
        desk.engine.say(TimelineUpdate((evil,), "u13"))
        await desk.until(lambda: any("[b]" in row for row in rows(desk)))
        await desk.pilot.press("down")
        told = str(desk.screen.query_one("#timeline-told", Static).content)
        assert "[red]x[/]" in told
        assert "\x1b" not in told + "".join(rows(desk))


async def test_ten_thousand_checkpoints_draw_only_what_is_in_sight(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        desk.engine.say(line_of(10_000, steps_in_turn=2))
        await desk.until(lambda: "● now 10,000 checkpoints" in rows(desk))
        drawn: list[int] = []
        line = view(desk)._line

        def remembering(index: int, width: int) -> Any:
            drawn.append(index)
            return line(index, width)

        view(desk)._line = remembering  # type: ignore[method-assign]
        await desk.pilot.press("end")
        assert marked(desk) == 0
        assert 0 < len(drawn) <= 3 * view(desk).size.height
        bottom = view(desk).scroll_offset.y
        x, y = view(desk).region.offset
        wheel = events.MouseScrollUp(view(desk), x + 4, y + 4, 0, 0, 0, False, False, False)
        desk.app.screen._forward_event(wheel)
        await desk.until(lambda: view(desk).scroll_offset.y < bottom)


async def test_the_todo_list_gives_way_to_the_timeline_where_both_would_crowd_the_conversation(
    open_timeline: Any,
) -> None:
    async with open_timeline(size=(100, 30)) as desk:
        await desk.say(TodoUpdate((TodoItem("bake a cake"),)))
        assert "bake a cake" not in desk.shown()
        await desk.pilot.press("f3")
        await desk.until(lambda: "bake a cake" in desk.shown())

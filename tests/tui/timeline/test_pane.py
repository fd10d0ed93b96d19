"""Timeline pane: opening, moving, folding, filtering and leaving, with keys and mouse."""

from dataclasses import replace
from typing import Any

from textual import events
from textual.widgets import Static

from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.timeline.pane import TimelinePane
from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.tui.widgets.key_hints import KeyHints
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.codec import envelope
from kimi_tui.wire.commands import (
    Compare,
    ForkSession,
    NameCheckpoint,
    PlanRevert,
    PlanSwitch,
    ReadBranch,
    ShowTimeline,
    Shutdown,
)
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.events import TodoUpdate, TurnBegin
from kimi_tui.wire.review import ReviewChanges
from kimi_tui.wire.timeline import BranchContent, SessionForked, Timeline, TimelineBranch, TimelineUpdate
from tests.tui.conftest import SESSION, AppHarness
from tests.tui.timeline.sample_timeline import NOW, TIMELINE, node
from tests.tui.timeline.test_rows import linear_timeline


def view(harness: AppHarness) -> TimelineView:
    return harness.screen.query_one(TimelineView)


def rows(harness: AppHarness) -> list[str]:
    """Return the visible rows of the pane, from the top."""
    texts = [view(harness).render_line(y).text for y in range(view(harness).size.height)]
    return [" ".join(text.split()) for text in texts if text.strip()]


def highlighted_checkpoint(harness: AppHarness) -> int | None:
    """Return the number of the highlighted checkpoint; None is the current state."""
    node = view(harness).highlighted_node
    return node.id if node is not None else None


def toast_contains(harness: AppHarness, text: str) -> bool:
    """Return whether a toast contains `text`."""
    return any(text in toast.message for toast in harness.app._notifications)


async def click_row(harness: AppHarness, text: str, *, on: str = "", times: int = 1) -> None:
    """Click the row of the pane that shows `text`, at the text `on`."""
    lines = [view(harness).render_line(y).text for y in range(view(harness).size.height)]
    y = next(y for y, line in enumerate(lines) if text in line)
    await harness.driver.click(TimelineView, offset=(lines[y].index(on or text), y), times=times)


async def click_hint(harness: AppHarness, text: str) -> None:
    """Click a key hint of the pane."""
    lines = harness.screen_text().split("\n")
    region = harness.screen.query_one(TimelinePane).query_one(KeyHints).region
    y = next(y for y in range(region.y, region.bottom) if text in lines[y])
    await harness.driver.click(offset=(lines[y].index(text), y))


async def test_rows_show_number_label_lines_shell_coverage_and_age(open_timeline: Any) -> None:
    async with open_timeline((200, 24)) as harness:
        assert rows(harness) == [
            "● now 13 checkpoints",
            "│ 12 All tests pass now. 13k now",
            "│ 11 EditFile src/auth.py +4 −1 1f ◔ 12k 2m",
            "│ 10 Bash sed -i s/ok/OK/ src/auth.py +12 −120 3f $ 11k 30m",
            "● ▾ 9 good 登录表单返回 500，请修 … +16 −121 4f $ ◔ 10k 31m",
            "├─╮ ▸ 1 turn 2 steps, reverted the login form returns 50… 59m",
            "●─╯ ▸ 0 add a login form to the shop +42 −3 1f 1k 3h",
        ]


async def test_a_read_only_session_can_be_viewed_but_not_reverted(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.send(replace(SESSION, read_only=True))
        await harness.driver.press("down")
        hints = harness.screen_text()
        assert "changes since" in hints
        assert "revert to before this" not in hints
        for key in ("enter", "c", "u", "F", "n", "m"):
            await harness.driver.press(key)
        assert toast_contains(harness, "This session is read-only")
        assert len(list(harness.app._notifications)) == 1  # a single toast, not one per key
        await harness.driver.press("space")
        await harness.wait_until(lambda: harness.commands_of(Compare))
        await harness.driver.press("escape", "end", "up", "o")
        await harness.wait_until(lambda: harness.commands_of(ReadBranch))
        assert {type(command) for command in harness.engine.commands} <= {ShowTimeline, Compare, ReadBranch}


async def test_keys_move_and_fold_and_the_conversation_scrolls_along(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        press = harness.driver.press
        transcript = harness.screen.controllers.session_view.transcript
        assert highlighted_checkpoint(harness) is None
        before = _colors(transcript, "登录表单")
        await press("down", "j")
        assert highlighted_checkpoint(harness) == 11
        await press("k", "up", "up")
        assert highlighted_checkpoint(harness) is None
        await press("end", "right")
        assert "│ 1 ReadFile src/auth.py 2h" in rows(harness)
        await press("l")
        assert highlighted_checkpoint(harness) == 1
        assert _colors(transcript, "I look at") != _colors(transcript, "add a login")
        await press("h", "left")
        assert highlighted_checkpoint(harness) == 0
        assert not any("ReadFile" in row for row in rows(harness))
        await press("up", "right", "down")
        assert highlighted_checkpoint(harness) == 4
        await press("left")
        assert view(harness).highlighted_row.kind == "branch"  # type: ignore[union-attr]
        await press("left", "left")
        assert highlighted_checkpoint(harness) == 0
        await press("pageup")
        assert highlighted_checkpoint(harness) is None
        await press("pagedown", "escape")
        await harness.wait_until(lambda: harness.app.focused is harness.screen.prompt.editor)
        assert _colors(transcript, "登录表单") == before


def _colors(transcript: Any, text: str) -> set[str]:
    """Return the colors in the first row of the conversation that shows `text`."""
    for y in range(transcript.size.height):
        strip = transcript.render_line(y)
        if text in strip.text:
            return {part.style.color.name for part in strip if part.text.strip(" ▌")}
    raise AssertionError(f"{text} isn't visible")


async def test_left_leads_from_now_to_the_latest_prompt(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        assert highlighted_checkpoint(harness) is None
        await harness.driver.press("left")
        assert highlighted_checkpoint(harness) == 9


async def test_the_mouse_highlights_folds_and_clicks_hints(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await click_row(harness, "11 EditFile")
        assert highlighted_checkpoint(harness) == 11
        await click_row(harness, "add a login", on="▸")
        assert "│ 1 ReadFile src/auth.py 2h" in rows(harness)
        await click_row(harness, "1 turn 2 steps", on="▸")
        assert any("4 the log" in row for row in rows(harness))
        await click_row(harness, "2 EditFile")
        await click_hint(harness, "changes since")
        await harness.wait_until(lambda: harness.commands_of(Compare))
        assert harness.commands_of(Compare) == [Compare(2, None)]


async def test_a_new_checkpoint_is_inserted_above_without_moving_the_highlight(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("down", "down")
        new = node(13, "step", "WriteFile new.py", parent=12, changes=None)
        harness.engine.send(TimelineUpdate((TIMELINE.nodes[-1], new), "u13"))
        await harness.wait_until(lambda: "│ 13 WriteFile new.py now" in rows(harness))
        assert highlighted_checkpoint(harness) == 11


async def test_a_filter_shows_matches_and_escape_shows_all_rows_again(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        all_rows = rows(harness)
        await harness.driver.press("slash")
        await harness.type_text("pytest")
        await harness.wait_until(lambda: len(rows(harness)) == 2)
        assert "timeline: 1 found" in harness.screen_text()
        await harness.driver.press("down", "enter")
        assert highlighted_checkpoint(harness) == 5
        assert len(rows(harness)) == 2
        await harness.driver.press("escape")
        await harness.wait_until(lambda: rows(harness) == all_rows)
        assert harness.app.focused is view(harness)


async def test_keys_name_fork_and_compare_checkpoints(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("down", "n")
        await harness.type_text("green")
        await harness.driver.press("enter")
        assert harness.commands_of(NameCheckpoint) == [NameCheckpoint(12, "green")]
        harness.engine.send(TimelineUpdate((replace(TIMELINE.nodes[-1], name="green"),), "u12"))
        await harness.wait_until(lambda: "12 green All tests" in rows(harness)[1])
        await harness.driver.press("F", "d", "end", "d")
        assert harness.commands_of(ForkSession) == [ForkSession(12)]
        await harness.wait_until(lambda: harness.commands_of(Compare))
        assert harness.commands_of(Compare) == [Compare(0, 12)]
        assert view(harness).compare_uid == ""


async def test_enter_on_the_current_state_reverts_the_last_prompt(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(PlanRevert))
        assert harness.commands_of(PlanRevert) == [PlanRevert(9)]


async def test_r_on_the_current_state_reviews_the_changes_since_the_last_review(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        assert "r review" in harness.unwrapped_text()
        await harness.driver.press("r")
        await harness.wait_until(lambda: harness.commands_of(ReviewChanges))
        assert harness.commands_of(ReviewChanges) == [ReviewChanges(None, None)]


async def test_b_requests_the_plan_of_a_branch_and_explains_when_there_is_none(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("b")
        assert toast_contains(harness, "This is the current state.")
        await harness.driver.press("end", "b")
        assert toast_contains(harness, "This checkpoint is on the current branch.")
        await harness.driver.press("up", "b")
        await harness.wait_until(lambda: harness.commands_of(PlanSwitch))
        assert harness.commands_of(PlanSwitch) == [PlanSwitch(1)]


async def test_f3_focuses_the_pane_and_hides_it_if_it_has_the_focus(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.app.focused is harness.screen.prompt.editor)
        assert view(harness).region
        await harness.driver.press("f3")
        await harness.wait_until(lambda: harness.app.focused is view(harness))
        await harness.driver.press("f3")
        await harness.wait_until(lambda: harness.app.focused is harness.screen.prompt.editor)
        assert not view(harness).region
        assert len(harness.commands_of(ShowTimeline)) == 1
        harness.engine.send(replace(SESSION, session_id="s2"))
        await harness.wait_until(lambda: len(harness.commands_of(ShowTimeline)) == 2)


async def test_while_the_prompt_has_the_focus_the_pane_hints_at_keys_that_work_there(
    open_timeline: Any,
) -> None:
    async with open_timeline() as harness:
        assert "u undo" in harness.unwrapped_text()
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "/undo undo f3 choose checkpoint" in harness.unwrapped_text())
        await click_hint(harness, "choose checkpoint")
        await harness.wait_until(
            lambda: harness.app.focused is view(harness) and "u undo" in harness.unwrapped_text()
        )


async def test_a_compaction_shows_the_replaced_conversation_and_can_be_undone(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        compaction = node(13, "compaction", "compacted", parent=12)
        left = TimelineBranch(number=2, left=NOW, reason="compaction", tip="u12", messages=9)
        nodes = tuple(replace(known, branch=2 if known.branch is None else 1) for known in TIMELINE.nodes)
        harness.engine.send(Timeline((*nodes, compaction), (*TIMELINE.branches, left), "u13"))
        await harness.wait_until(lambda: "13 compacted" in rows(harness)[1])
        await harness.driver.press("home", "down")
        await harness.wait_until(lambda: "b undo compaction" in harness.unwrapped_text())
        await harness.driver.press("right")
        await harness.wait_until(lambda: harness.commands_of(ReadBranch))
        harness.engine.send(
            BranchContent(2, (envelope(TurnBegin("add a login form")),), None, "We built it.")
        )
        await harness.wait_until(lambda: "Replaced by this summary: We built it." in harness.unwrapped_text())
        await harness.driver.press("b")
        await harness.wait_until(lambda: harness.commands_of(PlanSwitch))
        assert harness.commands_of(PlanSwitch) == [PlanSwitch(2)]


async def test_a_fork_can_be_opened(open_timeline: Any) -> None:
    requests: list[SessionRequest] = []

    async def serve_session(request: SessionRequest, wire: Wire) -> None:
        requests.append(request)
        wire.send(replace(SESSION, session_id="s9", title="the fork"))
        async for command in wire.commands():
            if isinstance(command, Shutdown):
                break
        wire.close()

    async with open_timeline(serve_session=serve_session) as harness:
        harness.engine.send(SessionForked("s8", "another fork", 3))
        await harness.wait_until(lambda: "open the new session" in harness.unwrapped_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "open the new session" not in harness.unwrapped_text())
        harness.engine.send(SessionForked("s9", "the fork", 3))
        await harness.wait_until(lambda: "open the new session" in harness.unwrapped_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "the fork" in harness.unwrapped_text() and requests)
        assert requests == [SessionRequest(session_id="s9")]


async def test_on_a_narrow_terminal_leaving_hides_the_pane(open_timeline: Any) -> None:
    async with open_timeline((60, 16)) as harness:
        await harness.driver.press("down")
        assert "enter revert to before this" in harness.unwrapped_text()
        await harness.driver.press("escape")
        await harness.wait_until(lambda: not view(harness).region)


async def test_double_escape_opens_the_pane_only_if_the_prompt_is_empty(open_app: Any) -> None:
    async with open_app(size=(80, 24), wall_clock=lambda: NOW) as harness:
        await harness.driver.press("x", "escape", "escape")
        assert not harness.commands_of(ShowTimeline)
        await harness.driver.press("backspace", "escape", "escape")
        await harness.wait_until(lambda: harness.commands_of(ShowTimeline))
        await harness.driver.pause()
        assert harness.app.focused is view(harness)


async def test_hostile_labels_and_names_are_sanitized(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        hostile = node(
            13, "step", "[red]x[/] \x1b[31mred\n\x07", parent=12, name="[b]\x1b]0;t\x07", changes=None
        )
        harness.engine.send(TimelineUpdate((hostile,), "u13"))
        await harness.wait_until(lambda: any("[b]" in row for row in rows(harness)))
        await harness.driver.press("down")
        details = str(harness.screen.query_one("#timeline-details", Static).content)
        assert "[red]x[/]" in details
        assert "\x1b" not in details + "".join(rows(harness))


async def test_only_visible_rows_of_ten_thousand_checkpoints_are_rendered(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        harness.engine.send(linear_timeline(10_000, steps_in_turn=2))
        await harness.wait_until(lambda: "● now 10,000 checkpoints" in rows(harness))
        rendered: list[int] = []
        build_row = view(harness)._build_row

        def recording_build_row(index: int, width: int) -> Any:
            rendered.append(index)
            return build_row(index, width)

        view(harness)._build_row = recording_build_row  # type: ignore[method-assign]
        await harness.driver.press("end")
        assert highlighted_checkpoint(harness) == 0
        assert 0 < len(rendered) <= 3 * view(harness).size.height
        bottom = view(harness).scroll_offset.y
        x, y = view(harness).region.offset
        wheel = events.MouseScrollUp(view(harness), x + 4, y + 4, 0, 0, 0, False, False, False)
        harness.app.screen._forward_event(wheel)
        await harness.wait_until(lambda: view(harness).scroll_offset.y < bottom)


async def test_the_todo_list_is_hidden_when_the_timeline_leaves_too_little_space(
    open_timeline: Any,
) -> None:
    async with open_timeline(size=(100, 30)) as harness:
        await harness.send(TodoUpdate((TodoItem("bake a cake"),)))
        assert "bake a cake" not in harness.screen_text()
        await harness.driver.press("f3")
        await harness.wait_until(lambda: "bake a cake" in harness.screen_text())

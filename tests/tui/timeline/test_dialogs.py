"""Plans, comparisons and branches in dialogs: nothing is done before the user says so."""

from dataclasses import replace
from typing import Any

import pytest

from kimi_tui.base.content import TextPart
from kimi_tui.tui.hints import Hints
from kimi_tui.tui.timeline.files import FileList, Listed
from kimi_tui.tui.timeline.plan_dialog import PlanDialog
from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.tui.transcript.transcript import Transcript
from kimi_tui.wire.background import BackgroundTask, TasksUpdate
from kimi_tui.wire.codec import envelope
from kimi_tui.wire.commands import (
    Compare,
    ForkSession,
    Interrupt,
    LookIntoBranch,
    PlanRevert,
    PlanSwitch,
    Redo,
    Revert,
    RunSlash,
    ShowTimeline,
    SwitchBranch,
    Undo,
    WritePatch,
)
from kimi_tui.wire.events import Notification, Reverted, TurnBegin, TurnEnd
from kimi_tui.wire.timeline import BranchContent, PatchWritten, PlannedFile, RevertPlan
from tests.tui.conftest import Desk
from tests.tui.timeline.story import COMPARISON, PLAN, TIMELINE


def files(desk: Desk) -> FileList:
    return desk.app.screen.query_one(FileList)


async def open_plan(desk: Desk, *keys: str, plan: RevertPlan = PLAN) -> None:
    """Press keys in the pane until a plan is asked for; the engine answers."""
    await desk.pilot.press(*keys)
    await desk.until(lambda: desk.told(PlanRevert) or desk.told(PlanSwitch))
    desk.engine.say(plan)
    await desk.until(lambda: isinstance(desk.app.screen, PlanDialog) and files(desk).line is not None)


async def closed(desk: Desk) -> None:
    await desk.until(lambda: len(desk.app.screen_stack) == 1)


async def click_text(desk: Desk, text: str, *, at: int = 0, times: int = 1) -> None:
    """Click where the dialog shows `text`."""
    lines = desk.shown().split("\n")
    y = next(y for y, line in enumerate(lines) if text in line)
    await desk.pilot.click(offset=(lines[y].index(text) + at, y), times=times)


async def test_enter_shows_the_plan_and_enter_again_goes_back_with_files(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await open_plan(desk, "down", "down", "down", "down", "enter")
        shown = desk.words()
        assert "Go back to before “good” (checkpoint 9)" in shown
        assert (
            "4 of 7 files +4 −5 · 1 conflict · undo brings it back · 1 message stays on a branch · 2 sh"
            in shown
        )
        assert "[✔] restore src/auth.py" in shown
        assert "[ ] conflict a.py you edited the lines that the agent wrote −2" in shown
        assert "$ git push origin main" in desk.words() or files(desk).virtual_size.height > 8
        assert desk.told(PlanRevert) == [PlanRevert(9, "both")]
        assert not desk.told(Revert)
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Revert))
        assert desk.told(Revert) == [Revert(9, "both", None)]


async def test_going_back_while_the_agent_works_stops_it_first_and_says_so(open_timeline: Any) -> None:
    async with open_timeline(size=(100, 30)) as desk:
        desk.engine.say(TurnBegin("go on"))
        await desk.until(lambda: desk.screen.state.turn is not None)
        await desk.pilot.press("down", "F")
        await desk.until(lambda: "Fork once it has finished" in desk.toasts())
        await open_plan(desk, "enter")
        assert "the agent is at work and is stopped first · 4 of 7 files" in desk.words()
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Interrupt))
        assert not desk.told(Revert)
        desk.engine.say(TurnEnd("cancelled"))
        await desk.until(lambda: desk.told(Revert))
        assert not desk.told(ForkSession)


async def test_what_the_user_changed_stands_below_what_goes_back_and_tasks_that_go_on_are_told_of(
    open_timeline: Any,
) -> None:
    files = (PlannedFile("a.py", "keep", ticked=False, note="only you changed it"), *PLAN.files)
    task = BackgroundTask("t1", "bash", "make watch")
    async with open_timeline() as desk:
        await desk.say(TasksUpdate((task,)))
        await open_plan(desk, "down", "enter", plan=replace(PLAN, files=files))
        shown = desk.words()
        assert "1 background task goes on" in shown
        assert shown.index("README.md") < shown.index("only you changed it")


async def test_a_turn_that_ends_while_the_plan_is_read_is_not_stopped(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        desk.engine.say(TurnBegin("go on"))
        await desk.until(lambda: desk.screen.state.turn is not None)
        await open_plan(desk, "down", "enter")
        desk.engine.say(TurnEnd("finished"))
        await desk.until(lambda: "the agent is at work" not in desk.words())
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Revert))
        assert not desk.told(Interrupt)


async def test_one_goes_to_a_jump_itself_since_its_name_says_which_side_of_it(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await desk.pilot.press("slash")
        await desk.write("after going")
        await desk.pilot.press("enter", "home", "down")
        await desk.until(lambda: "enter back to this" in desk.shown())
        await open_plan(desk, "enter")
        assert "Go back to “after going back to 4” (checkpoint 8)" in desk.words()


async def test_what_a_jump_made_is_not_said_to_be_the_agents(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await open_plan(desk, "down", "enter")
        await desk.pilot.press("down")
        await desk.until(lambda: "The agent made it; it is deleted." in desk.words())
    async with open_timeline() as desk:
        await desk.pilot.press("u")
        await desk.until(lambda: desk.told(PlanRevert))
        desk.engine.say(replace(PLAN, reason="undo"))
        await desk.until(lambda: "restore src/auth.py" in desk.words())
        await desk.pilot.press("down")
        await desk.until(lambda: "It was not there then; it is deleted." in desk.words())


async def test_escape_changes_nothing_and_a_late_answer_goes_nowhere(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await desk.pilot.press("down", "enter")
        await desk.until(lambda: desk.told(PlanRevert))
        await desk.pilot.press("enter", "escape")
        await closed(desk)
        assert desk.app.focused is desk.screen.query_one(TimelineView)
        before = desk.shown()
        desk.engine.say(PLAN, replace(TIMELINE, undo=""))
        await desk.until(lambda: desk.shown() != before)
        assert "Going back to checkpoint" not in desk.shown()
        assert not desk.told(Revert)


async def test_ticks_say_which_files_go_back(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await open_plan(desk, "down", "enter")
        await desk.pilot.press("space", "down", "down", "down", "down", "space", "end", "space")
        assert files(desk).ticks == {"bash.txt", "docs/登录.md", "README.md", "a.py"}
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Revert))
        assert desk.told(Revert) == [Revert(12, "both", ("README.md", "a.py", "bash.txt", "docs/登录.md"))]


async def test_a_ticks_all_that_can_be_and_then_none(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await open_plan(desk, "down", "f")
        await desk.pilot.press("a")
        assert len(files(desk).ticks) == 6
        assert "big.bin" not in files(desk).ticks
        await desk.pilot.press("a", "enter")
        await desk.until(lambda: "Nothing is ticked, so nothing would change." in desk.words())
        assert not desk.told(Revert)


@pytest.mark.parametrize(("key", "scope"), [("c", "conversation"), ("f", "files")])
async def test_c_and_f_go_back_with_one_of_both(open_timeline: Any, key: str, scope: str) -> None:
    async with open_timeline() as desk:
        await open_plan(desk, "down", key)
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Revert))
        assert desk.told(Revert) == [Revert(12, scope, None)]


async def test_only_this_turn_has_a_plan_of_its_own(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await open_plan(desk, "down", "enter")
        await desk.pilot.press("t")
        await desk.until(lambda: len(desk.told(PlanRevert)) == 2)
        assert desk.told(PlanRevert)[1] == PlanRevert(12, "turn")
        desk.engine.say(replace(PLAN, files=PLAN.files[:1], commands=(), scope="turn"))
        await desk.until(lambda: files(desk).virtual_size.height == 1)
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Revert))
        assert desk.told(Revert) == [Revert(12, "turn", None)]


async def test_a_dmail_leaves_the_note_that_was_written(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await open_plan(desk, "end", "m")
        await desk.write("try a, then b")
        assert files(desk).ticks != set()
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Revert))
        assert desk.told(Revert) == [Revert(0, "both", None, "try a, then b")]


async def test_everything_in_a_plan_can_be_done_with_the_mouse(open_timeline: Any) -> None:
    async with open_timeline((120, 40)) as desk:
        rows = [desk.screen.query_one(TimelineView).render_line(y).text for y in range(5)]
        y = next(y for y, row in enumerate(rows) if "10 Bash" in row)
        await desk.pilot.click(TimelineView, offset=(12, y), times=2)
        await desk.until(lambda: desk.told(PlanRevert))
        desk.engine.say(PLAN)
        await desk.until(lambda: files(desk).line is not None)
        await click_text(desk, "[ ] conflict", at=1)
        assert "a.py" in files(desk).ticks
        await desk.until(lambda: "You edited it too" in desk.words())
        await click_text(desk, "git push")
        await desk.until(lambda: "What it did outside of the listed files" in desk.words())
        await click_text(desk, "f files")
        scopes = desk.app.screen.query_one("#plan-scopes", Hints)
        await desk.until(lambda: "● f files" in scopes.render().plain)
        await click_text(desk, "enter go back")
        await desk.until(lambda: desk.told(Revert))
        (revert,) = desk.told(Revert)
        assert (revert.to, revert.scope) == (10, "files")
        assert set(revert.paths) == {"src/auth.py", "bash.txt", "docs/登录.md", "README.md", "a.py"}


async def test_undo_and_redo_are_plans_too(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await open_plan(desk, "u", plan=replace(PLAN, reason="undo"))
        assert "Take back: going back to 4" in desk.shown()
        assert "redo does it again" in desk.words()
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Undo))
        assert desk.told(PlanRevert) == [PlanRevert("undo")]
        await closed(desk)
        desk.engine.say(replace(TIMELINE, undo="", redo="going back to 4"))
        await desk.until(lambda: "U redo" in desk.words())
        await desk.pilot.press("U")
        await desk.until(lambda: len(desk.told(PlanRevert)) == 2)
        desk.engine.say(replace(PLAN, reason="redo"))
        await desk.until(
            lambda: "Do again what the last undo" in desk.shown() and files(desk).line is not None
        )
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Redo))


async def test_a_branch_is_read_and_gone_on_with(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await desk.pilot.press("end", "up", "o")
        await desk.until(lambda: desk.told(LookIntoBranch))
        events = (TurnBegin("the login form returns 500, fix it"), TextPart("I look into it."))
        desk.engine.say(BranchContent(1, tuple(envelope(event) for event in events)))
        await desk.until(lambda: "I look into it." in desk.shown())
        await desk.pilot.press("b")
        await desk.until(lambda: desk.told(PlanSwitch))
        desk.engine.say(replace(PLAN, reason="switch", branch=1))
        await desk.until(lambda: isinstance(desk.app.screen, PlanDialog) and files(desk).line is not None)
        await desk.pilot.press("c", "enter")
        await desk.until(lambda: desk.told(SwitchBranch))
        assert desk.told(SwitchBranch) == [SwitchBranch(1, None, "conversation", None)]


async def test_space_shows_what_has_changed_between_here_and_now(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await desk.pilot.press("end", "space")
        await desk.until(lambda: desk.told(Compare))
        assert desk.told(Compare) == [Compare(0, None)]
        desk.engine.say(COMPARISON)
        await desk.until(lambda: "2 files +13 −3" in desk.words())
        assert "added notes.txt changed by you +1" in desk.words()
        await desk.pilot.press("down", "y")
        await desk.until(lambda: desk.clipboard.text is not None)
        assert "+mine" in desk.clipboard.text
        await desk.pilot.press("escape")
        await closed(desk)


async def test_one_file_is_brought_back_from_what_has_changed(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await desk.pilot.press("end", "space")
        await desk.until(lambda: desk.told(Compare))
        desk.engine.say(COMPARISON)
        await desk.until(lambda: "enter have this file as it was" in desk.words())
        await desk.pilot.press("down", "enter")
        await desk.until(lambda: desk.told(PlanRevert))
        assert desk.told(PlanRevert) == [PlanRevert(0, "files")]
        changed = [
            replace(PLAN.files[0], path=file.path, action="restore", ticked=True) for file in COMPARISON.files
        ]
        desk.engine.say(replace(PLAN, to=0, scope="files", files=tuple(changed), commands=()))
        await desk.until(lambda: "Bring notes.txt back as it was before" in desk.words())
        await desk.until(lambda: files(desk).ticks == {"notes.txt"})
        line = files(desk).line
        assert isinstance(line, Listed)
        assert line.path == "notes.txt"  # its diff is what is shown
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Revert))
        assert desk.told(Revert) == [Revert(0, "files", ("notes.txt",))]


async def test_what_has_changed_is_written_as_a_patch(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await desk.pilot.press("end", "space")
        await desk.until(lambda: desk.told(Compare))
        desk.engine.say(COMPARISON)
        await desk.until(lambda: "w write a patch" in desk.words())
        await desk.pilot.press("w")
        await desk.until(lambda: desk.told(WritePatch))
        assert desk.told(WritePatch) == [WritePatch(0, None)]
        desk.engine.say(PatchWritten("/w/checkpoint-0-to-now.patch", 0, files=2))
        await desk.until(lambda: "2 files are in /w/checkpoint-0-to-now.patch." in desk.words())
        await desk.pilot.press("escape")
        await closed(desk)
        await desk.pilot.press("escape", "ctrl+end")
        await desk.until(lambda: "takes them back." in desk.words())  # the conversation has it, too


async def test_a_block_of_the_conversation_leads_to_before_it(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        transcript = desk.screen.query_one(Transcript)
        transcript.focus()
        await desk.until(lambda: transcript.has_focus)
        await desk.pilot.press("left_curly_bracket", "r")
        await desk.until(lambda: desk.told(PlanRevert))
        assert desk.told(PlanRevert) == [PlanRevert(12, "both")]
        assert "Go back to before “All tests pass now.” (checkpoint 12)" in desk.words()


async def test_a_plan_that_cannot_be_made_says_why(open_timeline: Any) -> None:
    async with open_timeline() as desk:
        await desk.pilot.press("down", "enter")
        await desk.until(lambda: desk.told(PlanRevert))
        error = Notification("n", "", "", "", "", "There is no checkpoint 12.", "See /checkpoints.", "error")
        desk.engine.say(error)
        await desk.until(lambda: "There is no checkpoint 12. See /checkpoints." in desk.words())
        await desk.pilot.press("enter", "escape")
        await closed(desk)
        assert not desk.told(Revert)


async def test_commands_open_the_same_dialogs_and_dry_runs_go_to_the_engine(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/revert 4 files\n".rstrip("\n"))
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(ShowTimeline))
        desk.engine.say(TIMELINE)
        await desk.until(lambda: desk.told(PlanRevert))
        assert desk.told(PlanRevert) == [PlanRevert(4, "files")]
        await desk.pilot.press("escape")
        await closed(desk)
        for line in ("/undo --dry-run", "/revert 4 --dry-run"):
            await desk.write(line)
            await desk.pilot.press("enter")
        await desk.until(lambda: len(desk.told(RunSlash)) == 2)
        assert [command.line for command in desk.told(RunSlash)] == ["undo --dry-run", "revert 4 --dry-run"]
        await desk.write("/diff 2 9")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Compare))
        assert desk.told(Compare) == [Compare(2, 9)]


async def test_what_a_jump_took_back_stands_in_the_prompt_unless_a_draft_does(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("fix it"))
        desk.engine.say(Reverted(0, 3, "user", 1, scope="both", prompt="fix it"))
        await desk.until(lambda: desk.prompt_text == "fix it")
        desk.engine.say(Reverted(3, 4, "undo", 2, scope="both"))
        await desk.until(lambda: desk.prompt_text == "")
        await desk.write("mine")
        desk.engine.say(Reverted(0, 5, "redo", 3, scope="both", prompt="fix it"))
        await desk.until(
            lambda: any("Your draft stays" in toast.message for toast in desk.app._notifications)
        )
        assert desk.prompt_text == "mine"

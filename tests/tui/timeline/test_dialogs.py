"""Plan, changes and branch dialogs: nothing changes before the user confirms."""

from dataclasses import replace
from typing import Any

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.tui.timeline.file_list import FileList, FileRow
from kimi_tui.tui.timeline.plan_dialog import PlanDialog
from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.tui.transcript.transcript import Transcript
from kimi_tui.tui.widgets.key_hints import KeyHints
from kimi_tui.wire.background import BackgroundTask, TasksUpdate
from kimi_tui.wire.codec import envelope
from kimi_tui.wire.commands import (
    Compare,
    ForkSession,
    Interrupt,
    PlanRevert,
    PlanSwitch,
    ReadBranch,
    Redo,
    Revert,
    RunSlash,
    ShowTimeline,
    SwitchBranch,
    Undo,
    WritePatch,
)
from kimi_tui.wire.events import Notification, Reverted, TurnBegin, TurnEnd
from kimi_tui.wire.review import PlannedFileContent, ReadPlannedFile
from kimi_tui.wire.timeline import BranchContent, PatchWritten, PlannedFile, RevertPlan
from tests.tui.conftest import AppHarness
from tests.tui.timeline.sample_timeline import COMPARISON, PLAN, TIMELINE


def files(harness: AppHarness) -> FileList:
    return harness.app.screen.query_one(FileList)


async def open_plan(harness: AppHarness, *keys: str, plan: RevertPlan = PLAN) -> None:
    """Press keys in the pane that request a plan, and send the plan."""
    await harness.driver.press(*keys)
    await harness.wait_until(lambda: harness.commands_of(PlanRevert) or harness.commands_of(PlanSwitch))
    harness.engine.send(plan)
    await harness.wait_until(
        lambda: isinstance(harness.app.screen, PlanDialog) and files(harness).highlighted_row is not None
    )


async def wait_until_closed(harness: AppHarness) -> None:
    await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)


async def click_text(harness: AppHarness, text: str, *, at: int = 0, times: int = 1) -> None:
    """Click the place where the dialog shows `text`."""
    lines = harness.screen_text().split("\n")
    y = next(y for y, line in enumerate(lines) if text in line)
    await harness.driver.click(offset=(lines[y].index(text) + at, y), times=times)


async def test_enter_shows_the_plan_and_a_second_enter_reverts_with_files(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await open_plan(harness, "down", "down", "down", "down", "enter")
        shown = harness.unwrapped_text()
        assert "Revert to before “good” (checkpoint 9)" in shown
        assert (
            "4 of 7 files +4 −5 · 1 conflict · can be undone · 1 message kept on a branch · 2 shell" in shown
        )
        assert "[✔] restore src/auth.py" in shown
        assert "[ ] conflict a.py you edited the lines that the agent wrote −2" in shown
        assert "$ git push origin main" in harness.unwrapped_text() or files(harness).virtual_size.height > 8
        assert harness.commands_of(PlanRevert) == [PlanRevert(9, "both")]
        assert not harness.commands_of(Revert)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Revert))
        assert harness.commands_of(Revert) == [Revert(9, "both", None)]


async def test_a_revert_during_a_turn_interrupts_the_turn_first_and_says_so(open_timeline: Any) -> None:
    async with open_timeline(size=(100, 30)) as harness:
        harness.engine.send(TurnBegin("go on"))
        await harness.wait_until(lambda: harness.screen.state.turn is not None)
        await harness.driver.press("down", "F")
        await harness.wait_until(lambda: "Interrupt it or wait until it ends" in harness.toast_text())
        await open_plan(harness, "enter")
        assert "the running turn is interrupted first · 4 of 7 files" in harness.unwrapped_text()
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Interrupt))
        assert not harness.commands_of(Revert)
        harness.engine.send(TurnEnd("cancelled"))
        await harness.wait_until(lambda: harness.commands_of(Revert))
        assert not harness.commands_of(ForkSession)


async def test_files_of_the_user_are_listed_last_and_running_background_tasks_are_counted(
    open_timeline: Any,
) -> None:
    files = (PlannedFile("a.py", "keep", ticked=False, note="only you changed it"), *PLAN.files)
    task = BackgroundTask("t1", "bash", "make watch")
    async with open_timeline() as harness:
        await harness.send(TasksUpdate((task,)))
        await open_plan(harness, "down", "enter", plan=replace(PLAN, files=files))
        shown = harness.unwrapped_text()
        assert "1 background task keeps running" in shown
        assert shown.index("README.md") < shown.index("only you changed it")


async def test_a_turn_that_ends_while_the_plan_is_open_is_not_interrupted(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        harness.engine.send(TurnBegin("go on"))
        await harness.wait_until(lambda: harness.screen.state.turn is not None)
        await open_plan(harness, "down", "enter")
        harness.engine.send(TurnEnd("finished"))
        await harness.wait_until(lambda: "the running turn" not in harness.unwrapped_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Revert))
        assert not harness.commands_of(Interrupt)


async def test_the_title_of_a_revert_checkpoint_has_no_second_before(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("slash")
        await harness.type_text("after revert")
        await harness.driver.press("enter", "home", "down")
        await harness.wait_until(lambda: "enter revert to this" in harness.screen_text())
        await open_plan(harness, "enter")
        assert "Revert to “after revert to 4” (checkpoint 8)" in harness.unwrapped_text()


async def test_files_that_a_revert_created_are_not_attributed_to_the_agent(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await open_plan(harness, "down", "enter")
        await harness.driver.press("down")
        await harness.wait_until(
            lambda: "The agent created this file. It is deleted." in harness.unwrapped_text()
        )
    async with open_timeline() as harness:
        await harness.driver.press("u")
        await harness.wait_until(lambda: harness.commands_of(PlanRevert))
        harness.engine.send(replace(PLAN, reason="undo"))
        await harness.wait_until(lambda: "restore src/auth.py" in harness.unwrapped_text())
        await harness.driver.press("down")
        await harness.wait_until(
            lambda: "The file didn't exist then. It is deleted." in harness.unwrapped_text()
        )


async def test_escape_changes_nothing_and_a_late_reply_is_dropped(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("down", "enter")
        await harness.wait_until(lambda: harness.commands_of(PlanRevert))
        await harness.driver.press("enter", "escape")
        await wait_until_closed(harness)
        assert harness.app.focused is harness.screen.query_one(TimelineView)
        before = harness.screen_text()
        harness.engine.send(PLAN, replace(TIMELINE, undo=""))
        await harness.wait_until(lambda: harness.screen_text() != before)
        assert "Revert to checkpoint" not in harness.screen_text()
        assert not harness.commands_of(Revert)


async def test_selected_files_are_reverted(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await open_plan(harness, "down", "enter")
        await harness.driver.press("space", "down", "down", "down", "down", "space", "end", "space")
        assert files(harness).selected_paths == {"bash.txt", "docs/登录.md", "README.md", "a.py"}
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Revert))
        assert harness.commands_of(Revert) == [
            Revert(12, "both", ("README.md", "a.py", "bash.txt", "docs/登录.md"))
        ]


async def test_a_selects_all_files_and_then_none(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await open_plan(harness, "down", "f")
        await harness.driver.press("a")
        assert len(files(harness).selected_paths) == 6
        assert "big.bin" not in files(harness).selected_paths
        await harness.driver.press("a", "enter")
        await harness.wait_until(lambda: "No files selected." in harness.unwrapped_text())
        assert not harness.commands_of(Revert)


@pytest.mark.parametrize(("key", "scope"), [("c", "conversation"), ("f", "files")])
async def test_c_and_f_revert_only_the_conversation_or_the_files(
    open_timeline: Any, key: str, scope: str
) -> None:
    async with open_timeline() as harness:
        await open_plan(harness, "down", key)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Revert))
        assert harness.commands_of(Revert) == [Revert(12, scope, None)]


async def test_this_turn_only_requests_its_own_plan(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await open_plan(harness, "down", "enter")
        await harness.driver.press("t")
        await harness.wait_until(lambda: len(harness.commands_of(PlanRevert)) == 2)
        assert harness.commands_of(PlanRevert)[1] == PlanRevert(12, "turn")
        harness.engine.send(replace(PLAN, files=PLAN.files[:1], commands=(), scope="turn"))
        await harness.wait_until(lambda: files(harness).virtual_size.height == 1)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Revert))
        assert harness.commands_of(Revert) == [Revert(12, "turn", None)]


async def test_a_dmail_contains_the_typed_note(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await open_plan(harness, "end", "m")
        await harness.type_text("try a, then b")
        assert files(harness).selected_paths != set()
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Revert))
        assert harness.commands_of(Revert) == [Revert(0, "both", None, "try a, then b")]


async def test_everything_in_a_plan_can_be_done_with_the_mouse(open_timeline: Any) -> None:
    async with open_timeline((120, 40)) as harness:
        rows = [harness.screen.query_one(TimelineView).render_line(y).text for y in range(5)]
        y = next(y for y, row in enumerate(rows) if "10 Bash" in row)
        await harness.driver.click(TimelineView, offset=(12, y), times=2)
        await harness.wait_until(lambda: harness.commands_of(PlanRevert))
        harness.engine.send(PLAN)
        await harness.wait_until(lambda: files(harness).highlighted_row is not None)
        await click_text(harness, "[ ] conflict", at=1)
        assert "a.py" in files(harness).selected_paths
        await harness.wait_until(lambda: "You edited this file too" in harness.unwrapped_text())
        await click_text(harness, "git push")
        await harness.wait_until(lambda: "Only its changes to the listed" in harness.unwrapped_text())
        await click_text(harness, "f files")
        scopes = harness.app.screen.query_one("#plan-scopes", KeyHints)
        await harness.wait_until(lambda: "● f files" in scopes.render().plain)
        await click_text(harness, "enter revert")
        await harness.wait_until(lambda: harness.commands_of(Revert))
        (revert,) = harness.commands_of(Revert)
        assert (revert.to, revert.scope) == (10, "files")
        assert set(revert.paths) == {"src/auth.py", "bash.txt", "docs/登录.md", "README.md", "a.py"}


async def test_undo_and_redo_show_plans(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await open_plan(harness, "u", plan=replace(PLAN, reason="undo"))
        assert "Undo: revert to 4" in harness.screen_text()
        assert "can be redone" in harness.unwrapped_text()
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Undo))
        assert harness.commands_of(PlanRevert) == [PlanRevert("undo")]
        await wait_until_closed(harness)
        harness.engine.send(replace(TIMELINE, undo="", redo="revert to 4"))
        await harness.wait_until(lambda: "U redo" in harness.unwrapped_text())
        await harness.driver.press("U")
        await harness.wait_until(lambda: len(harness.commands_of(PlanRevert)) == 2)
        harness.engine.send(replace(PLAN, reason="redo"))
        await harness.wait_until(
            lambda: (
                "Redo the last undone revert" in harness.screen_text()
                and files(harness).highlighted_row is not None
            )
        )
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Redo))


async def test_a_branch_is_viewed_and_switched_to(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("end", "up", "o")
        await harness.wait_until(lambda: harness.commands_of(ReadBranch))
        events = (TurnBegin("the login form returns 500, fix it"), TextPart("I look into it."))
        harness.engine.send(BranchContent(1, tuple(envelope(event) for event in events)))
        await harness.wait_until(lambda: "I look into it." in harness.screen_text())
        await harness.driver.press("b")
        await harness.wait_until(lambda: harness.commands_of(PlanSwitch))
        harness.engine.send(replace(PLAN, reason="switch", branch=1))
        await harness.wait_until(
            lambda: isinstance(harness.app.screen, PlanDialog) and files(harness).highlighted_row is not None
        )
        await harness.driver.press("c", "enter")
        await harness.wait_until(lambda: harness.commands_of(SwitchBranch))
        assert harness.commands_of(SwitchBranch) == [SwitchBranch(1, None, "conversation", None)]


async def test_space_shows_the_changes_since_a_checkpoint(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("end", "space")
        await harness.wait_until(lambda: harness.commands_of(Compare))
        assert harness.commands_of(Compare) == [Compare(0, None)]
        harness.engine.send(COMPARISON)
        await harness.wait_until(lambda: "2 files +13 −3" in harness.unwrapped_text())
        assert "added notes.txt changed by you +1" in harness.unwrapped_text()
        await harness.driver.press("down", "y")
        await harness.wait_until(lambda: harness.clipboard.text is not None)
        assert "+mine" in harness.clipboard.text
        await harness.driver.press("escape")
        await wait_until_closed(harness)


async def test_a_missing_diff_is_read_once_its_file_is_highlighted(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("end", "space")
        await harness.wait_until(lambda: harness.commands_of(Compare))
        changed, added = COMPARISON.files
        late = replace(added, diff=None, is_on_request=True)
        harness.engine.send(replace(COMPARISON, files=(changed, late), id="c1"))
        await harness.wait_until(lambda: "2 files +13 −3" in harness.unwrapped_text())
        assert harness.commands_of(ReadPlannedFile) == []
        await harness.driver.press("down")
        await harness.wait_until(lambda: harness.commands_of(ReadPlannedFile))
        await harness.driver.press("up", "down")
        file = PlannedFile("notes.txt", "recreate", 1, 0, diff=added.diff)
        harness.engine.send(PlannedFileContent(plan="c1", number=2, file=file))
        await harness.wait_until(lambda: "mine" in harness.unwrapped_text())
        assert harness.commands_of(ReadPlannedFile) == [ReadPlannedFile("c1", "notes.txt")]
        await harness.driver.press("y")
        await harness.wait_until(lambda: harness.clipboard.text is not None)
        assert "+mine" in harness.clipboard.text


async def test_a_single_file_is_restored_from_the_changes(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("end", "space")
        await harness.wait_until(lambda: harness.commands_of(Compare))
        harness.engine.send(COMPARISON)
        await harness.wait_until(lambda: "enter restore this file" in harness.unwrapped_text())
        await harness.driver.press("down", "enter")
        await harness.wait_until(lambda: harness.commands_of(PlanRevert))
        assert harness.commands_of(PlanRevert) == [PlanRevert(0, "files")]
        changed = [
            replace(PLAN.files[0], path=file.path, action="restore", ticked=True) for file in COMPARISON.files
        ]
        harness.engine.send(replace(PLAN, to=0, scope="files", files=tuple(changed), commands=()))
        await harness.wait_until(lambda: "Restore notes.txt as it was before" in harness.unwrapped_text())
        await harness.wait_until(lambda: files(harness).selected_paths == {"notes.txt"})
        row = files(harness).highlighted_row
        assert isinstance(row, FileRow)
        assert row.path == "notes.txt"  # so its diff is shown
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Revert))
        assert harness.commands_of(Revert) == [Revert(0, "files", ("notes.txt",))]


async def test_changes_are_written_as_a_patch(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("end", "space")
        await harness.wait_until(lambda: harness.commands_of(Compare))
        harness.engine.send(COMPARISON)
        await harness.wait_until(lambda: "w write a patch" in harness.unwrapped_text())
        await harness.driver.press("w")
        await harness.wait_until(lambda: harness.commands_of(WritePatch))
        assert harness.commands_of(WritePatch) == [WritePatch(0, None)]
        harness.engine.send(PatchWritten("/w/checkpoint-0-to-now.patch", 0, files=2))
        await harness.wait_until(
            lambda: "Patch of 2 files: /w/checkpoint-0-to-now.patch" in harness.unwrapped_text()
        )
        await harness.driver.press("escape")
        await wait_until_closed(harness)
        await harness.driver.press("escape", "ctrl+end")
        await harness.wait_until(
            lambda: "git apply --reverse." in harness.unwrapped_text()
        )  # the conversation also reports the patch


async def test_r_on_a_block_of_the_conversation_reverts_to_before_it(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        transcript = harness.screen.query_one(Transcript)
        transcript.focus()
        await harness.wait_until(lambda: transcript.has_focus)
        await harness.driver.press("left_curly_bracket", "r")
        await harness.wait_until(lambda: harness.commands_of(PlanRevert))
        assert harness.commands_of(PlanRevert) == [PlanRevert(12, "both")]
        assert "Revert to before “All tests pass now.” (checkpoint 12)" in harness.unwrapped_text()


async def test_an_error_of_the_engine_is_shown_instead_of_the_plan(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("down", "enter")
        await harness.wait_until(lambda: harness.commands_of(PlanRevert))
        error = Notification(
            "n", "", "", "", "", "Checkpoint 12 doesn't exist.", "See /checkpoints.", "error"
        )
        harness.engine.send(error)
        await harness.wait_until(
            lambda: "Checkpoint 12 doesn't exist. See /checkpoints." in harness.unwrapped_text()
        )
        await harness.driver.press("enter", "escape")
        await wait_until_closed(harness)
        assert not harness.commands_of(Revert)


async def test_commands_open_the_same_dialogs_and_dry_runs_are_sent_to_the_engine(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/revert 4 files\n".rstrip("\n"))
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(ShowTimeline))
        harness.engine.send(TIMELINE)
        await harness.wait_until(lambda: harness.commands_of(PlanRevert))
        assert harness.commands_of(PlanRevert) == [PlanRevert(4, "files")]
        await harness.driver.press("escape")
        await wait_until_closed(harness)
        for line in ("/undo --dry-run", "/revert 4 --dry-run"):
            await harness.type_text(line)
            await harness.driver.press("enter")
        await harness.wait_until(lambda: len(harness.commands_of(RunSlash)) == 2)
        assert [command.line for command in harness.commands_of(RunSlash)] == [
            "undo --dry-run",
            "revert 4 --dry-run",
        ]
        await harness.type_text("/diff 2 9")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Compare))
        assert harness.commands_of(Compare) == [Compare(2, 9)]


async def test_a_note_and_a_switch_typed_as_commands_show_their_plan_first(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/note 4 try the other parser")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(ShowTimeline))
        harness.engine.send(TIMELINE)
        await open_plan(harness)
        assert harness.commands_of(PlanRevert) == [PlanRevert(4, "both")]
        assert "try the other parser" in harness.unwrapped_text()
        assert not harness.commands_of(Revert)
        await harness.driver.press("enter")
        await wait_until_closed(harness)
        assert harness.commands_of(Revert) == [Revert(4, "both", None, "try the other parser")]
        for line, to in (("/switch 1", None), ("/switch 1 5", 5)):
            await harness.type_text(line)
            await open_plan(harness, "enter", plan=replace(PLAN, reason="switch", branch=1))
            assert harness.commands_of(PlanSwitch)[-1] == PlanSwitch(1, to)
            await harness.driver.press("enter")
            await wait_until_closed(harness)
            assert harness.commands_of(SwitchBranch)[-1] == SwitchBranch(1, to, "both", None)
        assert not harness.commands_of(RunSlash)
        for line, message in (
            ("/switch 77", "Branch 77 doesn't exist."),
            ("/switch x", "Use /switch B or /switch B N."),
            ("/note 4", "Use /note N TEXT."),
        ):
            await harness.type_text(line)
            await harness.driver.press("enter")
            await harness.wait_until(lambda text=message: text in harness.unwrapped_text())


async def test_a_reverted_prompt_is_restored_unless_there_is_a_draft(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("fix it"))
        harness.engine.send(Reverted(0, 3, "user", 1, scope="both", prompt="fix it"))
        await harness.wait_until(lambda: harness.prompt_text == "fix it")
        harness.engine.send(Reverted(3, 4, "undo", 2, scope="both"))
        await harness.wait_until(lambda: harness.prompt_text == "")
        await harness.type_text("mine")
        harness.engine.send(Reverted(0, 5, "redo", 3, scope="both", prompt="fix it"))
        await harness.wait_until(
            lambda: any("Your draft was kept" in toast.message for toast in harness.app._notifications)
        )
        assert harness.prompt_text == "mine"


@pytest.mark.parametrize(
    ("keys", "size"),
    [
        (("down", "enter"), (100, 24)),
        (("down", "m"), (100, 24)),
        (("end", "up", "b"), (100, 24)),
        (("down", "enter"), (80, 24)),
    ],
    ids=["revert", "D-Mail", "switch", "narrow screen"],
)
async def test_after_a_revert_from_the_timeline_the_next_key_is_for_the_timeline(
    open_timeline: Any, keys: tuple[str, ...], size: tuple[int, int]
) -> None:
    async with open_timeline(size) as harness:
        await open_plan(harness, *keys)
        if keys[-1] == "m":
            await harness.type_text("note")
        await harness.driver.press("enter")
        await wait_until_closed(harness)
        harness.engine.send(Reverted(9, 13, "user", 2, scope="both", prompt="fix it"))
        harness.engine.send(replace(TIMELINE, undo="revert to 9"))
        await harness.wait_until(lambda: harness.prompt_text == "fix it")
        assert harness.app.focused is harness.screen.query_one(TimelineView)
        assert harness.screen.prompt.editor.selected_text == ""
        await harness.driver.press("u")
        await harness.wait_until(lambda: PlanRevert("undo") in harness.commands_of(PlanRevert))
        assert harness.prompt_text == "fix it"
        harness.engine.send(replace(PLAN, reason="undo"))
        await harness.wait_until(
            lambda: isinstance(harness.app.screen, PlanDialog) and files(harness).highlighted_row is not None
        )
        await harness.driver.press("enter")
        await wait_until_closed(harness)
        harness.engine.send(Reverted(13, 14, "undo", 3, scope="both"))
        await harness.wait_until(lambda: harness.prompt_text == "")
        assert harness.app.focused is harness.screen.query_one(TimelineView)


@pytest.mark.parametrize("name", ["src/auth.py", "'src/auth.py'"])
async def test_revert_with_only_a_file_opens_the_plan_with_that_file(open_timeline: Any, name: str) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.screen.prompt.editor.has_focus)
        await harness.type_text(f"/revert 9 files --only {name}")
        await open_plan(harness, "enter")
        assert files(harness).selected_paths == {"src/auth.py"}
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Revert))
        assert harness.commands_of(Revert) == [Revert(9, "files", ("src/auth.py",))]


async def test_after_a_revert_typed_in_the_prompt_the_focus_is_in_the_prompt(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.screen.prompt.editor.has_focus)
        await harness.type_text("/revert 9")
        await open_plan(harness, "enter")
        await harness.driver.press("enter")
        await wait_until_closed(harness)
        harness.engine.send(Reverted(9, 13, "user", 2, scope="both", prompt="fix it"))
        await harness.wait_until(lambda: harness.prompt_text == "fix it")
        await harness.wait_until(lambda: harness.screen.prompt.editor.has_focus)
        await harness.type_text("/undo")
        assert harness.prompt_text == "/undo"

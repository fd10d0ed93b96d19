"""The tree of checkpoints through the engine: branches, forks, names, notes and comparisons."""

import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.engine.timeline import beginning_of, node, timeline_of
from kimi_tui.history.context import Context
from kimi_tui.history.records import Checkpoint
from kimi_tui.history.session import SessionStore
from kimi_tui.history.state import Jump, SessionState
from kimi_tui.history.tree import NOT_YET, Place, Tree
from kimi_tui.wire.codec import unwrap
from kimi_tui.wire.commands import (
    Compare,
    ForkSession,
    LookIntoBranch,
    NameCheckpoint,
    PlanRevert,
    PlanSwitch,
    Revert,
    RunSlash,
    ShowTimeline,
    SwitchBranch,
    Undo,
    WritePatch,
)
from kimi_tui.wire.events import (
    CheckpointCreated,
    Notification,
    ReplayBegin,
    TextPart,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.timeline import (
    BranchContent,
    Comparison,
    PatchWritten,
    Reverted,
    RevertPlan,
    SessionForked,
    Timeline,
    TimelineNode,
    TimelineUpdate,
)
from tests.engine.session import Talk, calls, says, session

WRITE_A = calls(("WriteFile", {"path": "a", "content": "one\n"}))
WRITE_B = calls(("Bash", {"command": "echo two >> b; echo more >> a"}))


async def two_turns(talk: Talk) -> tuple[int, int]:
    """Two turns that write; the checkpoints before them."""
    await talk.ask("write a")
    await talk.ask("write b")
    first, second = (event.id for event in talk.all(CheckpointCreated) if event.kind == "user")
    return first, second


async def show(talk: Talk) -> Timeline:
    talk.heard.clear()
    await talk.carry_out(ShowTimeline())
    return talk.all(Timeline)[-1]


TURNS = (WRITE_A, says("wrote a"), WRITE_B, says("wrote b"))


async def test_the_tree_says_what_each_checkpoint_led_to(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        await two_turns(talk)
        timeline = await show(talk)
    nodes = timeline.nodes
    assert [node.id for node in nodes] == [0, 1, 2, 3, 4, 5]
    assert [node.label for node in nodes] == [
        "write a", "WriteFile a", "wrote a", "write b", "Bash echo two >> b; echo more >> a", "wrote b",
    ]  # fmt: skip
    assert [node.tools for node in nodes] == [(), ("WriteFile",), (), (), ("Bash",), ()]
    assert [node.shell for node in nodes] == [False, False, False, False, True, False]
    wrote, ran = nodes[1].files, nodes[4].files
    assert wrote is not None
    assert (wrote.changed, wrote.added_lines, wrote.paths, wrote.yours) == (1, 1, ("a",), 0)
    assert ran is not None
    assert (ran.changed, ran.added_lines, ran.paths) == (2, 2, ("a", "b"))
    assert [node.parent for node in nodes] == [None, *(node.uid for node in nodes[:-1])]
    assert {node.branch for node in nodes} == {None}
    assert {node.problem for node in nodes} == {""}
    assert timeline.current == nodes[-1].uid
    assert timeline.branches == ()
    assert timeline.undo == ""


async def test_new_checkpoints_are_told_to_who_asked_for_the_tree(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        timeline = await show(talk)
        assert timeline.nodes == ()
        await talk.ask("write a")
        known = {node.uid: node for update in talk.all(TimelineUpdate) for node in update.nodes}
        whole = await show(talk)
        assert {node.uid: node for node in whole.nodes} == known


async def test_what_a_revert_leaves_is_a_branch_that_can_be_looked_into(
    work_dir: Path, share_dir: Path
) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        _, second = await two_turns(talk)
        await talk.do(Revert(second), Reverted)
        timeline = await show(talk)
        (branch,) = timeline.branches
        assert (branch.number, branch.reason, branch.to) == (1, "user", second)
        on_branch = [node for node in timeline.nodes if node.branch == 1]
        assert [node.kind for node in on_branch] == ["user", "step", "step", "revert"]
        assert branch.tip == on_branch[-1].uid
        live = [node for node in timeline.nodes if node.branch is None]
        assert [node.label for node in live][:2] == ["write a", "WriteFile a"]
        assert live[-1].parent == on_branch[0].parent == live[-2].uid
        assert timeline.undo == f"before going back to {second} “write b”"

        content = await talk.do(LookIntoBranch(1), BranchContent)
        events = [unwrap(wrapped) for wrapped in content.events]
        assert [event.user_input for event in events if isinstance(event, TurnBegin)] == ["write b"]
        assert TextPart("wrote b") in events
        told = [event.id for event in events if isinstance(event, CheckpointCreated)]
        assert told == [node.id for node in on_branch]


async def test_a_switch_brings_back_the_conversation_and_the_files(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS, says("on the other line")) as talk:
        _, second = await two_turns(talk)
        await talk.do(Revert(second), Reverted)
        assert not (work_dir / "b").exists()
        await talk.ask("something else")

        plan = await talk.do(PlanSwitch(1), RevertPlan)
        assert (plan.reason, plan.branch, plan.turns) == ("switch", 1, 1)
        assert {file.path: file.action for file in plan.files} == {"a": "restore", "b": "recreate"}
        talk.heard.clear()
        reverted = await talk.do(SwitchBranch(1), Reverted)
        assert (reverted.reason, reverted.branch) == ("switch", 2)
        await talk.carry_out(ShowTimeline())
        assert (work_dir / "b").read_text() == "two\n"
        assert (work_dir / "a").read_text() == "one\nmore\n"
        assert [begin.anew for begin in talk.all(ReplayBegin)] == [True]
        said = [event.user_input for event in talk.all(TurnBegin)]
        assert said == ["write a", "write b"]

        timeline = await show(talk)
        assert [branch.number for branch in timeline.branches] == [2]
        assert "something else" in {node.label for node in timeline.nodes if node.branch == 2}
        await talk.do(Undo(), Reverted)
        assert not (work_dir / "b").exists()


async def test_every_checkpoint_of_every_line_can_be_gone_back_to(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        first, _ = await two_turns(talk)
        await talk.do(Revert(first), Reverted)
        assert not (work_dir / "a").exists()
        timeline = await show(talk)
        last = next(node for node in timeline.nodes if node.label.startswith("Bash"))
        assert last.branch == 1
        talk.heard.clear()
        reverted = await talk.do(Revert(last.id), Reverted)
        assert reverted.to == last.id
        await talk.carry_out(ShowTimeline())
        assert (work_dir / "a").read_text() == "one\n"
        assert not (work_dir / "b").exists()
        assert [event.user_input for event in talk.all(TurnBegin)] == ["write a", "write b"]
        assert TextPart("wrote b") not in talk.heard


async def test_one_turn_is_taken_back_from_the_middle(work_dir: Path, share_dir: Path) -> None:
    (work_dir / "c").write_text("1\n2\n3\n4\n5\n6\n7\n")
    scripts = (
        calls(("Bash", {"command": "sed -i s/^2$/two/ c; echo x > x"})), says("done"),
        calls(("Bash", {"command": "sed -i s/^6$/six/ c; echo y > y"})), says("done"),
    )  # fmt: skip
    async with session(work_dir, share_dir, *scripts) as talk:
        first, _ = await two_turns(talk)
        plan = await talk.do(PlanRevert(first, "turn"), RevertPlan)
        assert {file.path: file.action for file in plan.files} == {"c": "merge", "x": "delete"}
        assert len(plan.commands) == 1
        reverted = await talk.do(Revert(first, "turn"), Reverted)
        assert (reverted.scope, reverted.branch, reverted.prompt) == ("turn", None, None)
        assert (work_dir / "c").read_text() == "1\n2\n3\n4\n5\nsix\n7\n"
        assert sorted(path.name for path in work_dir.iterdir()) == ["c", "y"]
        await talk.do(Undo(), Reverted)
        assert (work_dir / "c").read_text() == "1\ntwo\n3\n4\n5\nsix\n7\n"
        assert (work_dir / "x").exists()


async def test_only_the_named_files_go_back(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        first, _ = await two_turns(talk)
        reverted = await talk.do(Revert(first, "files", paths=("b",)), Reverted)
        assert (reverted.files, reverted.kept) == (("b",), ("a",))
    assert sorted(path.name for path in work_dir.iterdir()) == ["a"]


async def test_a_note_is_left_for_the_model(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS, says("I read it")) as talk:
        first, _ = await two_turns(talk)
        reverted = await talk.do(Revert(first, note="a is not needed"), Reverted)
        assert (reverted.note, reverted.prompt) == ("a is not needed", "write a")
        await talk.ask("go on")
        kinds = [event.kind for event in talk.all(CheckpointCreated)]
        assert "dmail" in kinds
    journal = next(share_dir.glob("sessions/*/*/context.jsonl")).read_text()
    (note,) = [json.loads(line) for line in journal.splitlines() if "left you this message" in line]
    assert note["role"] == "user"
    assert "a is not needed" in json.dumps(note)


async def test_checkpoints_are_compared_with_each_other_and_with_now(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        first, second = await two_turns(talk)
        (work_dir / "mine").write_text("by hand\n")
        between = await talk.do(Compare(first, second), Comparison)
        assert [(file.path, file.change, file.added) for file in between.files] == [("a", "added", 1)]
        talk.heard.clear()
        since = await talk.do(Compare(second), Comparison)
        found = {file.path: (file.change, file.by) for file in since.files}
        assert found == {"a": ("changed", "agent"), "b": ("added", "agent"), "mine": ("added", "you")}
        (changed,) = [file for file in since.files if file.path == "a"]
        assert changed.diff is not None
        assert (changed.diff.old_text, changed.diff.new_text) == ("one\n", "one\nmore\n")
        talk.heard.clear()
        assert (await talk.do(Compare(first, 99), Notification)).severity == "error"


async def test_what_has_changed_is_written_for_git(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        first, second = await two_turns(talk)
        (work_dir / "folder").mkdir()
        written = await talk.do(WritePatch(first), PatchWritten)
        assert Path(written.path) == work_dir / f"checkpoint-{first}-to-now.patch"
        assert (written.files, written.left_out) == (2, ())
        text = Path(written.path).read_text()
        assert "+one\n+more\n" in text
        again = await talk.do(RunSlash(f"patch {first}"), PatchWritten)
        assert Path(again.path).name == f"checkpoint-{first}-to-now-2.patch"
        assert Path(again.path).read_text() == text  # the first patch is not in the second one
        named = await talk.do(RunSlash(f"patch {first} {second} some where.patch"), PatchWritten)
        assert Path(named.path) == work_dir / "some where.patch"
        taken = await talk.do(WritePatch(first, second, "some where.patch"), Notification)
        assert taken.title.endswith("some where.patch is there already.")
        nothing = await talk.do(WritePatch(first, first), Notification)
        assert nothing.title == "No file differs, so no patch was written."


async def test_a_folder_is_named_as_one(work_dir: Path, share_dir: Path) -> None:
    makes = calls(("Bash", {"command": "mkdir made; echo x > made/x"}))
    async with session(work_dir, share_dir, makes, says("made")) as talk:
        await talk.ask("make a folder")
        plan = await talk.do(PlanRevert(0), RevertPlan)
        assert [file.path for file in plan.files] == ["made/", "made/x"]
        reverted = await talk.do(Revert(0, "files", paths=("made/", "made/x")), Reverted)
        assert reverted.files == ("made/", "made/x")
    assert not list(work_dir.iterdir())


async def test_names_stay_with_checkpoints(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        first, second = await two_turns(talk)
        await show(talk)
        await talk.do(NameCheckpoint(second, "works so far"), Timeline)
        await talk.do(Revert(first), Reverted)
    async with session(work_dir, share_dir, continue_last=True) as talk:
        timeline = await show(talk)
        assert {node.id: node.name for node in timeline.nodes if node.name} == {second: "works so far"}
        talk.heard.clear()
        told = await talk.do(RunSlash(f"name {second}"), Notification)
        assert told.title == f"Checkpoint {second} has no name now."
        assert not any(node.name for node in (await show(talk)).nodes)
        told = await talk.do(RunSlash(f"name {second}"), Notification)
        assert told.title == f"Checkpoint {second} has no name that could be taken away."
        told = await talk.do(RunSlash(f"name {second}  all tests pass"), Notification)
        assert told.title == f"Checkpoint {second} is named “all tests pass”."


async def test_a_checkpoint_becomes_a_session_of_its_own(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        _, second = await two_turns(talk)
        forked = await talk.do(ForkSession(second), SessionForked)
        assert forked.at == second
        assert (work_dir / "b").exists()
    copy = SessionStore(share_dir).find(forked.session_id)
    assert copy.state.title == forked.title
    context = Context(copy.context_file)
    await context.restore()
    said = [message.text for message in context.history if message.role == "user"]
    assert said[0] == "write a"
    assert "write b" not in said
    assert context.checkpoints[-1].kind == "fork"
    assert context.n_checkpoints > second


async def test_a_fork_goes_back_by_itself(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        first, _ = await two_turns(talk)
        forked = await talk.do(RunSlash("fork"), SessionForked)
    async with session(work_dir, share_dir, session_id=forked.session_id) as talk:
        await talk.do(Revert(first), Reverted)
    assert not list(work_dir.iterdir())


async def test_compacted_messages_are_a_branch(work_dir: Path, share_dir: Path) -> None:
    scripts = (*TURNS, says("a summary of it all"))
    async with session(work_dir, share_dir, *scripts) as talk:
        await two_turns(talk)
        await show(talk)
        talk.heard.clear()
        talk.command(RunSlash("compact"))
        await talk.next(TurnEnd)
        timeline = await show(talk)
        (branch,) = timeline.branches
        assert branch.reason == "compaction"
        compaction = next(node for node in timeline.nodes if node.kind == "compaction")
        assert compaction.parent == branch.tip
        assert next(node.label for node in timeline.nodes if node.uid == branch.tip) == "wrote b"
        content = await talk.do(LookIntoBranch(branch.number), BranchContent)
        said = [unwrap(wrapped) for wrapped in content.events]
        assert TurnBegin("write a") in said
        await talk.do(SwitchBranch(branch.number), Reverted)
        talk.heard.clear()
        timeline = await show(talk)
        assert next(node.label for node in timeline.nodes if node.branch is None) == "write a"


async def test_what_is_not_there_is_said_to_be_not_there(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        await two_turns(talk)
        for command in (
            SwitchBranch(7), LookIntoBranch(7), Revert(99), ForkSession(99), NameCheckpoint(99, "x"),
            RunSlash("switch"), RunSlash("fork x"), RunSlash("diff"), RunSlash("name"), RunSlash("note 1"),
        ):  # fmt: skip
            talk.heard.clear()
            told = await talk.do(command, Notification)
            assert told.severity == "error", command
            assert told.title, command
            assert told.body, command


async def test_the_lists_name_branches_and_marks(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        _, second = await two_turns(talk)
        assert "no branches" in (await talk.do(RunSlash("branches"), Notification)).body
        talk.heard.clear()
        await talk.carry_out(RunSlash(f"name {second} before b"))
        listed = (await talk.do(RunSlash("checkpoints"), Notification)).body
        assert "“before b”" in listed
        assert "+2 −0 in 2 files" in listed
        assert "step 1" not in listed.split("\n")[0]  # but what the model said
        await talk.do(Revert(second), Reverted)
        talk.heard.clear()
        assert "write b" in (await talk.do(RunSlash("branches"), Notification)).body


async def test_folders_that_were_added_are_covered_too(
    work_dir: Path, share_dir: Path, tmp_path: Path
) -> None:
    added = tmp_path / "added" / "deep"
    added.mkdir(parents=True)
    (added / "there").write_text("one\n")
    (added / "mine").write_text("mine\n")
    (tmp_path / "added" / "outside").write_text("out\n")
    command = f"cd {added}; echo two >> there; mkdir sub; echo new > sub/new; echo x >> ../outside"
    scripts = (
        calls(("Bash", {"command": command})), says("done"),
        calls(("WriteFile", {"path": str(added / "named"), "content": "x\n"})), says("done"),
    )  # fmt: skip
    async with session(work_dir, share_dir, *scripts, additional_dirs=(added,)) as talk:
        await talk.ask("work there")
        await talk.ask("and more")
        (added / "mine").write_text("mine, newer\n")
        plan = await talk.do(PlanRevert(0), RevertPlan)
        assert {Path(file.path).name: file.action for file in plan.files} == {
            "there": "restore", "sub": "delete", "new": "delete", "named": "delete", "mine": "keep",
        }  # fmt: skip
        assert str(added / "there") in {file.path for file in plan.files}
        reverted = await talk.do(Revert(0), Reverted)
        assert str(added / "sub" / "new") in reverted.files
        assert {path.name: path.read_text() for path in added.iterdir()} == {
            "there": "one\n", "mine": "mine, newer\n",
        }  # fmt: skip
        await talk.do(Undo(), Reverted)
        assert (added / "sub" / "new").read_text() == "new\n"
    assert (tmp_path / "added" / "outside").read_text() == "out\nx\n"


async def test_an_added_folder_around_the_work_dir_is_said_to_be_left_out(
    work_dir: Path, share_dir: Path, tmp_path: Path
) -> None:
    scripts = (calls(("Bash", {"command": "echo x > ../outside; echo x > inside"})), says("done"))
    async with session(work_dir, share_dir, *scripts, additional_dirs=(tmp_path,)) as talk:
        await talk.ask("write there")
        listed = (await talk.do(RunSlash("checkpoints"), Notification)).body
        assert f"not covered: {tmp_path} (it holds the work dir)" in listed
        plan = await talk.do(PlanRevert(0), RevertPlan)
        assert [file.path for file in plan.files] == ["inside"]


def line_of(count: int) -> list[Checkpoint]:
    """The checkpoints of a long live line, whose files are known at every tenth."""
    return [
        Checkpoint(
            id=number,
            uid=f"u{number}",
            parent=f"u{number - 1}" if number else None,
            kind="step" if number % 4 else "user",
            label=f"request {number}",
            files=f"{number:04}-cafe:1" if number % 10 == 0 else NOT_YET,
        )
        for number in range(count)
    ]


class Seen(list[Checkpoint]):
    """Counts the checkpoints that somebody takes out of it."""

    taken = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        self.taken += len(found) if isinstance(place, slice) else 1
        return found


@pytest.mark.parametrize("count", [100, 10_000])
def test_the_newest_are_told_of_at_the_same_cost_however_many_there_are(count: int) -> None:
    made: list[str] = []

    def told(place: Place) -> TimelineNode:
        made.append(place.checkpoint.uid)
        return node(place, {})

    line = Seen(line_of(count))
    state = SessionState(undos=(Jump(count - 1, None, None),))
    timeline = beginning_of(line, 50, state, told)
    assert line.taken <= 53
    assert len(made) == 50
    whole = timeline_of(Tree(line, (), ()), state, lambda place: node(place, {}))
    assert timeline.nodes == whole.nodes[-50:]
    assert (timeline.current, timeline.undo) == (whole.current, whole.undo)
    assert (timeline.older, whole.older) == (count - 50, 0)


async def test_the_newest_checkpoints_come_when_they_are_asked_for_and_all_when_there_are_few(
    work_dir: Path, share_dir: Path
) -> None:
    async with session(work_dir, share_dir, *TURNS) as talk:
        await two_turns(talk)
        whole = await show(talk)
        talk.heard.clear()
        await talk.carry_out(ShowTimeline(newest=2))
        (newest,) = talk.all(Timeline)
        assert newest.nodes == whole.nodes[-2:]
        assert (newest.older, newest.current) == (len(whole.nodes) - 2, whole.current)
        talk.heard.clear()
        await talk.carry_out(ShowTimeline(newest=len(whole.nodes)))
        assert talk.all(Timeline) == [whole]
        await talk.do(NameCheckpoint(0, "the start"), Timeline)
        assert talk.all(Timeline)[-1].older == 0

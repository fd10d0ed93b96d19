"""The tree of checkpoints through the engine: branches, forks, names, notes and comparisons."""

import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.engine.timeline.publisher import build_node, full_timeline, newest_timeline
from kimi_tui.history.checkpoint_tree import NOT_CAPTURED_YET, CheckpointNode, CheckpointTree
from kimi_tui.history.context import Context
from kimi_tui.history.records import Checkpoint
from kimi_tui.history.session import SessionStore
from kimi_tui.history.session_state import SessionState, UndoEntry
from kimi_tui.wire.codec import unwrap
from kimi_tui.wire.commands import (
    Compare,
    ForkSession,
    NameCheckpoint,
    PlanRevert,
    PlanSwitch,
    ReadBranch,
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
from tests.engine.engine_client import EngineClient, session, text_reply, tool_calls

WRITE_A = tool_calls(("WriteFile", {"path": "a", "content": "one\n"}))
WRITE_B = tool_calls(("Bash", {"command": "echo two >> b; echo more >> a"}))


async def run_two_turns(client: EngineClient) -> tuple[int, int]:
    """Run two turns that write files. Return the ids of the checkpoints before them."""
    await client.ask("write a")
    await client.ask("write b")
    first, second = (event.id for event in client.all(CheckpointCreated) if event.kind == "user")
    return first, second


async def request_timeline(client: EngineClient) -> Timeline:
    client.events.clear()
    await client.command_and_wait(ShowTimeline())
    return client.all(Timeline)[-1]


TURNS = (WRITE_A, text_reply("wrote a"), WRITE_B, text_reply("wrote b"))


async def test_the_tree_summarizes_what_followed_each_checkpoint(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        await run_two_turns(client)
        timeline = await request_timeline(client)
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


async def test_new_checkpoints_are_sent_once_the_tree_was_requested(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        timeline = await request_timeline(client)
        assert timeline.nodes == ()
        await client.ask("write a")
        known = {node.uid: node for update in client.all(TimelineUpdate) for node in update.nodes}
        whole = await request_timeline(client)
        assert {node.uid: node for node in whole.nodes} == known


async def test_a_revert_creates_a_branch_that_can_be_read(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        _, second = await run_two_turns(client)
        await client.run_command(Revert(second), Reverted)
        timeline = await request_timeline(client)
        (branch,) = timeline.branches
        assert (branch.number, branch.reason, branch.to) == (1, "user", second)
        on_branch = [node for node in timeline.nodes if node.branch == 1]
        assert [node.kind for node in on_branch] == ["user", "step", "step", "revert"]
        assert branch.tip == on_branch[-1].uid
        current_branch = [node for node in timeline.nodes if node.branch is None]
        assert [node.label for node in current_branch][:2] == ["write a", "WriteFile a"]
        assert current_branch[-1].parent == on_branch[0].parent == current_branch[-2].uid
        assert timeline.undo == f"before revert to {second} “write b”"

        content = await client.run_command(ReadBranch(1), BranchContent)
        events = [unwrap(wrapped) for wrapped in content.events]
        assert [event.user_input for event in events if isinstance(event, TurnBegin)] == ["write b"]
        assert TextPart("wrote b") in events
        ids = [event.id for event in events if isinstance(event, CheckpointCreated)]
        assert ids == [node.id for node in on_branch]


async def test_a_switch_restores_the_conversation_and_the_files(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS, text_reply("on the other branch")) as client:
        _, second = await run_two_turns(client)
        await client.run_command(Revert(second), Reverted)
        assert not (work_dir / "b").exists()
        await client.ask("something else")

        plan = await client.run_command(PlanSwitch(1), RevertPlan)
        assert (plan.reason, plan.branch, plan.turns) == ("switch", 1, 1)
        assert {file.path: file.action for file in plan.files} == {"a": "restore", "b": "recreate"}
        client.events.clear()
        reverted = await client.run_command(SwitchBranch(1), Reverted)
        assert (reverted.reason, reverted.branch) == ("switch", 2)
        await client.command_and_wait(ShowTimeline())
        assert (work_dir / "b").read_text() == "two\n"
        assert (work_dir / "a").read_text() == "one\nmore\n"
        assert [begin.anew for begin in client.all(ReplayBegin)] == [True]
        prompts = [event.user_input for event in client.all(TurnBegin)]
        assert prompts == ["write a", "write b"]

        timeline = await request_timeline(client)
        assert [branch.number for branch in timeline.branches] == [2]
        assert "something else" in {node.label for node in timeline.nodes if node.branch == 2}
        await client.run_command(Undo(), Reverted)
        assert not (work_dir / "b").exists()


async def test_a_checkpoint_on_another_branch_can_be_reverted_to(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        first, _ = await run_two_turns(client)
        await client.run_command(Revert(first), Reverted)
        assert not (work_dir / "a").exists()
        timeline = await request_timeline(client)
        last = next(node for node in timeline.nodes if node.label.startswith("Bash"))
        assert last.branch == 1
        client.events.clear()
        reverted = await client.run_command(Revert(last.id), Reverted)
        assert reverted.to == last.id
        await client.command_and_wait(ShowTimeline())
        assert (work_dir / "a").read_text() == "one\n"
        assert not (work_dir / "b").exists()
        assert [event.user_input for event in client.all(TurnBegin)] == ["write a", "write b"]
        assert TextPart("wrote b") not in client.events


async def test_the_file_changes_of_one_turn_can_be_reverted(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "c").write_text("1\n2\n3\n4\n5\n6\n7\n")
    scripts = (
        tool_calls(("Bash", {"command": "sed -i s/^2$/two/ c; echo x > x"})), text_reply("done"),
        tool_calls(("Bash", {"command": "sed -i s/^6$/six/ c; echo y > y"})), text_reply("done"),
    )  # fmt: skip
    async with session(work_dir, data_dir, *scripts) as client:
        first, _ = await run_two_turns(client)
        plan = await client.run_command(PlanRevert(first, "turn"), RevertPlan)
        assert {file.path: file.action for file in plan.files} == {"c": "merge", "x": "delete"}
        assert len(plan.commands) == 1
        reverted = await client.run_command(Revert(first, "turn"), Reverted)
        assert (reverted.scope, reverted.branch, reverted.prompt) == ("turn", None, None)
        assert (work_dir / "c").read_text() == "1\n2\n3\n4\n5\nsix\n7\n"
        assert sorted(path.name for path in work_dir.iterdir()) == ["c", "y"]
        await client.run_command(Undo(), Reverted)
        assert (work_dir / "c").read_text() == "1\ntwo\n3\n4\n5\nsix\n7\n"
        assert (work_dir / "x").exists()


async def test_only_the_given_files_are_reverted(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        first, _ = await run_two_turns(client)
        reverted = await client.run_command(Revert(first, "files", paths=("b",)), Reverted)
        assert (reverted.files, reverted.kept) == (("b",), ("a",))
    assert sorted(path.name for path in work_dir.iterdir()) == ["a"]


async def test_a_note_is_left_for_the_model(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS, text_reply("I read it")) as client:
        first, _ = await run_two_turns(client)
        reverted = await client.run_command(Revert(first, note="a is not needed"), Reverted)
        assert (reverted.note, reverted.prompt) == ("a is not needed", "write a")
        await client.ask("go on")
        kinds = [event.kind for event in client.all(CheckpointCreated)]
        assert "dmail" in kinds
    journal = next(data_dir.glob("tui-sessions/*/*/context.jsonl")).read_text()
    (note,) = [
        json.loads(checkpoints)
        for checkpoints in journal.splitlines()
        if "left you this message" in checkpoints
    ]
    assert note["role"] == "user"
    assert "a is not needed" in json.dumps(note)


async def test_checkpoints_can_be_compared_with_each_other_and_with_now(
    work_dir: Path, data_dir: Path
) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        first, second = await run_two_turns(client)
        (work_dir / "mine").write_text("by hand\n")
        between = await client.run_command(Compare(first, second), Comparison)
        assert [(file.path, file.change, file.added) for file in between.files] == [("a", "added", 1)]
        client.events.clear()
        since = await client.run_command(Compare(second), Comparison)
        changes = {file.path: (file.change, file.by) for file in since.files}
        assert changes == {"a": ("changed", "agent"), "b": ("added", "agent"), "mine": ("added", "you")}
        (changed,) = [file for file in since.files if file.path == "a"]
        assert changed.diff is not None
        assert (changed.diff.old_text, changed.diff.new_text) == ("one\n", "one\nmore\n")
        client.events.clear()
        assert (await client.run_command(Compare(first, 99), Notification)).severity == "error"


async def test_the_changes_can_be_written_as_a_git_patch(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        first, second = await run_two_turns(client)
        (work_dir / "folder").mkdir()
        written = await client.run_command(WritePatch(first), PatchWritten)
        assert Path(written.path) == work_dir / f"checkpoint-{first}-to-now.patch"
        assert (written.files, written.left_out) == (2, ())
        text = Path(written.path).read_text()
        assert "+one\n+more\n" in text
        again = await client.run_command(RunSlash(f"patch {first}"), PatchWritten)
        assert Path(again.path).name == f"checkpoint-{first}-to-now-2.patch"
        assert Path(again.path).read_text() == text  # the first patch is not in the second one
        named = await client.run_command(RunSlash(f"patch {first} {second} some where.patch"), PatchWritten)
        assert Path(named.path) == work_dir / "some where.patch"
        error = await client.run_command(WritePatch(first, second, "some where.patch"), Notification)
        assert error.title.endswith("some where.patch already exists.")
        notice = await client.run_command(WritePatch(first, first), Notification)
        assert notice.title == "No files differ. No patch was written."


async def test_the_path_of_a_directory_ends_in_a_slash(work_dir: Path, data_dir: Path) -> None:
    makes = tool_calls(("Bash", {"command": "mkdir built; echo x > built/x"}))
    async with session(work_dir, data_dir, makes, text_reply("made")) as client:
        await client.ask("make a folder")
        plan = await client.run_command(PlanRevert(0), RevertPlan)
        assert [file.path for file in plan.files] == ["built/", "built/x"]
        reverted = await client.run_command(Revert(0, "files", paths=("built/", "built/x")), Reverted)
        assert reverted.files == ("built/", "built/x")
    assert not list(work_dir.iterdir())


async def test_names_of_checkpoints_are_kept(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        first, second = await run_two_turns(client)
        await request_timeline(client)
        await client.run_command(NameCheckpoint(second, "works so far"), Timeline)
        await client.run_command(Revert(first), Reverted)
    async with session(work_dir, data_dir, continue_last=True) as client:
        timeline = await request_timeline(client)
        assert {node.id: node.name for node in timeline.nodes if node.name} == {second: "works so far"}
        client.events.clear()
        notice = await client.run_command(RunSlash(f"name {second}"), Notification)
        assert notice.title == f"Name of checkpoint {second} removed."
        assert not any(node.name for node in (await request_timeline(client)).nodes)
        notice = await client.run_command(RunSlash(f"name {second}"), Notification)
        assert notice.title == f"Checkpoint {second} has no name to remove."
        notice = await client.run_command(RunSlash(f"name {second}  all tests pass"), Notification)
        assert notice.title == f"Name of checkpoint {second}: all tests pass"


async def test_a_checkpoint_can_be_forked_into_a_session(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        _, second = await run_two_turns(client)
        forked = await client.run_command(ForkSession(second), SessionForked)
        assert forked.at == second
        assert (work_dir / "b").exists()
    copy = SessionStore(data_dir).find(forked.session_id)
    assert copy.state.title == forked.title
    context = Context(copy.context_file)
    await context.restore()
    prompts = [message.text for message in context.history if message.role == "user"]
    assert prompts[0] == "write a"
    assert "write b" not in prompts
    assert context.checkpoints[-1].kind == "fork"
    assert context.n_checkpoints > second


async def test_a_fork_can_be_reverted(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        first, _ = await run_two_turns(client)
        forked = await client.run_command(RunSlash("fork"), SessionForked)
    async with session(work_dir, data_dir, session_id=forked.session_id) as client:
        await client.run_command(Revert(first), Reverted)
    assert not list(work_dir.iterdir())


async def test_compacted_messages_are_a_branch(work_dir: Path, data_dir: Path) -> None:
    scripts = (*TURNS, text_reply("a summary of it all"))
    async with session(work_dir, data_dir, *scripts) as client:
        await run_two_turns(client)
        await request_timeline(client)
        client.events.clear()
        client.command(RunSlash("compact"))
        await client.next(TurnEnd)
        timeline = await request_timeline(client)
        (branch,) = timeline.branches
        assert branch.reason == "compaction"
        compaction = next(node for node in timeline.nodes if node.kind == "compaction")
        assert compaction.parent == branch.tip
        assert next(node.label for node in timeline.nodes if node.uid == branch.tip) == "wrote b"
        content = await client.run_command(ReadBranch(branch.number), BranchContent)
        events = [unwrap(wrapped) for wrapped in content.events]
        assert TurnBegin("write a") in events
        await client.run_command(SwitchBranch(branch.number), Reverted)
        client.events.clear()
        timeline = await request_timeline(client)
        assert next(node.label for node in timeline.nodes if node.branch is None) == "write a"


async def test_unknown_checkpoints_and_branches_are_errors(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        await run_two_turns(client)
        for command in (
            SwitchBranch(7), ReadBranch(7), Revert(99), ForkSession(99), NameCheckpoint(99, "x"),
            RunSlash("switch"), RunSlash("fork x"), RunSlash("diff"), RunSlash("name"), RunSlash("note 1"),
        ):  # fmt: skip
            client.events.clear()
            error = await client.run_command(command, Notification)
            assert error.severity == "error", command
            assert error.title, command
            assert error.body, command


async def test_the_lists_show_branches_names_and_changes(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        _, second = await run_two_turns(client)
        assert "No branches" in (await client.run_command(RunSlash("branches"), Notification)).body
        client.events.clear()
        await client.command_and_wait(RunSlash(f"name {second} before b"))
        listed = (await client.run_command(RunSlash("checkpoints"), Notification)).body
        assert "“before b”" in listed
        assert "+2 −0 in 2 files" in listed
        assert "step 1" not in listed.split("\n")[0]  # the response is shown instead
        await client.run_command(Revert(second), Reverted)
        client.events.clear()
        assert "write b" in (await client.run_command(RunSlash("branches"), Notification)).body


async def test_additional_directories_are_covered(work_dir: Path, data_dir: Path, tmp_path: Path) -> None:
    added = tmp_path / "added" / "deep"
    added.mkdir(parents=True)
    (added / "there").write_text("one\n")
    (added / "mine").write_text("mine\n")
    (tmp_path / "added" / "outside").write_text("out\n")
    command = f"cd {added}; echo two >> there; mkdir sub; echo new > sub/new; echo x >> ../outside"
    scripts = (
        tool_calls(("Bash", {"command": command})), text_reply("done"),
        tool_calls(("WriteFile", {"path": str(added / "named"), "content": "x\n"})), text_reply("done"),
    )  # fmt: skip
    async with session(work_dir, data_dir, *scripts, additional_dirs=(added,)) as client:
        await client.ask("work there")
        await client.ask("and more")
        (added / "mine").write_text("mine, newer\n")
        plan = await client.run_command(PlanRevert(0), RevertPlan)
        assert {Path(file.path).name: file.action for file in plan.files} == {
            "there": "restore", "sub": "delete", "new": "delete", "named": "delete", "mine": "keep",
        }  # fmt: skip
        assert str(added / "there") in {file.path for file in plan.files}
        reverted = await client.run_command(Revert(0), Reverted)
        assert str(added / "sub" / "new") in reverted.files
        assert {path.name: path.read_text() for path in added.iterdir()} == {
            "there": "one\n", "mine": "mine, newer\n",
        }  # fmt: skip
        await client.run_command(Undo(), Reverted)
        assert (added / "sub" / "new").read_text() == "new\n"
    assert (tmp_path / "added" / "outside").read_text() == "out\nx\n"


async def test_a_directory_that_contains_the_working_directory_is_listed_as_not_covered(
    work_dir: Path, data_dir: Path, tmp_path: Path
) -> None:
    scripts = (tool_calls(("Bash", {"command": "echo x > ../outside; echo x > inside"})), text_reply("done"))
    async with session(work_dir, data_dir, *scripts, additional_dirs=(tmp_path,)) as client:
        await client.ask("write there")
        listed = (await client.run_command(RunSlash("checkpoints"), Notification)).body
        assert f"not covered: {tmp_path} (it contains the working directory)" in listed
        plan = await client.run_command(PlanRevert(0), RevertPlan)
        assert [file.path for file in plan.files] == ["inside"]


def make_checkpoints(count: int) -> list[Checkpoint]:
    """Return the checkpoints of a long branch, with a file state at every tenth."""
    return [
        Checkpoint(
            id=number,
            uid=f"u{number}",
            parent=f"u{number - 1}" if number else None,
            kind="step" if number % 4 else "user",
            label=f"request {number}",
            files=f"{number:04}-cafe:1" if number % 10 == 0 else NOT_CAPTURED_YET,
        )
        for number in range(count)
    ]


class CountingList(list[Checkpoint]):
    """Counts the checkpoints that are read from it."""

    n_read = 0

    def __getitem__(self, index: Any) -> Any:
        item = super().__getitem__(index)
        self.n_read += len(item) if isinstance(index, slice) else 1
        return item


@pytest.mark.parametrize("count", [100, 10_000])
def test_the_newest_checkpoints_are_built_without_reading_the_others(count: int) -> None:
    built: list[str] = []

    def to_node(node: CheckpointNode) -> TimelineNode:
        built.append(node.checkpoint.uid)
        return build_node(node, {})

    checkpoints = CountingList(make_checkpoints(count))
    state = SessionState(undos=(UndoEntry(count - 1, None, None),))
    timeline = newest_timeline(checkpoints, 50, state, to_node)
    assert checkpoints.n_read <= 53
    assert len(built) == 50
    whole = full_timeline(CheckpointTree(checkpoints, (), ()), state, lambda node: build_node(node, {}))
    assert timeline.nodes == whole.nodes[-50:]
    assert (timeline.current, timeline.undo) == (whole.current, whole.undo)
    assert (timeline.older, whole.older) == (count - 50, 0)


async def test_only_the_newest_checkpoints_are_sent_if_there_are_many(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *TURNS) as client:
        await run_two_turns(client)
        whole = await request_timeline(client)
        client.events.clear()
        await client.command_and_wait(ShowTimeline(newest=2))
        (newest,) = client.all(Timeline)
        assert newest.nodes == whole.nodes[-2:]
        assert (newest.older, newest.current) == (len(whole.nodes) - 2, whole.current)
        client.events.clear()
        await client.command_and_wait(ShowTimeline(newest=len(whole.nodes)))
        assert client.all(Timeline) == [whole]
        await client.run_command(NameCheckpoint(0, "the start"), Timeline)
        assert client.all(Timeline)[-1].older == 0

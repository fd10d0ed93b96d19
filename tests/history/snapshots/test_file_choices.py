"""What the user can choose for a file in a plan: one of its versions, and single hunks."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_tui.history.snapshots.hunk import find_hunks
from kimi_tui.history.snapshots.plan import Plan, PlanItem
from kimi_tui.wire.timeline import ConflictChoice, FileChoice
from tests.history.snapshots.file_history_fixture import FileHistoryFixture


def only_item(plan: Plan) -> PlanItem:
    [item] = plan.items
    return item


def hunk_ids(project: FileHistoryFixture, item: PlanItem) -> list[str]:
    texts = project.history.contents(item.now, item.then)
    assert texts is not None
    return [hunk.id for hunk in find_hunks(*texts)]


def choose(project: FileHistoryFixture, plan: Plan, *choices: FileChoice) -> tuple[tuple[str, str], ...]:
    """Execute only these choices. Return what failed."""
    result, _ = project.history.execute(plan, set(), choices={choice.path: choice for choice in choices})
    return result.failed


@pytest.fixture
def conflict(project: FileHistoryFixture) -> tuple[FileHistoryFixture, str]:
    """A file of which the agent and the user changed the same line, and others."""
    file = project.work / "f"
    file.write_bytes(b"1\n2\n3\n4\n5\n6\n")
    start = project.checkpoint()
    with project.agent():
        file.write_bytes(b"agent\n2\n3\nagent 4\n5\n6\n")
    file.write_bytes(b"agent\n2\n3\nmine 4\n5\nmine 6\n")
    return project, start


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("mine", b"agent\n2\n3\nmine 4\n5\nmine 6\n"),
        ("checkpoint", b"1\n2\n3\n4\n5\n6\n"),
        ("merge", b"1\n2\n3\nmine 4\n5\nmine 6\n"),
        ("both", b"1\n2\n3\nmine 4\n4\n5\nmine 6\n"),
    ],
)
def test_a_conflict_has_four_choices_and_an_undo(
    choice: ConflictChoice, expected: bytes, conflict: tuple[FileHistoryFixture, str]
):
    project, start = conflict
    file = project.work / "f"
    before = file.read_bytes()
    plan = project.history.plan(start)
    item = only_item(plan)
    assert (item.action, item.default_choice, item.is_selected) == ("conflict", "mine", False)
    assert {version.choice for version in item.versions} == {"mine", "checkpoint", "merge", "both"}
    assert choose(project, plan, FileChoice("f", choice)) == ()
    assert file.read_bytes() == expected
    project.revert(plan.head)
    assert file.read_bytes() == before


def test_without_overlapping_changes_the_agents_lines_are_removed_by_default(project: FileHistoryFixture):
    start = project.checkpoint()
    with project.agent():
        (project.work / "a.py").write_bytes(b"print(1)\r\nprint(2)")
    (project.work / "a.py").write_bytes(b"print(1)\r\nmine\nprint(2)\nmine too")
    plan = project.history.plan(start)
    item = only_item(plan)
    assert (item.action, item.default_choice) == ("merge", "merge")
    assert item.note == "created by the agent, edited by you"
    assert {version.choice for version in item.versions} == {"mine", "merge", "checkpoint"}
    project.revert(start)
    assert (project.work / "a.py").read_bytes() == b"mine\nmine too"


def test_both_is_the_same_as_merge_if_no_lines_overlap(project: FileHistoryFixture):
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").write_text("agent\n")
    (project.work / "a").write_text("agent\nmine\n")
    assert choose(project, project.history.plan(start), FileChoice("a", "both")) == ()
    assert project.files() == {"a": "mine\n"}


def test_a_file_of_which_you_only_removed_lines_is_kept_by_default(project: FileHistoryFixture):
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").write_text("1\n2\n3\n")
    (project.work / "a").write_text("1\n3\n")
    plan = project.history.plan(start)
    assert only_item(plan).default_choice == "mine"
    assert choose(project, plan, FileChoice("a", "merge")) == ()
    assert project.files() == {}


def test_the_choices_of_a_file_that_you_deleted_or_that_is_binary(project: FileHistoryFixture):
    (project.work / "deleted").write_text("1\n")
    (project.work / "binary").write_bytes(b"\0one")
    start = project.checkpoint()
    with project.agent():
        (project.work / "deleted").write_text("2\n")
        (project.work / "binary").write_bytes(b"\0two")
    (project.work / "deleted").unlink()
    (project.work / "binary").write_bytes(b"\0three")
    plan = project.history.plan(start)
    for item in plan.items:
        assert [version.choice for version in item.versions] == ["mine", "checkpoint"]
    failed = choose(project, plan, FileChoice("binary", "merge"), FileChoice("deleted", "checkpoint"))
    assert failed == (("binary", "the choice “merge” isn't possible"),)
    assert (project.work / "binary").read_bytes() == b"\0three"
    assert (project.work / "deleted").read_text() == "1\n"


def test_single_hunks_of_a_file_are_reverted(project: FileHistoryFixture):
    file = project.work / "f"
    original = b"".join(b"%d\n" % number for number in range(20))
    file.write_bytes(original)
    file.chmod(0o644)
    start = project.checkpoint()
    with project.agent():
        file.write_bytes(original.replace(b"3\n", b"three\n", 1).replace(b"\n17\n", b"\nseventeen\n"))
        file.chmod(0o755)
    plan = project.history.plan(start)
    _, second = hunk_ids(project, only_item(plan))
    assert choose(project, plan, FileChoice("f", hunks=(second,))) == ()
    assert file.read_bytes() == original.replace(b"3\n", b"three\n", 1)
    assert file.stat().st_mode & 0o777 == 0o644
    project.revert(plan.head)
    assert file.read_bytes().count(b"seventeen") == 1
    assert file.stat().st_mode & 0o777 == 0o755


def test_a_hunk_that_no_longer_exists_changes_nothing(project: FileHistoryFixture):
    file = project.work / "f"
    file.write_text("1\n")
    start = project.checkpoint()
    with project.agent():
        file.write_text("2\n")
    [seen] = hunk_ids(project, only_item(project.history.plan(start)))
    with project.agent():
        file.write_text("3\n")
    failed = choose(project, project.history.plan(start), FileChoice("f", hunks=(seen,)))
    assert failed == (("f", "changed in the meantime"),)
    assert file.read_text() == "3\n"


def test_no_hunks_leave_the_file_alone(project: FileHistoryFixture):
    start = project.checkpoint()
    with project.agent():
        (project.work / "f").write_text("2\n")
    plan = project.history.plan(start)
    result, _ = project.history.execute(plan, {"f"}, choices={"f": FileChoice("f", hunks=())})
    assert (result.done, result.failed) == ((), ())
    assert project.files() == {"f": "2\n"}


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"\xff\n", b"d"]), max_size=12)
CONTENT = st.none() | LINES.map(b"".join)


@settings(deadline=None, max_examples=60)
@given(start=CONTENT, agents=CONTENT, yours=CONTENT, data=st.data())
def test_any_choice_is_executed_exactly_and_can_be_undone(
    start: bytes | None, agents: bytes | None, yours: bytes | None, data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        project = FileHistoryFixture(Path(folder))
        project.history.open()
        write(project, start)
        state = project.checkpoint()
        with project.agent():
            write(project, agents)
        write(project, yours)
        plan = project.history.plan(state)
        if not plan.items:
            return
        item = only_item(plan)
        versions = {version.choice: version.then for version in item.versions}
        choice = data.draw(st.sampled_from([None, *versions]))
        then = item.then if choice is None else versions[choice]
        texts = project.history.contents(item.now, then)
        assert texts is not None
        hunks = find_hunks(*texts)
        chosen = data.draw(st.none() | st.lists(st.sampled_from(hunks), unique=True) if hunks else st.none())
        ids = None if chosen is None else tuple(hunk.id for hunk in chosen)
        assert choose(project, plan, FileChoice("f", choice, ids)) == ()
        expected = texts[1] if then is not None else None
        if chosen is not None and len(chosen) < len(hunks):
            ranges = [(it.old_start, it.old_end, it.new_start, it.new_end) for it in chosen]
            expected = replace_lines(*texts, ranges)
            expected = expected if chosen or yours is not None else None
        assert read(project) == expected
        project.revert(plan.head)
        assert read(project) == yours
        project.history.close()


def replace_lines(old: bytes, new: bytes, ranges: list[tuple[int, int, int, int]]) -> bytes:
    """Return `old` with ranges of its lines replaced by those of `new`, from the end to the start."""
    old_lines, new_lines = old.split(b"\n"), new.split(b"\n")
    ended = [line + b"\n" for line in old_lines[:-1]] + [old_lines[-1]]
    with_ends = [line + b"\n" for line in new_lines[:-1]] + [new_lines[-1]]
    for i1, i2, j1, j2 in sorted(ranges, reverse=True):
        ended[i1:i2] = with_ends[j1:j2]
    return b"".join(ended)


def write(project: FileHistoryFixture, content: bytes | None) -> None:
    if content is None:
        (project.work / "f").unlink(missing_ok=True)
    else:
        (project.work / "f").write_bytes(content)


def read(project: FileHistoryFixture) -> bytes | None:
    file = project.work / "f"
    return file.read_bytes() if file.exists() else None

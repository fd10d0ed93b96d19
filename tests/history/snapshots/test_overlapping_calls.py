"""Changes found after a command, while another session or the user changed files, too."""

from pathlib import Path

from tests.history.snapshots.file_history_fixture import FileHistoryFixture


def open_second(folder: Path) -> FileHistoryFixture:
    second = FileHistoryFixture(folder, session="two")
    second.history.open()
    second.checkpoint()
    return second


def plan_of(project: FileHistoryFixture, start: str) -> dict[str, tuple[str, str, str]]:
    return {item.path: (item.action, item.by, item.note) for item in project.history.plan(start).items}


UNCERTAIN = (
    "conflict", "agent or another session", "changed while this and another session ran commands"
)  # fmt: skip


def test_what_overlapping_commands_changed_is_kept_in_both_sessions(
    project: FileHistoryFixture, tmp_path: Path
) -> None:
    (project.work / "old").write_text("old\n")
    start = project.checkpoint()
    second = open_second(tmp_path)
    second_start = second.checkpoint()
    with project.running("make"), second.running("make test"):
        (project.work / "new").write_text("new\n")
        (project.work / "old").write_text("changed\n")
    assert plan_of(project, start) == {"new": UNCERTAIN, "old": UNCERTAIN}
    assert plan_of(second, second_start) == {"new": UNCERTAIN, "old": UNCERTAIN}
    project.revert(start)
    second.revert(second_start)
    assert project.files() == {"new": "new\n", "old": "changed\n"}
    by = {item.path: item.by for item in project.history.difference(start, project.checkpoint())}
    assert by == {"new": "agent or another session", "old": "agent or another session"}


def test_uncertain_changes_can_be_selected_and_the_revert_undone(
    project: FileHistoryFixture, tmp_path: Path
) -> None:
    start = project.checkpoint()
    second = open_second(tmp_path)
    with project.running("make"), second.running("make test"):
        (project.work / "new").write_text("new\n")
    before = project.checkpoint()
    project.revert(start, also=lambda plan: {item.path for item in plan.items})
    assert project.files() == {}
    project.revert(before, also=lambda plan: {item.path for item in plan.items})
    assert project.files() == {"new": "new\n"}


def test_what_a_command_changed_before_the_other_one_began_is_its_own(
    project: FileHistoryFixture, tmp_path: Path
) -> None:
    start = project.checkpoint()
    second = open_second(tmp_path)
    with project.running("make"):
        (project.work / "mine").write_text("mine\n")
        with second.running("make test"):
            (project.work / "both").write_text("both\n")
    assert plan_of(project, start) == {
        "mine": ("delete", "agent", "changed while `make` ran"),
        "both": UNCERTAIN,
    }


def test_everything_is_uncertain_while_the_command_of_the_other_session_runs(
    project: FileHistoryFixture, tmp_path: Path
) -> None:
    start = project.checkpoint()
    second = open_second(tmp_path)
    with second.running("make watch"):
        with project.running("make"):
            (project.work / "new").write_text("new\n")
        assert plan_of(project, start) == {"new": UNCERTAIN}


def test_what_a_killed_command_of_another_session_may_have_changed_is_kept(
    project: FileHistoryFixture, tmp_path: Path
) -> None:
    start = project.checkpoint()
    second = open_second(tmp_path)
    killed = second.running("make watch")
    killed.__enter__()
    with project.running("make"):
        (project.work / "new").write_text("new\n")
    second.history.close()
    assert plan_of(project, start) == {"new": UNCERTAIN}
    project.revert(start)
    assert project.files() == {"new": "new\n"}


def test_a_file_that_another_session_wrote_with_a_tool_during_a_command_is_not_the_agents(
    project: FileHistoryFixture, tmp_path: Path
) -> None:
    start = project.checkpoint()
    second = open_second(tmp_path)
    with project.running("make"):
        (project.work / "theirs").write_text("theirs\n")
        second.history.capture(second.call(), paths=["theirs"])
        (project.work / "new").write_text("new\n")
    assert plan_of(project, start) == {
        "theirs": ("keep", "another session", "changed only by another session"),
        "new": ("delete", "agent", "changed while `make` ran"),
    }
    project.revert(start)
    assert project.files() == {"theirs": "theirs\n"}


def test_commands_one_after_another_have_their_own_changes(
    project: FileHistoryFixture, tmp_path: Path
) -> None:
    start = project.checkpoint()
    second = open_second(tmp_path)
    second_start = second.checkpoint()
    with project.running("make"):
        (project.work / "one").write_text("one\n")
    with second.running("make test"):
        (project.work / "two").write_text("two\n")
    with project.running("make again"):
        (project.work / "three").write_text("three\n")
    assert {path: (action, by) for path, (action, by, _) in plan_of(project, start).items()} == {
        "one": ("delete", "agent"),
        "two": ("keep", "another session"),
        "three": ("delete", "agent"),
    }
    assert {path: (action, by) for path, (action, by, _) in plan_of(second, second_start).items()} == {
        "one": ("keep", "another session"),
        "two": ("delete", "agent"),
        "three": ("keep", "another session"),
    }


def test_a_plan_says_which_command_ran_while_a_file_changed(project: FileHistoryFixture) -> None:
    start = project.checkpoint()
    with project.running("sleep 60"):
        (project.work / "saved by hand").write_text("mine\n")
    assert plan_of(project, start) == {"saved by hand": ("delete", "agent", "changed while `sleep 60` ran")}


def test_an_exact_change_has_no_such_note(project: FileHistoryFixture) -> None:
    start = project.checkpoint()
    (project.work / "written").write_text("x\n")
    project.history.capture(project.call(), paths=["written"])
    assert plan_of(project, start) == {"written": ("delete", "agent", "")}

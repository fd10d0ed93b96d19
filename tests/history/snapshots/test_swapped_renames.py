"""A file that the agent renamed to a name in use is followed, too: edits never end up in another file."""

import os
from collections.abc import Callable

import pytest

from tests.history.snapshots.file_history_fixture import FileHistoryFixture

A, B, C = ("".join(f"{name} {number}\n" for number in range(6)) for name in "abc")
HEADER = "license\n" * 5
Move = Callable[..., None]


def write(project: FileHistoryFixture, **contents: str | bytes) -> None:
    for name, content in contents.items():
        path = project.work / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def append(project: FileHistoryFixture, path: str, line: str = "mine\n") -> None:
    with (project.work / path).open("a") as file:
        file.write(line)


def rename(project: FileHistoryFixture, *names: str) -> None:
    """Rename the first name to the second one, and so on. The first name may come again at the end."""
    names_now = list(names)
    if names[0] == names[-1]:
        (project.work / names[-2]).rename(project.work / "temporary")
        names_now = [*names[:-2], "temporary"][:-1]
    for old, new in reversed(list(zip(names_now, names[1:], strict=False))):
        (project.work / old).rename(project.work / new)
    if names[0] == names[-1]:
        (project.work / "temporary").rename(project.work / names[0])


@pytest.fixture(params=["scan", "private view"])
def capture_call(request: pytest.FixtureRequest, project: FileHistoryFixture) -> Callable[[], None]:
    """Record the agent's changes, found by a scan or named by the commit of a workspace."""

    def record() -> None:
        if request.param == "scan":
            project.history.capture(project.call())
        else:
            project.history.capture_paths(project.call(), ["a", "b", "c", "d", "temporary"])

    return record


def test_an_edit_after_a_swap_goes_to_the_file_that_it_was_made_in(
    project: FileHistoryFixture, capture_call: Callable[[], None]
):
    write(project, a=A, b=B)
    start = project.checkpoint()
    rename(project, "a", "b", "a")
    capture_call()
    append(project, "b")
    project.revert(start)
    assert project.files() == {"a": A + "mine\n", "b": B}


def test_an_edit_after_a_swap_of_similar_files_goes_to_its_file(
    project: FileHistoryFixture, capture_call: Callable[[], None]
):
    write(project, a="first\n" + HEADER, b="second\n" + HEADER)
    start = project.checkpoint()
    rename(project, "a", "b", "a")
    capture_call()
    append(project, "b")
    project.revert(start)
    assert project.files() == {"a": "first\n" + HEADER + "mine\n", "b": "second\n" + HEADER}


def test_an_edit_after_a_chain_of_renames_goes_to_its_file(
    project: FileHistoryFixture, capture_call: Callable[[], None]
):
    write(project, a=A, b=B)
    start = project.checkpoint()
    rename(project, "a", "b", "c")
    capture_call()
    append(project, "b", "to a\n")
    append(project, "c", "to b\n")
    project.revert(start)
    assert project.files() == {"a": A + "to a\n", "b": B + "to b\n"}


def test_edits_after_a_rotation_of_three_files_go_to_their_files(
    project: FileHistoryFixture, capture_call: Callable[[], None]
):
    write(project, a=A, b=B, c=C)
    start = project.checkpoint()
    rename(project, "a", "b", "c", "a")
    capture_call()
    for path, line in (("b", "to a\n"), ("c", "to b\n"), ("a", "to c\n")):
        append(project, path, line)
    project.revert(start)
    assert project.files() == {"a": A + "to a\n", "b": B + "to b\n", "c": C + "to c\n"}


def test_a_replaced_file_is_restored_and_the_edits_go_to_the_file_that_replaced_it(
    project: FileHistoryFixture, capture_call: Callable[[], None]
):
    write(project, a=A, b=B)
    start = project.checkpoint()
    rename(project, "a", "b")
    capture_call()
    append(project, "b")
    project.revert(start)
    assert project.files() == {"a": A + "mine\n", "b": B}


def test_a_swap_in_several_calls_is_followed(project: FileHistoryFixture, capture_call: Callable[[], None]):
    write(project, a=A, b=B)
    start = project.checkpoint()
    for old, new in (("a", "temporary"), ("b", "a"), ("temporary", "b")):
        rename(project, old, new)
        capture_call()
    append(project, "b")
    project.revert(start)
    assert project.files() == {"a": A + "mine\n", "b": B}


def test_links_and_binary_files_are_followed(project: FileHistoryFixture, capture_call: Callable[[], None]):
    write(project, a=b"\0one", b=b"\0two")
    (project.work / "c").symlink_to("one")
    (project.work / "d").symlink_to("two")
    start = project.checkpoint()
    rename(project, "a", "b", "a")
    rename(project, "c", "d", "c")
    capture_call()
    write(project, b=b"\0one, edited")
    project.revert(start)
    assert (project.work / "a").read_bytes() == b"\0one, edited"
    assert (project.work / "b").read_bytes() == b"\0two"
    assert os.readlink(project.work / "c") == "one"  # noqa: PTH115


def test_files_of_swapped_folders_are_followed(project: FileHistoryFixture):
    write(project, one__a=A, one__only="1\n", two__a=B)
    start = project.checkpoint()
    with project.agent():
        rename(project, "one", "two", "one")
    append(project, "two/a")
    append(project, "two/only")
    project.revert(start)
    assert project.files() == {"one/a": A + "mine\n", "one/only": "1\nmine\n", "two/a": B}


def test_the_revert_of_a_swap_can_be_undone_and_redone_with_edits(project: FileHistoryFixture):
    write(project, a=A, b=B)
    start = project.checkpoint()
    with project.agent():
        rename(project, "a", "b", "a")
    end = project.history.plan(start).head
    project.revert(start)
    append(project, "a")
    reverted = project.checkpoint()
    project.revert(end)
    assert project.files() == {"a": B, "b": A + "mine\n"}
    project.revert(reverted)
    assert project.files() == {"a": A + "mine\n", "b": B}


def test_one_half_of_a_swap_is_not_undone_alone(project: FileHistoryFixture):
    write(project, a=A, b=B)
    start = project.checkpoint()
    with project.agent():
        rename(project, "a", "b", "a")
    append(project, "b")
    plan = project.history.plan(start)
    result, _ = project.history.execute(plan, {"b"})
    assert [path for path, _ in result.failed] == ["b"]
    assert project.files() == {"a": B, "b": A + "mine\n"}


def test_a_swap_stays_if_you_took_a_name(project: FileHistoryFixture):
    write(project, a=A, b=B)
    start = project.checkpoint()
    with project.agent():
        rename(project, "a", "b", "c")
    append(project, "b")
    write(project, a="yours\n")
    plan = project.history.plan(start)
    actions = {item.path: item.action for item in plan.items}
    assert actions == {"a": "keep", "b": "conflict", "c": "conflict"}
    project.revert(start)
    assert project.files() == {"a": "yours\n", "b": A + "mine\n", "c": B}


def test_conflicting_edits_of_a_swapped_file_keep_the_swap(project: FileHistoryFixture):
    write(project, a=A, b=B)
    start = project.checkpoint()
    with project.agent():
        rename(project, "a", "b", "a")
    with project.agent():
        write(project, b=A.replace("a 3", "agent"))
    write(project, b=A.replace("a 3", "mine"))
    before = project.files()
    assert project.revert(start) == {"a": "conflict", "b": "conflict"}
    assert project.files() == before


def test_your_file_that_the_agent_replaced_is_restored(project: FileHistoryFixture):
    write(project, a=A)
    start = project.checkpoint()
    write(project, b="yours\n" + B)
    with project.agent():
        rename(project, "a", "b")
    append(project, "b")
    project.revert(start)
    assert project.files() == {"a": A + "mine\n", "b": "yours\n" + B}


def test_your_own_swap_stays_without_the_agents_edits(project: FileHistoryFixture):
    write(project, a=A, b=B)
    start = project.checkpoint()
    with project.agent():
        write(project, a="agent\n" + A)
    rename(project, "a", "b", "a")
    project.revert(start)
    assert project.files() == {"a": B, "b": A}


@pytest.mark.parametrize("in_place", [True, False])
def test_a_backup_that_the_agent_made_is_not_a_rename(project: FileHistoryFixture, in_place: bool):
    write(project, a=A)
    start = project.checkpoint()
    with project.agent():
        if in_place:
            write(project, **{"a.bak": A})
        else:
            rename(project, "a", "a.bak")
        write(project, a=A.replace("a 1", "agent"))
    append(project, "a")
    project.revert(start)
    assert project.files() == {"a": A + "mine\n"}


def test_renames_that_a_private_view_reports_are_followed_if_the_files_changed(project: FileHistoryFixture):
    write(project, a="first\n" + HEADER, b="second\n" + HEADER)
    start = project.checkpoint()
    rename(project, "a", "b", "a")
    write(project, a="agent\nsecond\n" + HEADER, b="agent\nfirst\n" + HEADER)
    project.history.capture_paths(project.call(), ["a", "b"], renames={"a": "b", "b": "a"})
    append(project, "b")
    project.revert(start)
    assert project.files() == {"a": "first\n" + HEADER + "mine\n", "b": "second\n" + HEADER}


def test_a_binary_file_that_the_agent_renamed_and_changed_is_followed(project: FileHistoryFixture):
    content = bytes(range(256)) * 8
    write(project, a=content)
    start = project.checkpoint()
    with project.agent():
        rename(project, "a", "b")
        write(project, b=b"agent" + content[5:])
    agents = project.checkpoint()
    project.revert(start)
    assert (project.work / "a").read_bytes() == content
    project.revert(agents)
    write(project, b=b"agent" + content[5:-4] + b"mine")
    assert project.revert(start) == {"b": "conflict"}
    assert (project.work / "b").read_bytes() == b"agent" + content[5:-4] + b"mine"


def test_a_file_stays_where_it_is_if_its_old_name_was_taken_since_the_plan(project: FileHistoryFixture):
    write(project, a=A, b=B)
    start = project.checkpoint()
    with project.agent():
        rename(project, "a", "b")
    append(project, "b")
    plan = project.history.plan(start)
    write(project, a="yours\n")
    result, _ = project.history.execute(plan, {"a", "b"})
    assert {path for path, _ in result.failed} == {"a", "b"}
    assert project.files() == {"a": "yours\n", "b": A + "mine\n"}


def test_an_empty_file_takes_part_in_a_rotation(project: FileHistoryFixture):
    write(project, a="", b=B, c=C)
    start = project.checkpoint()
    with project.agent():
        rename(project, "a", "b", "c", "a")
    append(project, "a", "to c\n")
    append(project, "c", "to b\n")
    project.revert(start)
    assert project.files() == {"a": "", "b": B + "to b\n", "c": C + "to c\n"}


def test_a_folder_goes_back_to_a_name_at_which_the_agent_created_another_one(project: FileHistoryFixture):
    write(project, a=A, d__a=B, d__b=C)
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").unlink()
    with project.agent():
        (project.work / "d").rename(project.work / "a")
    with project.agent():
        (project.work / "d").mkdir()
        (project.work / "d" / "a").symlink_to("target")
    project.revert(start)
    assert project.files() == {"a": A, "d/a": B, "d/b": C}


def test_a_directory_that_left_with_its_parent_does_not_fail(project: FileHistoryFixture):
    write(project, d__a=A)
    start = project.checkpoint()
    (project.work / "b").symlink_to("target")
    with project.agent():
        write(project, d__e__f="agent\n")
    with project.agent():
        rename(project, "d", "b", "d")
    project.revert(start)
    assert project.files() == {"d/a": A}
    assert os.readlink(project.work / "b") == "target"  # noqa: PTH115


def test_a_file_whose_old_name_is_a_directory_now_is_followed(project: FileHistoryFixture):
    write(project, a=A, d__x=B)
    start = project.checkpoint()
    with project.running("mv a moved; mv d a"):
        rename(project, "d", "a", "moved")
    append(project, "moved")
    project.revert(start)
    assert project.files() == {"a": A + "mine\n", "d/x": B}


def test_a_file_that_also_has_its_old_name_again_keeps_only_that(project: FileHistoryFixture):
    write(project, a=A)
    start = project.checkpoint()
    with project.running("mv a moved"):
        rename(project, "a", "moved")
    with project.running("ln moved a"):
        (project.work / "a").hardlink_to(project.work / "moved")
    project.revert(start)
    assert project.files() == {"a": A}


@pytest.mark.parametrize("name", ["x", "other", "ignored.log"])
def test_a_file_stays_if_the_directory_at_its_old_name_has_to(project: FileHistoryFixture, name: str):
    write(project, a=A, d__x=B)
    (project.work / ".gitignore").write_text("*.log\n")
    start = project.checkpoint()
    with project.running("mv d temporary; mv a d; mv temporary a"):
        rename(project, "a", "d", "a")
    append(project, "d")
    plan = project.history.plan(start)
    (project.work / "a" / name).write_text("new\n")
    result, _ = project.history.execute(plan, {item.path for item in plan.items if item.is_selected})
    files = project.files()
    assert files["d"] == A + "mine\n"
    assert files[f"a/{name}"] == "new\n"
    assert {path for path, _ in result.failed} >= {"a", "d"}

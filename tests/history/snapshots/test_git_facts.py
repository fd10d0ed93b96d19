"""Facts about the Git repository in a plan: the revert never changes it."""

import shutil
import subprocess

import pytest

from tests.history.snapshots.file_history_fixture import FileHistoryFixture

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(project: FileHistoryFixture, *arguments: str) -> str:
    identity = ("-c", "user.name=you", "-c", "user.email=you@example.org", "-c", "commit.gpgsign=false")
    command = ["git", *identity, *arguments]
    result = subprocess.run(command, cwd=project.work, check=True, capture_output=True, text=True)
    return result.stdout.strip()


@pytest.fixture
def repository(project: FileHistoryFixture) -> FileHistoryFixture:
    git(project, "init", "-q", "-b", "main")
    (project.work / "file").write_text("one\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "start")
    return project


def commit(project: FileHistoryFixture, text: str) -> None:
    (project.work / "file").write_text(text)
    git(project, "commit", "-qam", text)


def run_facts(project: FileHistoryFixture, remarks: tuple[str, ...]) -> None:
    """Run the command in each remark."""
    for remark in remarks:
        git(project, *remark.rpartition("`")[0].rpartition("`")[2].split()[1:])


@pytest.mark.parametrize("packed", [False, True])
def test_a_branch_with_a_commit_is_a_fact_with_the_commands_that_restore_it(
    repository: FileHistoryFixture, packed: bool
) -> None:
    if packed:
        git(repository, "pack-refs", "--all")
    before = git(repository, "show-ref")
    start = repository.checkpoint()
    with repository.agent("git switch -c feature; git commit -am work"):
        git(repository, "switch", "-qc", "feature")
        commit(repository, "two\n")
    plan = repository.history.plan(start)
    assert plan.remarks == (
        "Git: HEAD main → feature, 1 commit; to restore: `git switch main`",
        "Git: branch feature was created; to delete it: `git branch -D feature`",
    )
    repository.revert(start)
    assert git(repository, "branch", "--show-current") == "feature"
    git(repository, "checkout", "--", ".")
    run_facts(repository, plan.remarks)
    assert git(repository, "show-ref") == before


def test_commits_on_the_same_branch_are_undone_without_changing_files(
    repository: FileHistoryFixture,
) -> None:
    first = git(repository, "rev-parse", "HEAD")
    start = repository.checkpoint()
    with repository.agent("git commit"):
        commit(repository, "two\n")
    with repository.agent("git commit"):
        commit(repository, "three\n")
    plan = repository.history.plan(start)
    assert plan.remarks == (f"Git: HEAD main, 2 commits; to restore: `git reset {first[:10]}`",)
    repository.revert(start)
    run_facts(repository, plan.remarks)
    assert git(repository, "status", "--porcelain") == ""


def test_stashes_and_deleted_branches_are_facts(repository: FileHistoryFixture) -> None:
    git(repository, "branch", "old")
    commit(repository, "two\n")
    (repository.work / "file").write_text("mine, not committed\n")
    before = git(repository, "show-ref")
    start = repository.checkpoint()
    with repository.agent("git stash; git branch -D old; git branch -f main"):
        git(repository, "stash")
        git(repository, "branch", "-D", "old")
    plan = repository.history.plan(start)
    assert [remark.partition(";")[0] for remark in plan.remarks] == [
        "Git: branch old was deleted",
        "Git: changes were stashed",
    ]
    run_facts(repository, plan.remarks)
    assert (repository.work / "file").read_text() == "mine, not committed\n"
    assert git(repository, "show-ref") == before


def test_a_deleted_repository_is_named_with_its_command(repository: FileHistoryFixture) -> None:
    start = repository.checkpoint()
    with repository.agent("rm -rf .git"):
        shutil.rmtree(repository.work / ".git")
    with repository.agent("ls"):
        pass
    assert repository.history.plan(start).remarks == (
        "Git: the repository was deleted by `rm -rf .git`. "
        "It isn't covered, so the revert doesn't restore it.",
    )


def test_a_new_repository_is_a_fact(project: FileHistoryFixture) -> None:
    start = project.checkpoint()
    with project.agent("git init"):
        git(project, "init", "-q")
    assert project.history.plan(start).remarks == (
        "Git: a repository was created by `git init`. The revert doesn't remove it.",
    )


def test_what_only_the_user_did_in_git_is_no_fact(repository: FileHistoryFixture) -> None:
    start = repository.checkpoint()
    git(repository, "switch", "-qc", "mine")
    with repository.agent("ls"):
        pass
    assert repository.history.plan(start).remarks == ()


def test_facts_begin_at_the_checkpoint_and_survive_a_restart(repository: FileHistoryFixture) -> None:
    repository.checkpoint()
    with repository.agent("git switch -c one"):
        git(repository, "switch", "-qc", "one")
    middle = repository.checkpoint()
    with repository.agent("git switch -c two"):
        git(repository, "switch", "-qc", "two")
    repository.history.close()
    reopened = FileHistoryFixture(repository.work.parent)
    reopened.history.open()
    assert reopened.history.plan(middle).remarks == (
        "Git: HEAD one → two; to restore: `git switch one`",
        "Git: branch two was created; to delete it: `git branch -D two`",
    )


def test_a_linked_worktree_is_read(repository: FileHistoryFixture) -> None:
    git(repository, "worktree", "add", "-q", "-b", "tree", str(repository.work.parent / "other" / "work"))
    project = FileHistoryFixture(repository.work.parent / "other")
    project.history.open()
    start = project.checkpoint()
    with project.agent("git switch -c more"):
        git(project, "switch", "-qc", "more")
    assert project.history.plan(start).remarks[0] == ("Git: HEAD tree → more; to restore: `git switch tree`")

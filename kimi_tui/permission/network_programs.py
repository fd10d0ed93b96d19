"""Commands that can't succeed without the network."""

from collections.abc import Mapping

from kimi_tui.permission.bash.command_line import BashCommandLine
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word

_PROGRAMS = frozenset(
    {
        "aria2c", "aws", "az", "dig", "dnf", "doctl", "flyctl", "ftp", "gcloud", "gh", "glab", "heroku",
        "host", "http", "https", "kubectl", "lftp", "ncat", "nslookup", "ping", "rclone", "scp", "sftp",
        "ssh", "telnet", "traceroute", "vercel", "wget", "whois", "xh",
    }
)  # fmt: skip
_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "apt": frozenset({"install", "update", "upgrade"}),
    "apt-get": frozenset({"install", "update", "upgrade"}),
    "brew": frozenset({"install", "update", "upgrade"}),
    "bun": frozenset({"add", "create", "install", "update"}),
    "bundle": frozenset({"install", "update"}),
    "bundler": frozenset({"install", "update"}),
    "cargo": frozenset({"add", "fetch", "install", "publish", "search", "update"}),
    "composer": frozenset({"create-project", "install", "require", "update"}),
    "gem": frozenset({"install", "push", "update"}),
    "go": frozenset({"get", "install"}),
    "helm": frozenset({"install", "pull", "repo", "upgrade"}),
    "npm": frozenset(
        {"add", "audit", "ci", "create", "i", "install", "outdated", "publish", "update", "view"}
    ),
    "pip": frozenset({"download", "index", "install"}),
    "pip3": frozenset({"download", "index", "install"}),
    "pnpm": frozenset({"add", "audit", "create", "dlx", "i", "install", "outdated", "publish", "update"}),
    "poetry": frozenset({"add", "install", "lock", "publish", "update"}),
    "rustup": frozenset({"install", "update"}),
    "terraform": frozenset({"apply", "destroy", "init", "plan"}),
    "uv": frozenset({"add", "lock", "pip", "publish", "sync", "tool"}),
    "yarn": frozenset({"add", "create", "install", "upgrade"}),
}
_GIT_SUBCOMMANDS = frozenset({"fetch", "ls-remote", "pull", "push"})


def find_network_program(line: BashCommandLine) -> str:
    """Return the command in `line` that needs the network, such as `npm install`; empty if none does."""
    for command in (*line.commands, *line.suspects):
        if name := _network_name(command):
            return name
    return ""


def _network_name(command: SimpleCommand) -> str:
    program, arguments = command.program, command.arguments
    words = [word.text for word in arguments]
    if program in _PROGRAMS:
        return program
    if program == "curl":
        return "" if any(_is_local_url(text) for text in words) else program
    if program == "git":
        subcommand = _git_subcommand(arguments)
        if subcommand in _GIT_SUBCOMMANDS or (subcommand == "clone" and any(map(_is_remote, words))):
            return f"git {subcommand}"
        return ""
    if program.startswith("python") and words[:2] == ["-m", "pip"]:
        program, words = "pip", words[2:]
    subcommand = next((text for text in words if not text.startswith("-")), "")
    return f"{program} {subcommand}" if subcommand in _SUBCOMMANDS.get(program, ()) else ""


def _git_subcommand(arguments: tuple[Word, ...]) -> str:
    skips = False
    for word in arguments:
        if skips:
            skips = False
        elif word.text in ("-C", "-c", "--git-dir", "--work-tree"):
            skips = True
        elif not word.text.startswith("-"):
            return word.text
    return ""


def _is_remote(text: str) -> bool:
    return "://" in text or ("@" in text and ":" in text)


def _is_local_url(text: str) -> bool:
    """Return whether `text` names a server that may run in the command's own network, or a file."""
    return text.partition("://")[2].startswith(("localhost", "127.", "[::1]")) or text.startswith(
        ("file:", "localhost", "127.")
    )

"""What `--help` says: the options that people use and the subcommands, on one screen."""

from collections.abc import Iterator
from dataclasses import fields

from kimi_tui.cli.command_line import CommandLine
from kimi_tui.language.saying import later, say

_OFTEN = (
    "prompt", "continue_last", "session", "model", "thinking", "agent", "work_dir", "plan", "yolo", "demo",
)  # fmt: skip
_SUBCOMMANDS = (
    ("login, logout", later("Store or remove a provider's key.")),
    ("sessions, checkpoints", later("Earlier conversations; going back in one.")),
    ("config, info", later("The settings; what runs here, for bug reports.")),
    ("agents, mcp", later("Agents to work with; MCP servers to lend them tools.")),
    ("acp, import", later("Serve an editor; bring over what Kimi CLI left.")),
    ("completion", later("Have the shell complete all this.")),
)
_COLUMN = 22


def short_help(program: str) -> str:
    """The help, without the line break at its end."""
    return "\n".join(_lines(program))


def acp_help(program: str) -> str:
    """The same of the server for editors."""
    return "\n".join(
        (
            f"{program} acp [OPTIONS]      {say('serve an editor, which starts it')}",
            "",
            f"  {say('Options such as --model, --agent, --yolo and --demo hold for every session.')}",
            f"  {say('The editor names folder and session: no --work-dir, --session or --continue.')}",
            f"  {say('--help-all lists the options; docs/acp.md has the settings of editors.')}",
        )
    )


def _lines(program: str) -> Iterator[str]:
    yield f"{program} [OPTIONS] [PROMPT]      {say('open the app, and send PROMPT')}"
    yield f"{program} SUBCOMMAND …            {say('see below; each has a --help')}"
    yield ""
    for item in fields(CommandLine):
        if item.name not in _OFTEN:
            continue
        told = item.metadata
        short = [it for it in told["spellings"] if not it.startswith("--")][-1:]
        value = f" {told['metavar']}" if told["metavar"] else ""
        long = told["spellings"][-1]
        name = f"{', '.join(short)}, {long}" if short else f"    {long}"
        yield _row(f"{name}{value}", say(told["help"]))
    yield _row("-V, --version", say("Say the version and end."))
    yield _row("    --help-all", say("Every option, by what it is for."))
    yield ""
    for names, help_text in _SUBCOMMANDS:
        yield _row(names, say(help_text))


def _row(name: str, help_text: str) -> str:
    return f"  {name.ljust(_COLUMN)}{help_text}" if len(name) < _COLUMN else f"  {name}  {help_text}"

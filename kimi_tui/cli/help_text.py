"""Text of `--help`: common options and subcommands on one screen."""

from collections.abc import Iterator
from dataclasses import fields

from kimi_tui.cli.options import CliOptions
from kimi_tui.i18n.translate import tr, tr_lazy

_COMMON_OPTIONS = (
    "prompt", "continue_last", "session", "model", "agent", "work_dir", "plan", "yolo", "demo",
)  # fmt: skip
_SUBCOMMANDS = (
    ("login, logout", tr_lazy("Store or remove an API key.")),
    ("attach, ps, serve, web", tr_lazy("Keep sessions running; open them in a browser.")),
    ("sessions, search, why", tr_lazy("Manage and search sessions; explain lines.")),
    ("checkpoints, attempts", tr_lazy("Revert to checkpoints; adopt attempts.")),
    ("config, permissions, trust", tr_lazy("Manage settings, rules and trusted projects.")),
    ("agents, mcp, fleet", tr_lazy("List agents; manage MCP servers; run many tasks.")),
    ("acp, import", tr_lazy("Serve an editor; import sessions of Kimi CLI.")),
    ("info, debug, completion", tr_lazy("Collect data for bug reports; complete commands.")),
)
_COLUMN = 22


def short_help(program: str) -> str:
    """Return the help text without a trailing newline."""
    return "\n".join(_help_lines(program))


def acp_help(program: str) -> str:
    """Return the help text of `kimi-tui acp`."""
    return "\n".join(
        (
            f"{program} acp [OPTIONS]      {tr('serve an editor over ACP')}",
            "",
            f"  {tr('Options such as --model, --agent, --yolo and --demo apply to every session.')}",
            f"  {tr('The editor sets directory and session: no --work-dir, --session, --continue.')}",
            f"  {tr('--help-all lists all options; docs/acp.md explains how to set up editors.')}",
        )
    )


def _help_lines(program: str) -> Iterator[str]:
    yield f"{program} [OPTIONS] [PROMPT]      {tr('open the app and send PROMPT')}"
    yield f"{program} SUBCOMMAND …            {tr('see below; each has --help')}"
    yield ""
    for item in fields(CliOptions):
        if item.name not in _COMMON_OPTIONS:
            continue
        metadata = item.metadata
        short = [flag for flag in metadata["spellings"] if not flag.startswith("--")][-1:]
        value = f" {metadata['metavar']}" if metadata["metavar"] else ""
        long = metadata["spellings"][-1]
        if item.type == bool | None:
            long = f"--[no-]{long[2:]}"
        name = f"{', '.join(short)}, {long}" if short else f"    {long}"
        yield _format_row(f"{name}{value}", tr(metadata["help"]))
    yield _format_row("-V, --version", tr("Show the version and exit."))
    yield _format_row("    --help-all", tr("Show all options and exit."))
    yield ""
    for names, help_text in _SUBCOMMANDS:
        yield _format_row(names, tr(help_text))


def _format_row(name: str, help_text: str) -> str:
    return f"  {name.ljust(_COLUMN)}{help_text}" if len(name) < _COLUMN else f"  {name}  {help_text}"

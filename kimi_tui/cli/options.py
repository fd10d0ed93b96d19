"""Command-line options: one field each, with flags, help text and default. Independent of the parser."""

from dataclasses import MISSING, Field, field, fields
from pathlib import Path
from typing import Any, Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.base.thinking_effort import ThinkingEffort

_FRONT_END = "Interface"
PRINT_PANEL = "Print mode"
_MODEL = "Model"
_AGENT = "Agent"
_LOCATION = "Directories"
_SESSION = "Session"
_PERMISSION = "Permissions"
_LIMITS = "Limits"
SETTINGS_PANEL = "Settings"


def option(
    *flags: str,
    panel: str,
    help: str,  # noqa: A002
    default: Any = None,
    metavar: str | None = None,
    least: float | None = None,
    value_optional: bool = False,
    aliases: tuple[str, ...] = (),
) -> Any:
    """Return a field for an option, or for the positional argument if it has no flags.

    `aliases` are accepted as well, but not listed: other programs use them.
    """
    metadata = {
        "spellings": flags,
        "panel": panel,
        "help": help,
        "metavar": metavar,
        "least": least,
        "value_optional": value_optional,
        "aliases": aliases,
    }
    if isinstance(default, list):
        return field(default_factory=list, metadata=metadata)
    return field(default=default, metadata=metadata)


@frozen(kw_only=True)
class CliOptions:
    """Parsed command line. None and False mean that an option wasn't given."""

    argument: str | None = option(
        panel=_FRONT_END,
        metavar="PROMPT",
        help="Prompt to send at startup, or to run with --print.",
    )
    prompt: str | None = option(
        "-p", "--prompt", panel=_FRONT_END, metavar="TEXT",
        help="Run TEXT in print mode; piped input is appended.", aliases=("--command",),
    )  # fmt: skip
    print: bool = option("--print", panel=_FRONT_END, default=False, help="Run without a screen, then exit.")
    inline: bool = option(
        "--inline", panel=_FRONT_END, default=False,
        help="Run in the normal screen and keep the scrollback.",
    )  # fmt: skip
    screen_reader: bool = option(
        "--screen-reader", panel=_FRONT_END, default=False,
        help="Print line by line for screen readers.",
    )  # fmt: skip
    wire: bool = option(
        "--wire",
        panel=_FRONT_END,
        default=False,
        help="Serve the Wire protocol on standard input and output.",
    )
    mode: Literal["tui", "print", "acp", "wire"] | None = option(
        "--mode", panel=_FRONT_END, help="Select the app, print mode, ACP or Wire."
    )
    daemon: bool = option(
        "-d", "--daemon", panel=PRINT_PANEL, default=False,
        help="Run one prompt per input line in one session.",
    )  # fmt: skip
    socket: Path | None = option(
        "--socket", panel=PRINT_PANEL, metavar="PATH",
        help="Listen on a socket at PATH instead of standard input.",
    )  # fmt: skip
    input: Path | None = option(
        "--input", panel=PRINT_PANEL, metavar="FILE", help="Read FILE instead of standard input."
    )
    input_format: Literal["text", "stream-json"] | None = option(
        "--input-format", panel=PRINT_PANEL, help="Read plain text, or one JSON message per line."
    )
    output_format: Literal["text", "json", "stream-json"] | None = option(
        "--output-format", panel=PRINT_PANEL, help="Print text, one JSON result, or streamed JSON lines."
    )
    final_message_only: bool = option(
        "--final-message-only",
        panel=PRINT_PANEL,
        default=False,
        help="Print only the last message of a turn.",
    )
    quiet: bool = option(
        "--quiet", panel=PRINT_PANEL, default=False, help="Same as --print --final-message-only."
    )
    output: Path | None = option(
        "-o", "--output", panel=PRINT_PANEL, metavar="FILE", help="Write to FILE instead of standard output."
    )
    output_schema: Path | None = option(
        "--output-schema", panel=PRINT_PANEL, metavar="FILE",
        help="Require JSON that matches the JSON schema in FILE.",
    )  # fmt: skip
    bundle: Path | None = option(
        "--bundle",
        panel=PRINT_PANEL,
        metavar="FILE",
        help="Save the session with its files to FILE at the end.",
    )
    goal: str | None = option(
        "--goal",
        panel=PRINT_PANEL,
        metavar="COMMAND",
        help="Work until COMMAND passes with the original tests. Limits go before COMMAND: --turns N "
        "(default 10), --time MINUTES (60), --cost USD (none).",
    )
    allow_denials: bool = option(
        "--allow-denials", panel=PRINT_PANEL, default=False, help="Exit with 0 even if a tool was denied."
    )
    model: str | None = option(
        "-m", "--model", panel=_MODEL, metavar="NAME", help="Use model NAME instead of the default."
    )
    thinking: bool | None = option("--thinking", panel=_MODEL, help="Turn thinking on or off.")
    thinking_level: ThinkingEffort | None = option(
        "--thinking-level", panel=_MODEL, help="Set how much the model thinks."
    )
    demo: bool = option(
        "--demo", panel=_MODEL, default=False, help="Use the offline demo model; needs no API key."
    )
    agent: str | None = option(
        "-a", "--agent", panel=_AGENT, metavar="NAME", help="Use agent NAME instead of the default."
    )
    agent_file: Path | None = option(
        "--agent-file", panel=_AGENT, metavar="FILE", help="Load a custom agent from FILE."
    )
    mcp_config: list[str] = option(
        "--mcp-config",
        panel=_AGENT,
        default=[],
        metavar="JSON",
        help="Add MCP servers from JSON; repeatable.",
    )
    mcp_config_file: list[Path] = option(
        "--mcp-config-file",
        panel=_AGENT,
        default=[],
        metavar="FILE",
        help="Read MCP servers only from FILE; repeatable.",
    )
    skills_dir: list[Path] = option(
        "--skills-dir", panel=_AGENT, default=[], metavar="DIR",
        help="Load skills only from DIR; repeatable.",
    )  # fmt: skip
    work_dir: Path | None = option(
        "-w", "--work-dir", panel=_LOCATION, metavar="DIR", help="Set the working directory."
    )
    add_dir: list[Path] = option(
        "--add-dir",
        panel=_LOCATION,
        default=[],
        metavar="DIR",
        help="Add another directory to work in; repeatable.",
    )
    continue_last: bool = option(
        "-c", "--continue", panel=_SESSION, default=False, help="Resume the last session of this directory.",
        aliases=("-C",),
    )  # fmt: skip
    session: str | None = option(
        "-S", "-r", "--session", "--resume", panel=_SESSION, metavar="ID", value_optional=True,
        help="Resume session ID, or choose from a list.",
    )  # fmt: skip
    read_only: bool = option(
        "--read-only", panel=_SESSION, default=False,
        help="Open the session read-only, even if it's in use.",
    )  # fmt: skip
    fork: bool = option(
        "--fork", panel=_SESSION, default=False, help="Fork the session instead of resuming it."
    )
    resident: bool | None = option(
        "--resident", panel=_SESSION,
        help="Keep the session running after the app exits.",
    )  # fmt: skip
    yolo: bool = option(
        "-y", "--yolo", panel=_PERMISSION, default=False,
        help="Approve everything that no ask or deny rule covers.", aliases=("--yes", "--auto-approve"),
    )  # fmt: skip
    afk: bool = option(
        "--afk", panel=_PERMISSION, default=False,
        help="Like --yolo, and dismiss the agent's questions.",
    )  # fmt: skip
    plan: bool | None = option("--plan", panel=_PERMISSION, help="Turn plan mode on or off.")
    allow: list[str] = option(
        "--allow", panel=_PERMISSION, default=[], metavar="RULE",
        help="Add an allow rule for this run; repeatable.",
    )  # fmt: skip
    deny: list[str] = option(
        "--deny", panel=_PERMISSION, default=[], metavar="RULE",
        help="Add a deny rule for this run; repeatable.",
    )  # fmt: skip
    sandbox: bool | None = option(
        "--sandbox",
        panel=_PERMISSION,
        help="Turn the sandbox for commands on or off.",
    )
    max_steps_per_turn: int | None = option(
        "--max-steps-per-turn", panel=_LIMITS, least=1, metavar="N", help="Limit model calls per turn."
    )
    max_retries_per_step: int | None = option(
        "--max-retries-per-step", panel=_LIMITS, least=1, metavar="N", help="Limit attempts per model call."
    )
    max_cost: float | None = option(
        "--max-cost", panel=_LIMITS, least=0, metavar="USD", help="Limit the cost of the session."
    )
    max_time: float | None = option(
        "--max-time", panel=_LIMITS, least=0, metavar="SECONDS", help="Limit the duration of a turn."
    )
    config: str | None = option(
        "--config", panel=SETTINGS_PANEL, metavar="TEXT", help="Override settings with TOML or JSON."
    )
    config_file: Path | None = option(
        "--config-file", panel=SETTINGS_PANEL, metavar="FILE", help="Read FILE instead of the config files."
    )
    log_level: Literal["debug", "info", "warning", "error"] | None = option(
        "--log-level", panel=SETTINGS_PANEL, help="Set the log level."
    )
    debug: bool = option(
        "--debug",
        panel=SETTINGS_PANEL,
        default=False,
        help="Log everything and show tracebacks.",
        aliases=("--verbose",),
    )
    version: bool = option(
        "-V", "--version", panel=SETTINGS_PANEL, default=False, help="Show the version and exit."
    )

    @property
    def thinking_effort(self) -> ThinkingEffort | None:
        """Requested thinking level, if any."""
        if self.thinking is None:
            return self.thinking_level
        return "high" if self.thinking else "off"

    @property
    def is_print_mode(self) -> bool:
        """Whether to run in print mode."""
        if self.mode is not None:
            return self.mode == "print"
        return self.print or self.quiet or self.daemon or self.prompt is not None

    @property
    def is_acp_mode(self) -> bool:
        """Whether to serve an editor over ACP."""
        return self.mode == "acp"

    @property
    def is_wire_mode(self) -> bool:
        """Whether to serve a client over the Wire protocol."""
        return self.wire or self.mode == "wire"

    @property
    def text(self) -> str:
        """Prompt, from the argument or from `--prompt`."""
        return self.argument or self.prompt or ""


def option_flag(name: str) -> str:
    """Return the option's longest flag, for use in messages."""
    item = next(item for item in fields(CliOptions) if item.name == name)
    return str(item.metadata["metavar"] if is_positional(item) else max(item.metadata["spellings"], key=len))


def is_positional(item: "Field[Any]") -> bool:
    """Return whether the field is the positional argument."""
    return not item.metadata["spellings"]


def is_given(cli_options: CliOptions, name: str) -> bool:
    """Return whether the option was given, such as `--no-thinking`."""
    item = next(each for each in fields(CliOptions) if each.name == name)
    return bool(getattr(cli_options, name) != default_of(item))


def default_of(item: "Field[Any]") -> Any:
    """Return a field's default."""
    return item.default_factory() if item.default_factory is not MISSING else item.default

"""The options, one field each: its spelling, its help and its default. Reading them needs no parser yet."""

from dataclasses import MISSING, Field, field, fields
from pathlib import Path
from typing import Any, Literal

from kimi_tui.base.value import value

_FRONT_END = "Front end"
PRINT_PANEL = "Print mode"
_MODEL = "Model"
_AGENT = "Agent"
_WHERE = "Where"
_SESSION = "Session"
_PERMISSION = "Permission"
_LIMITS = "Limits"
SETTINGS_PANEL = "Settings"


def option(
    *spellings: str,
    panel: str,
    help: str,  # noqa: A002
    default: Any = None,
    metavar: str | None = None,
    least: float | None = None,
    value_optional: bool = False,
) -> Any:
    """A field that is an option, or the positional argument when it has no spellings."""
    told = {
        "spellings": spellings,
        "panel": panel,
        "help": help,
        "metavar": metavar,
        "least": least,
        "value_optional": value_optional,
    }
    if isinstance(default, list):
        return field(default_factory=list, metadata=told)
    return field(default=default, metadata=told)


@value(kw_only=True)
class CommandLine:
    """What was typed. None and False stand for options that were not given."""

    argument: str | None = option(
        panel=_FRONT_END,
        metavar="PROMPT",
        help="What to do. The app opens and sends it; with --print it is the whole run.",
    )
    prompt: str | None = option(
        "-p", "--prompt", panel=_FRONT_END, metavar="TEXT",
        help="Run TEXT in print mode. What is piped in is added to it.",
    )  # fmt: skip
    print: bool = option("--print", panel=_FRONT_END, default=False, help="Run without the screen, and end.")
    inline: bool = option(
        "--inline", panel=_FRONT_END, default=False,
        help="Stay on the terminal's ordinary screen; what was said stays in its scrollback.",
    )  # fmt: skip
    screen_reader: bool = option(
        "--screen-reader", panel=_FRONT_END, default=False,
        help="Talk line by line: nothing is drawn, and every word comes once, in order.",
    )  # fmt: skip
    wire: bool = option(
        "--wire",
        panel=_FRONT_END,
        default=False,
        help="Serve a program that speaks the Wire on stdin and stdout.",
    )
    mode: Literal["tui", "print", "acp", "wire"] | None = option(
        "--mode", panel=_FRONT_END, help="The screen, print mode, an editor's agent, or the Wire."
    )
    daemon: bool = option(
        "-d", "--daemon", panel=PRINT_PANEL, default=False,
        help="Stay, and answer one prompt a line, each with its result, in one session.",
    )  # fmt: skip
    socket: Path | None = option(
        "--socket", panel=PRINT_PANEL, metavar="PATH",
        help="Answer whoever connects to a socket at PATH, in place of standard input.",
    )  # fmt: skip
    input: Path | None = option(
        "--input", panel=PRINT_PANEL, metavar="FILE", help="Read FILE in place of standard input."
    )
    input_format: Literal["text", "stream-json"] | None = option(
        "--input-format", panel=PRINT_PANEL, help="text, or a message a line, one turn each."
    )
    output_format: Literal["text", "json", "stream-json"] | None = option(
        "--output-format", panel=PRINT_PANEL, help="text, one JSON result, or JSON lines as they come."
    )
    final_message_only: bool = option(
        "--final-message-only", panel=PRINT_PANEL, default=False, help="Print only a turn's last message."
    )
    quiet: bool = option(
        "--quiet", panel=PRINT_PANEL, default=False, help="Short for --print --final-message-only."
    )
    output: Path | None = option(
        "-o", "--output", panel=PRINT_PANEL, metavar="FILE", help="Write to FILE in place of standard output."
    )
    output_schema: Path | None = option(
        "--output-schema", panel=PRINT_PANEL, metavar="FILE",
        help="The answer is JSON that fits the JSON schema in FILE.",
    )  # fmt: skip
    allow_denials: bool = option(
        "--allow-denials", panel=PRINT_PANEL, default=False, help="Exit with 0 though a tool was denied."
    )
    model: str | None = option(
        "-m", "--model", panel=_MODEL, metavar="NAME", help="A model of the config, instead of its default."
    )
    thinking: bool | None = option("--thinking", panel=_MODEL, help="Let the model think first, or not.")
    demo: bool = option(
        "--demo", panel=_MODEL, default=False, help="The offline demo model: no key, no network."
    )
    agent: str | None = option("-a", "--agent", panel=_AGENT, metavar="NAME", help="The agent to work with.")
    agent_file: Path | None = option(
        "--agent-file", panel=_AGENT, metavar="FILE", help="An agent of your own, described in FILE."
    )
    mcp_config: list[str] = option(
        "--mcp-config", panel=_AGENT, default=[], metavar="JSON", help="More MCP servers; repeatable."
    )
    mcp_config_file: list[Path] = option(
        "--mcp-config-file",
        panel=_AGENT,
        default=[],
        metavar="FILE",
        help="MCP servers, in place of the user's and the project's; repeatable.",
    )
    skills_dir: list[Path] = option(
        "--skills-dir", panel=_AGENT, default=[], metavar="DIR",
        help="Take skills from DIR instead of the usual folders; repeatable.",
    )  # fmt: skip
    work_dir: Path | None = option(
        "-w", "--work-dir", panel=_WHERE, metavar="DIR", help="Where to work, instead of here."
    )
    add_dir: list[Path] = option(
        "--add-dir", panel=_WHERE, default=[], metavar="DIR", help="Another folder to work in; repeatable."
    )
    continue_last: bool = option(
        "-c", "--continue", panel=_SESSION, default=False, help="Go on with the last session of this folder."
    )
    session: str | None = option(
        "-S", "-r", "--session", "--resume", panel=_SESSION, metavar="ID", value_optional=True,
        help="Go on with session ID; without one, choose from a list.",
    )  # fmt: skip
    read_only: bool = option(
        "--read-only", panel=_SESSION, default=False,
        help="Only read that session, or this folder's last one, also while another process has it open.",
    )  # fmt: skip
    fork: bool = option("--fork", panel=_SESSION, default=False, help="Go on in a copy of that session.")
    yolo: bool = option(
        "-y", "--yolo", panel=_PERMISSION, default=False, help="Approve everything that no rule denies."
    )
    plan: bool | None = option(
        "--plan", panel=_PERMISSION, help="Only read until a plan is approved, or not."
    )
    sandbox: bool | None = option(
        "--sandbox",
        panel=_PERMISSION,
        help="Run commands in a sandbox: no network, only the work dir to write.",
    )
    max_steps_per_turn: int | None = option(
        "--max-steps-per-turn", panel=_LIMITS, least=1, metavar="N", help="Model calls in one turn."
    )
    max_retries_per_step: int | None = option(
        "--max-retries-per-step", panel=_LIMITS, least=1, metavar="N", help="Attempts at one model call."
    )
    max_cost: float | None = option(
        "--max-cost", panel=_LIMITS, least=0, metavar="USD", help="What the session may cost."
    )
    max_time: float | None = option(
        "--max-time", panel=_LIMITS, least=0, metavar="SECONDS", help="How long one turn may take."
    )
    config: str | None = option(
        "--config", panel=SETTINGS_PANEL, metavar="TEXT", help="Settings as TOML or JSON, over all others."
    )
    config_file: Path | None = option(
        "--config-file", panel=SETTINGS_PANEL, metavar="FILE", help="Read FILE in place of the config files."
    )
    log_level: Literal["debug", "info", "warning", "error"] | None = option(
        "--log-level", panel=SETTINGS_PANEL, help="How much the log tells."
    )
    debug: bool = option(
        "--debug",
        panel=SETTINGS_PANEL,
        default=False,
        help="Log everything, and show where an error came from.",
    )
    version: bool = option(
        "-V", "--version", panel=SETTINGS_PANEL, default=False, help="Say the version and end."
    )

    @property
    def is_print_mode(self) -> bool:
        """Whether the run is without a screen."""
        if self.mode is not None:
            return self.mode == "print"
        return self.print or self.quiet or self.daemon or self.prompt is not None

    @property
    def is_acp_mode(self) -> bool:
        """Whether an editor is served."""
        return self.mode == "acp"

    @property
    def is_wire_mode(self) -> bool:
        """Whether a program is served."""
        return self.wire or self.mode == "wire"

    @property
    def text(self) -> str:
        """The prompt, however it was given."""
        return self.argument or self.prompt or ""


def spelled(name: str) -> str:
    """How an option is written in messages: its longest spelling."""
    item = next(item for item in fields(CommandLine) if item.name == name)
    return str(item.metadata["metavar"] if is_positional(item) else max(item.metadata["spellings"], key=len))


def is_positional(item: "Field[Any]") -> bool:
    """Whether the field is the positional argument."""
    return not item.metadata["spellings"]


def given(line: CommandLine, name: str) -> bool:
    """Whether the option was typed."""
    value = getattr(line, name)
    return value is not None and value is not False and value != []


def default_of(item: "Field[Any]") -> Any:
    """A field's default."""
    return item.default_factory() if item.default_factory is not MISSING else item.default

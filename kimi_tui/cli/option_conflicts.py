"""Checks for options that can't be combined."""

from dataclasses import fields

from kimi_tui.agentspec.spec import KIMI_CLI_AGENT
from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.cli.options import PRINT_PANEL, CliOptions, is_given, option_flag

_EXCLUSIVE = (
    ("argument", "prompt", "Give the prompt only once."),
    ("demo", "model", "--demo uses its own model. Remove one of them."),
    ("thinking", "thinking_level", "Both set the thinking. Remove one of them."),
    ("continue_last", "session", "Both select the session. Remove one of them."),
    ("inline", "screen_reader", "--screen-reader is always inline. Remove one of them."),
    ("agent", "agent_file", "Both select the agent. Remove one of them."),
    ("read_only", "resident", "A read-only session runs nothing. Remove one of them."),
    ("read_only", "fork", "A fork can't be read-only. Remove one of them."),
)
_DISPLAY_OPTIONS = ("screen_reader", "inline", "read_only", "resident")
_PRINT_ONLY = tuple(item.name for item in fields(CliOptions) if item.metadata["panel"] == PRINT_PANEL)


def check_conflicts(cli_options: CliOptions) -> None:
    """Check that the options can be combined. Raises UsageError, naming both options, if they can't."""
    for one, other, hint in _EXCLUSIVE:
        if one == "agent" and cli_options.is_wire_mode and cli_options.agent == KIMI_CLI_AGENT:
            continue  # it selects the output for clients of Kimi CLI, too
        if one == "read_only" and cli_options.resident is False and other == "resident":
            continue  # --no-resident
        if is_given(cli_options, one) and is_given(cli_options, other):
            raise _conflict_error(one, other, hint)
    if cli_options.fork and not (cli_options.continue_last or cli_options.session is not None):
        raise UsageError("--fork needs a session.", hint="Add --continue or --session ID.")
    if cli_options.is_acp_mode or cli_options.is_wire_mode or cli_options.is_print_mode:
        _check_no_display_options(cli_options)
    if cli_options.is_acp_mode:
        _check_acp_mode(cli_options)
    elif cli_options.is_wire_mode:
        _check_wire_mode(cli_options)
    elif cli_options.is_print_mode:
        _check_print_mode(cli_options)
    else:
        _check_screen(cli_options)


def _check_print_mode(cli_options: CliOptions) -> None:
    if cli_options.goal is not None:
        _check_goal(cli_options)
    if cli_options.daemon:
        _check_daemon(cli_options)
    elif cli_options.socket is not None:
        raise UsageError("--socket requires --daemon.", hint="Add --daemon, or remove --socket.")
    if cli_options.quiet and cli_options.output_format not in (None, "text"):
        raise _conflict_error("quiet", "output_format", "--quiet prints text. Remove one of them.")
    if cli_options.final_message_only and cli_options.output_format == "json":
        hint = "JSON output already contains only the final message."
        raise _conflict_error("final_message_only", "output_format", hint)
    if cli_options.input_format == "stream-json" and cli_options.text:
        name = "argument" if cli_options.argument else "prompt"
        raise _conflict_error("input_format", name, "With stream-json, the input messages are the prompts.")
    _check_session_id(cli_options, mode=msg("print mode"))


def _check_goal(cli_options: CliOptions) -> None:
    if cli_options.daemon:
        raise _conflict_error("goal", "daemon", "Send the daemon /goal COMMAND instead.")
    if cli_options.input_format == "stream-json":
        raise _conflict_error("goal", "input_format", "A goal accepts only one prompt. Remove the others.")
    if not (cli_options.goal or "").strip() or "\n\n" in (cli_options.goal or ""):
        raise UsageError("--goal needs a command.", hint='For example, --goal "pytest -q".')


def _check_daemon(cli_options: CliOptions) -> None:
    for name in ("argument", "prompt"):
        if is_given(cli_options, name):
            raise _conflict_error(
                "daemon", name, "A daemon reads prompts from its input, one per line. Remove one of them."
            )
    if cli_options.output is not None:
        hint = "An output file is complete only at the end. Use `> FILE` instead."
        raise _conflict_error("daemon", "output", hint)
    if cli_options.socket is None:
        return
    if cli_options.input is not None:
        raise _conflict_error("socket", "input", "Both set where prompts come from. Remove one of them.")
    if cli_options.quiet or cli_options.output_format == "text":
        hint = "A socket sends results as json or stream-json. Remove one of them."
        raise _conflict_error("socket", "quiet" if cli_options.quiet else "output_format", hint)


def _check_no_display_options(cli_options: CliOptions) -> None:
    mode = next(
        name for name in ("mode", "wire", "print", "quiet", "daemon", "prompt") if is_given(cli_options, name)
    )
    for name in _DISPLAY_OPTIONS:
        if is_given(cli_options, name) and getattr(cli_options, name) is not False:
            raise _conflict_error(
                name, mode, "The first one needs an interactive terminal. Remove one of them."
            )


def _check_acp_mode(cli_options: CliOptions) -> None:
    for name in ("argument", "prompt", "print", "wire", *_PRINT_ONLY):
        if is_given(cli_options, name):
            raise _conflict_error(
                name, "mode", "In ACP mode, the editor sends the prompts. Remove one of them."
            )
    for name in ("work_dir", "continue_last", "session"):
        if is_given(cli_options, name):
            hint = "In ACP mode, the editor sets directory and session. Remove one of them."
            raise _conflict_error(name, "mode", hint)


def _check_wire_mode(cli_options: CliOptions) -> None:
    mode_option = "wire" if cli_options.wire else "mode"
    if cli_options.wire and cli_options.mode not in (None, "wire"):
        raise _conflict_error("wire", "mode", "They select different modes. Remove one of them.")
    for name in ("argument", "prompt", "print", *_PRINT_ONLY):
        if is_given(cli_options, name):
            raise _conflict_error(
                name, mode_option, "In Wire mode, the client sends the prompts. Remove one of them."
            )
    _check_session_id(cli_options, mode=msg("wire mode"))


def _check_session_id(cli_options: CliOptions, *, mode: str) -> None:
    if cli_options.session == "":
        hint = "Run `kimi-tui sessions list` for a list."
        raise UsageError(msg("--session needs an ID in {mode}.", mode=mode), hint=hint)


def _check_screen(cli_options: CliOptions) -> None:
    if cli_options.read_only and cli_options.argument:
        hint = "A read-only session accepts no prompts. Remove one of them."
        raise _conflict_error("read_only", "argument", hint)
    if cli_options.print:
        raise _conflict_error("print", "mode", "They select different modes. Remove one of them.")
    for name in _PRINT_ONLY:
        if not is_given(cli_options, name):
            continue
        if cli_options.mode is not None:
            raise _conflict_error(name, "mode", "The first one requires print mode. Remove one of them.")
        raise UsageError(
            msg("{option} requires --print.", option=option_flag(name)),
            hint="Add --print, or remove the option.",
        )


def _conflict_error(one: str, other: str, hint: str) -> UsageError:
    return UsageError(
        msg("Can't combine {option} with {other}.", option=option_flag(one), other=option_flag(other)),
        hint=hint,
    )

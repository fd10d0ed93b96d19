"""Options that make no sense together."""

from dataclasses import fields

from kimi_tui.base.errors import UsageError
from kimi_tui.cli.command_line import PRINT_PANEL, CommandLine, given, spelled

_EXCLUSIVE = (
    ("argument", "prompt", "Both are the prompt; give it once."),
    ("demo", "model", "The demo is a model of its own; leave one of them out."),
    ("continue_last", "session", "Both name the session; leave one of them out."),
    ("inline", "screen_reader", "Without a screen it is inline anyway; leave one of them out."),
    ("agent", "agent_file", "Both name the agent; leave one of them out."),
    ("read_only", "fork", "A copy is yours to write; leave one of them out."),
)
_LOOKS = ("screen_reader", "inline", "read_only")
_PRINT_ONLY = tuple(item.name for item in fields(CommandLine) if item.metadata["panel"] == PRINT_PANEL)


def check_combination(line: CommandLine) -> None:
    """Raises UsageError, which names both, for options that make no sense together."""
    for one, other, hint in _EXCLUSIVE:
        if given(line, one) and given(line, other):
            raise _senseless(one, other, hint)
    if line.fork and not (line.continue_last or line.session is not None):
        raise UsageError(
            "--fork needs to know which session to copy.", hint="Add --continue or --session ID."
        )
    if line.is_acp_mode or line.is_wire_mode or line.is_print_mode:
        _check_no_look(line)
    if line.is_acp_mode:
        _check_acp_mode(line)
    elif line.is_wire_mode:
        _check_wire_mode(line)
    elif line.is_print_mode:
        _check_print_mode(line)
    else:
        _check_screen(line)


def _check_print_mode(line: CommandLine) -> None:
    if line.daemon:
        _check_daemon(line)
    elif line.socket is not None:
        raise UsageError("--socket goes with --daemon only.", hint="Add --daemon, or leave it out.")
    if line.quiet and line.output_format not in (None, "text"):
        raise _senseless("quiet", "output_format", "--quiet prints text; leave one of them out.")
    if line.final_message_only and line.output_format == "json":
        hint = "json holds the final message only by itself."
        raise _senseless("final_message_only", "output_format", hint)
    if line.input_format == "stream-json" and line.text:
        name = "argument" if line.argument else "prompt"
        raise _senseless("input_format", name, "With stream-json, the messages are the prompts.")
    _check_session_id(line, mode="print mode")


def _check_daemon(line: CommandLine) -> None:
    for name in ("argument", "prompt"):
        if given(line, name):
            raise _senseless(
                "daemon", name, "A daemon is given its prompts line by line; leave one of them out."
            )
    if line.output is not None:
        hint = "An output file is there whole at the end; write `> FILE` in its place."
        raise _senseless("daemon", "output", hint)
    if line.socket is None:
        return
    if line.input is not None:
        raise _senseless("socket", "input", "Both say where prompts come from; leave one of them out.")
    if line.quiet or line.output_format == "text":
        hint = "On a socket, each prompt is answered with a result, in json or stream-json."
        raise _senseless("socket", "quiet" if line.quiet else "output_format", hint)


def _check_no_look(line: CommandLine) -> None:
    mode = next(name for name in ("mode", "wire", "print", "quiet", "daemon", "prompt") if given(line, name))
    for name in _LOOKS:
        if given(line, name):
            raise _senseless(name, mode, "The first is for who sits at the terminal; leave one of them out.")


def _check_acp_mode(line: CommandLine) -> None:
    for name in ("argument", "prompt", "print", "wire", *_PRINT_ONLY):
        if given(line, name):
            raise _senseless(name, "mode", "An editor's agent is told by the editor; leave one of them out.")
    for name in ("work_dir", "continue_last", "session"):
        if given(line, name):
            hint = "The editor says which folder and which session; leave one of them out."
            raise _senseless(name, "mode", hint)


def _check_wire_mode(line: CommandLine) -> None:
    front = "wire" if line.wire else "mode"
    if line.wire and line.mode not in (None, "wire"):
        raise _senseless("wire", "mode", "They contradict each other; leave one of them out.")
    for name in ("argument", "prompt", "print", *_PRINT_ONLY):
        if given(line, name):
            raise _senseless(name, front, "On the Wire, the program says what to do; leave one of them out.")
    _check_session_id(line, mode="wire mode")


def _check_session_id(line: CommandLine, *, mode: str) -> None:
    if line.session == "":
        hint = "`kimi-tui sessions list` shows those that there are."
        raise UsageError(f"--session needs an ID in {mode}.", hint=hint)


def _check_screen(line: CommandLine) -> None:
    if line.read_only and line.argument:
        hint = "Nothing can be said in a session that is only read; leave one of them out."
        raise _senseless("read_only", "argument", hint)
    if line.print:
        raise _senseless("print", "mode", "They contradict each other; leave one of them out.")
    for name in _PRINT_ONLY:
        if not given(line, name):
            continue
        if line.mode is not None:
            raise _senseless(name, "mode", "The first is for print mode; leave one of them out.")
        raise UsageError(f"{spelled(name)} goes with --print only.", hint="Add --print, or leave it out.")


def _senseless(one: str, other: str, hint: str) -> UsageError:
    return UsageError(f"{spelled(one)} and {spelled(other)} make no sense together.", hint=hint)

"""Write `docs/kimi-tui.1`, the manual page, from the definitions of options and subcommands.

With `--check`, only check that the page is up to date.
"""

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from kimi_tui.cli.option_catalog import options, subcommands
from kimi_tui.version import __version__

PAGE = Path(__file__).parents[1] / "docs" / "kimi-tui.1"
_EXITS = (
    ("0", "Success."),
    ("1", "Invalid configuration, permanent provider error or internal error."),
    ("2", "Usage error."),
    ("3", "Step, cost or time limit reached."),
    ("4", "A tool call was denied."),
    ("75", "Temporary error: rate limit, server error, timeout or no connection."),
    ("130, 143", "Interrupted or terminated by a signal."),
)
_FILES = (
    ("~/.kimi-tui/config.toml", "Your settings. KIMI_SHARE_DIR changes the directory."),
    ("~/.kimi-tui/mcp.json", "Your MCP servers."),
    ("~/.kimi-tui/tui-sessions/", "Sessions."),
    ("~/.kimi-tui/logs/kimi-tui.log", "Log file."),
    (".kimi-tui/config.toml", "Settings of a project."),
)


def page() -> str:
    """Return the page in the format of man(7)."""
    return "\n".join(_page_lines()) + "\n"


def _page_lines() -> Iterator[str]:
    yield f'.TH KIMI-TUI 1 "" "kimi-tui {__version__}" "User Commands"'
    yield ".SH NAME\nkimi-tui \\- a full-screen coding agent for the terminal"
    yield ".SH SYNOPSIS\n.B kimi-tui\n[\\fIOPTIONS\\fR] [\\fIPROMPT\\fR]\n.br"
    yield ".B kimi-tui\n\\fISUBCOMMAND\\fR ..."
    yield ".SH DESCRIPTION\nOpens the app and sends PROMPT, if given."
    yield "With \\fB\\-p\\fR, runs the prompt and prints the response."
    yield ".SH OPTIONS"
    for panel, group in groupby(options(), key=lambda option: option.panel):
        yield f".SS {_escape(panel)}"
        for option in group:
            value = f" \\fI{_escape(option.metavar)}\\fR" if option.value_kind != "nothing" else ""
            names = ", ".join(f"\\fB{_escape(name)}\\fR" for name in option.flags)
            yield f".TP\n{names}{value}"
            yield _escape(option.help)
    yield ".SH SUBCOMMANDS"
    for sub in subcommands():
        yield f".TP\n\\fB{_escape(sub.name)}\\fR\n{_escape(sub.help)}"
        for name, help_text in sub.subcommands:
            yield f".TP\n\\fB{_escape(f'{sub.name} {name}')}\\fR\n{_escape(help_text)}"
    yield ".SH EXIT STATUS"
    for code, meaning in _EXITS:
        yield f".TP\n.B {code}\n{_escape(meaning)}"
    yield ".SH FILES"
    for path, meaning in _FILES:
        yield f".TP\n.I {_escape(path)}\n{_escape(meaning)}"


def _escape(text: str) -> str:
    """Return text with roff's special characters escaped."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def main(arguments: list[str]) -> int:
    """Write or check the page. Return the exit code."""
    if arguments == ["--check"]:
        if not PAGE.exists() or PAGE.read_text("utf-8") != page():
            sys.stderr.write("docs/kimi-tui.1 is out of date. Run scripts/man_page.py.\n")
            return 1
        return 0
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Writes `docs/kimi-tui.1`, the manual page, from the options and subcommands themselves.

With `--check` it writes nothing, and fails when the page is not current.
"""

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from kimi_tui import __version__
from kimi_tui.cli.vocabulary import options, subcommands

PAGE = Path(__file__).parents[1] / "docs" / "kimi-tui.1"
_EXITS = (
    ("0", "done"),
    ("1", "configuration, permanent error of the provider, internal error"),
    ("2", "usage"),
    ("3", "stopped by a limit: steps, cost, time"),
    ("4", "a tool was denied"),
    ("75", "for the moment: rate limit, failing server, time-out, no connection"),
    ("130, 143", "interrupted, terminated"),
)
_FILES = (
    ("~/.kimi-tui/config.toml", "the settings; KIMI_SHARE_DIR moves the folder"),
    ("~/.kimi-tui/mcp.json", "MCP servers"),
    ("~/.kimi-tui/sessions/", "conversations"),
    ("~/.kimi-tui/logs/kimi-tui.log", "the log"),
    (".kimi-tui/config.toml", "settings of a project"),
)


def page() -> str:
    """The page, in the language of man(7)."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH KIMI-TUI 1 "" "kimi-tui {__version__}" "User Commands"'
    yield ".SH NAME\nkimi-tui \\- a full-screen terminal coding agent with safe time travel"
    yield ".SH SYNOPSIS\n.B kimi-tui\n[\\fIOPTIONS\\fR] [\\fIPROMPT\\fR]\n.br"
    yield ".B kimi-tui\n\\fISUBCOMMAND\\fR ..."
    yield ".SH DESCRIPTION\nOpens the app, and sends PROMPT when there is one."
    yield "With \\fB\\-p\\fR it works without a screen."
    yield ".SH OPTIONS"
    for panel, group in groupby(options(), key=lambda option: option.panel):
        yield f".SS {_text(panel)}"
        for option in group:
            value = f" \\fI{_text(option.metavar)}\\fR" if option.takes != "nothing" else ""
            names = ", ".join(f"\\fB{_text(name)}\\fR" for name in option.spellings)
            yield f".TP\n{names}{value}"
            yield _text(option.help)
    yield ".SH SUBCOMMANDS"
    for sub in subcommands():
        yield f".TP\n\\fB{_text(sub.name)}\\fR\n{_text(sub.help)}"
        for name, help_text in sub.below:
            yield f".TP\n\\fB{_text(f'{sub.name} {name}')}\\fR\n{_text(help_text)}"
    yield ".SH EXIT STATUS"
    for code, meaning in _EXITS:
        yield f".TP\n.B {code}\n{_text(meaning)}"
    yield ".SH FILES"
    for path, meaning in _FILES:
        yield f".TP\n.I {_text(path)}\n{_text(meaning)}"


def _text(text: str) -> str:
    """Text as roff takes it literally."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    if arguments == ["--check"]:
        if not PAGE.exists() or PAGE.read_text("utf-8") != page():
            sys.stderr.write("docs/kimi-tui.1 is not current. Run scripts/man_page.py.\n")
            return 1
        return 0
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Commands for the user's shell, and whether they need the terminal."""

import re

from kimi_tui.base.frozen import frozen
from kimi_tui.frontend.prompt_mode import PromptMode

_FULL_SCREEN_PROGRAMS = """
btop crontab emacs fzf gdb htop joe k9s lazygit less man mc micro more most mutt nano ncdu
nmtui nvim passwd pico pudb ranger screen ssh su sudo tig tmux top vi view vim vimdiff visudo
watch
"""
_INTERACTIVE_PROGRAMS = """
bash bc bpython fish ftp gdb ghci ipython irb julia lua mysql node octave php psql ptpython
python python3 redis-cli sftp sh sqlite3 telnet zsh
"""
"""Programs that are interactive when they are called without arguments."""
_GIT = re.compile(
    r"git\s+(?:-\S+\s+)*(?:commit\b(?!.*\s(?:-\w*[mFC]|--message|--no-edit|--file))"
    r"|rebase\s.*(?:-i\b|--interactive)|add\s.*(?:-p\b|-i\b|--patch|--interactive)|mergetool\b|difftool\b)"
)
"""Git commands that open an editor or ask questions."""
_WORD = re.compile(r"(?:\w+=\S*\s+)*(\S+)(.*)\Z", re.DOTALL)


@frozen
class ShellLine:
    """A command for the user's shell."""

    command: str
    on_terminal: bool
    """Whether the command runs on the terminal. Otherwise, its output is shown in the conversation."""

    @property
    def history_entry(self) -> str:
        """The entry in the input history, with a prefix that makes it a shell command in any prompt mode."""
        return f"{'!!' if self.on_terminal and not needs_terminal(self.command) else '!'}{self.command}"


def parse_shell_line(text: str, mode: PromptMode) -> ShellLine | None:
    """Return `text` as a command for the shell, or None if it is for the agent.

    In shell mode every line is a command. In agent mode, commands start with `!`. With `!!`, they run on the
    terminal.
    """
    if text.startswith("!!"):
        command, on_terminal = text[2:].strip(), True
    elif text.startswith("!") or mode == "shell":
        command = text.removeprefix("!").strip()
        on_terminal = needs_terminal(command)
    else:
        return None
    return ShellLine(command, on_terminal) if command else None


def needs_terminal(command: str) -> bool:
    """Return whether `command` is known to be a full-screen or interactive program."""
    last = re.split(r"&&|\|\||;|\||\n", command)[-1].strip()
    if command.rstrip().endswith("&") or re.search(r"(?<![12&])>", last):
        return False
    match = _WORD.match(last)
    if match is None:
        return False
    program, rest = match[1].rpartition("/")[2], match[2].strip()
    if program == "git":
        return _GIT.match(last[match.start(1) :]) is not None
    return program in _FULL_SCREEN_PROGRAMS.split() or (program in _INTERACTIVE_PROGRAMS.split() and not rest)

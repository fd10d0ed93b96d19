"""What the user types for their own shell, and whether it needs the terminal to itself."""

import re

from kimi_tui.base.value import value
from kimi_tui.tui.prompt.mode import PromptMode

_ALWAYS = """
btop crontab emacs fzf gdb htop joe k9s lazygit less man mc micro more most mutt nano ncdu
nmtui nvim passwd pico pudb ranger screen ssh su sudo tig tmux top vi view vim vimdiff visudo
watch
"""
_ALONE = """
bash bc bpython fish ftp gdb ghci ipython irb julia lua mysql node octave php psql ptpython
python python3 redis-cli sftp sh sqlite3 telnet zsh
"""
"""Programs that talk with the user when they are given nothing to do."""
_GIT = re.compile(
    r"git\s+(?:-\S+\s+)*(?:commit\b(?!.*\s(?:-\w*[mFC]|--message|--no-edit|--file))"
    r"|rebase\s.*(?:-i\b|--interactive)|add\s.*(?:-p\b|-i\b|--patch|--interactive)|mergetool\b|difftool\b)"
)
"""What opens an editor or asks."""
_WORD = re.compile(r"(?:\w+=\S*\s+)*(\S+)(.*)\Z", re.DOTALL)


@value
class ShellLine:
    """A command for the user's shell."""

    command: str
    on_terminal: bool
    """Whether it gets the terminal instead of having its output shown in the conversation."""

    @property
    def remembered(self) -> str:
        """How it stands in the history: typed so, it does the same in any mode."""
        return f"{'!!' if self.on_terminal and not needs_terminal(self.command) else '!'}{self.command}"


def shell_line(text: str, mode: PromptMode) -> ShellLine | None:
    """`text` as a command for the shell; None when it is for the agent.

    Everything is in shell mode, else what begins with `!`; `!!` gives it the terminal.
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
    """Whether `command` is known to draw on a screen or to ask its user."""
    last = re.split(r"&&|\|\||;|\||\n", command)[-1].strip()
    if command.rstrip().endswith("&") or re.search(r"(?<![12&])>", last):
        return False
    found = _WORD.match(last)
    if found is None:
        return False
    program, rest = found[1].rpartition("/")[2], found[2].strip()
    if program == "git":
        return _GIT.match(last[found.start(1) :]) is not None
    return program in _ALWAYS.split() or (program in _ALONE.split() and not rest)

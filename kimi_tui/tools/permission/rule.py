"""A rule: what may, must not or must be asked to happen, in one line of text.

=====================================  ==============================================================
`Bash(pytest *)`, `Bash(git diff *)`   these words, then any further ones
`Bash(make test)`                      exactly this command
`Bash(=ls *)`                          exactly this command, though it looks like the first form
`Bash(*)`                              every command; no rule that allows
`Edit(src/**)`, `Edit(./a.py)`         changing files of the work dir: a pattern as in `.gitignore`
`Edit(/abs/**)`, `Edit(~/notes/*)`     changing files anywhere
`Read(.env)`                           reading these files; patterns as above
`MCP(server:tool)`, `MCP(server:*)`    calling an MCP server's tools
`Tool(name)`                           calling a tool that a program brings through the Python API
=====================================  ==============================================================
"""

import re
import shlex
from collections.abc import Iterable
from typing import Literal

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.value import value
from kimi_tui.tools.permission.cursor import Unreadable
from kimi_tui.tools.permission.part import Part
from kimi_tui.tools.permission.path_pattern import problem_of
from kimi_tui.tools.permission.script import Script

SAMPLING = "sampling/createMessage"
"""In `MCP(server:...)`: that the server asks the model. No tool, so `MCP(server:*)` doesn't mean it."""
_FORM = re.compile(r"(Bash|Edit|Read|MCP|Tool)\((.*)\)", re.DOTALL)
_TOOL = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FORMS = "Write it like Bash(pytest *), Edit(src/**), Read(.env) or MCP(server:tool)."


@value
class CommandPrefix:
    """Commands that begin with these words."""

    words: tuple[str, ...]
    assignments: tuple[tuple[str, str], ...] = ()
    """Variables that are set for the command, names and values."""

    def __str__(self) -> str:
        if not self.words:
            return "Bash(*)"
        return f"Bash({_shell_text(self.assignments, self.words)} *)"


@value
class ExactCommand:
    """One command, to the letter."""

    command: str

    def __str__(self) -> str:
        looks_different = self.command.startswith("=") or self.command.endswith(("*", ":*"))
        return f"Bash({'=' if looks_different else ''}{self.command})"


@value
class PathRule:
    """Files, by a pattern."""

    access: Literal["Edit", "Read"]
    pattern: str

    def __str__(self) -> str:
        return f"{self.access}({self.pattern})"


@value
class McpRule:
    """An MCP server's tool; `*` for all of them."""

    server: str
    tool: str

    def __str__(self) -> str:
        return f"MCP({self.server}:{self.tool})"


@value
class ToolRule:
    """A tool that a program brought along."""

    tool: str

    def __str__(self) -> str:
        return f"Tool({self.tool})"


Rule = CommandPrefix | ExactCommand | PathRule | McpRule | ToolRule


def parse_rule(text: str) -> Rule:
    """The rule that `text` states; `str` gives the text back. Raises ConfigError."""
    match = _FORM.fullmatch(text.strip())
    if match is None or not match[2].strip():
        raise ConfigError(f"“{text}” is no permission rule.", hint=_FORMS)
    kind, inner = match.groups()
    match kind:
        case "Bash":
            return _command_rule(text, inner)
        case "Tool":
            return _tool_rule(text, inner)
        case "MCP":
            server, _, tool = inner.rpartition(":")
            if not server or not tool or "*" in server or ("*" in tool and tool != "*"):
                raise ConfigError(
                    f"“{text}” names no MCP tool.", hint="Write MCP(server:tool), or MCP(server:*) for all."
                )
            return McpRule(server, tool)
        case _:
            if problem := problem_of(inner):
                raise ConfigError(f"“{text}” has no usable pattern: {problem[0]}.", hint=problem[1])
            return PathRule("Edit" if kind == "Edit" else "Read", inner)


def exact_text(part: Part) -> str:
    """A command line that means `part`, whose words are all literal, its redirections aside."""
    assignments = [(each.name, each.value.text) for each in part.assignments]
    return _shell_text(assignments, [word.text for word in part.words])


def _tool_rule(text: str, inner: str) -> ToolRule:
    if _TOOL.fullmatch(inner) is None:
        raise ConfigError(f"“{text}” names no tool.", hint="Write one tool's name, as in Tool(send_mail).")
    return ToolRule(inner)


def _command_rule(text: str, inner: str) -> Rule:
    if inner.strip() == "*":
        return CommandPrefix(())
    if inner.startswith("="):
        return ExactCommand(inner[1:])
    if inner.endswith(" *"):
        return _command_prefix(text, inner.removesuffix(" *"))
    if inner.endswith("*"):
        words = inner.rstrip(":*")
        raise ConfigError(
            f"“{text}” could mean two things.",
            hint=f"Write Bash({words} *) for {words} with any words after it, Bash(={inner}) for this.",
        )
    return ExactCommand(inner)


def _command_prefix(text: str, inner: str) -> CommandPrefix:
    script = Script(inner)
    try:
        script.read()
    except Unreadable as reason:
        raise ConfigError(
            f"“{text}” can't be read: {reason}.", hint="Put plain words before the *, as in Bash(git diff *)."
        ) from reason
    match script.parts:
        case [Part(words, assignments, redirections=())] if (
            words
            and all(word.is_literal for word in words)
            and all(each.value.is_literal and not each.appends for each in assignments)
        ):
            values = tuple((each.name, each.value.text) for each in assignments)
            return CommandPrefix(tuple(word.text for word in words), values)
        case _:
            raise ConfigError(
                f"“{text}” is more than one plain command.",
                hint="Write one rule for each command: a line is allowed when each of its commands is.",
            )


def _shell_text(assignments: Iterable[tuple[str, str]], words: Iterable[str]) -> str:
    values = (f"{name}={shlex.quote(value)}" for name, value in assignments)
    return " ".join((*values, *map(shlex.quote, words)))

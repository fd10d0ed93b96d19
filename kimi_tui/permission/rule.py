"""A permission rule and its one-line text form.

=====================================  ==============================================================
`Bash(pytest *)`, `Bash(git diff *)`   commands that begin with these words
`Bash(make test)`                      exactly this command
`Bash(=ls *)`                          exactly this command, although it looks like the first form
`Bash(*)`                              every command; not valid as an allow rule
`Edit(src/**)`, `Edit(./a.py)`         edits in the working directory: a pattern as in `.gitignore`
`Edit(/abs/**)`, `Edit(~/notes/*)`     edits anywhere
`Read(.env)`                           reads of these files; patterns as above
`MCP(server:tool)`, `MCP(server:*)`    calls of an MCP server's tools
`Tool(name)`                           calls of a tool registered through the Python API
`Web(docs.python.org)`                 pages of this domain
`Web(*.python.org)`, `Web(*)`          pages of its subdomains; every page, and web searches
=====================================  ==============================================================
"""

import re
import shlex
from collections.abc import Iterable
from typing import Literal

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.permission.bash.cursor import UnparsableCommand
from kimi_tui.permission.bash.parser import BashParser
from kimi_tui.permission.bash.simple_command import SimpleCommand
from kimi_tui.permission.path_pattern import find_pattern_problem
from kimi_tui.permission.web_domain import normalize_domain

SAMPLING = "sampling/createMessage"
"""The tool name in `MCP(server:...)` for a server's sampling requests. `MCP(server:*)` doesn't match it."""
_RULE = re.compile(r"(Bash|Edit|Read|MCP|Tool|Web)\((.*)\)", re.DOTALL)
_SEPARATOR = " and "
_BETWEEN_RULES = re.compile(r"(?<=\)) and (?=(?:Bash|Edit|Read|MCP|Tool|Web)\()")
_DOMAIN = re.compile(r"\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|[0-9a-f:]+:[0-9a-f:.]*")
_TOOL = re.compile(r"[A-Za-z0-9_-]{1,64}")
_RULE_HINT = (
    "Write it like Bash(pytest *), Edit(src/**), Read(.env), Web(docs.python.org) or MCP(server:tool)."
)


@frozen
class CommandPrefix:
    """Matches commands that begin with these words."""

    words: tuple[str, ...]
    assignments: tuple[tuple[str, str], ...] = ()
    """Names and values of the variables set for the command."""

    def __str__(self) -> str:
        if not self.words:
            return "Bash(*)"
        return f"Bash({_format_shell(self.assignments, self.words)} *)"


@frozen
class ExactCommand:
    """Matches one exact command."""

    command: str

    def __str__(self) -> str:
        is_ambiguous = self.command.startswith("=") or self.command.endswith(("*", ":*"))
        return f"Bash({'=' if is_ambiguous else ''}{self.command})"


@frozen
class PathRule:
    """Matches files by a pattern."""

    access: Literal["Edit", "Read"]
    pattern: str

    def __str__(self) -> str:
        return f"{self.access}({self.pattern})"


@frozen
class McpRule:
    """Matches a tool of an MCP server; `*` stands for all its tools."""

    server: str
    tool: str

    def __str__(self) -> str:
        return f"MCP({self.server}:{self.tool})"


@frozen
class ToolRule:
    """Matches a tool registered through the Python API."""

    tool: str

    def __str__(self) -> str:
        return f"Tool({self.tool})"


@frozen
class WebRule:
    """Matches pages of a domain; `*` stands for all, and for web searches."""

    domain: str

    def __str__(self) -> str:
        return f"Web({self.domain})"


Rule = CommandPrefix | ExactCommand | PathRule | McpRule | ToolRule | WebRule


def parse_rule(text: str) -> Rule:
    """Parse a rule; `str` is the inverse. Raises ConfigError."""
    match = _RULE.fullmatch(text.strip())
    if match is None or not match[2].strip():
        raise ConfigError(msg("“{rule}” isn't a permission rule.", rule=text), hint=_RULE_HINT)
    kind, inner = match.groups()
    match kind:
        case "Bash":
            return _parse_command_rule(text, inner)
        case "Tool":
            return _parse_tool_rule(text, inner)
        case "Web":
            return _parse_web_rule(text, inner)
        case "MCP":
            server, _, tool = inner.rpartition(":")
            if not server or not tool or "*" in server or ("*" in tool and tool != "*"):
                raise ConfigError(
                    msg("“{rule}” doesn't name an MCP tool.", rule=text),
                    hint="Write MCP(server:tool), or MCP(server:*) for all tools of a server.",
                )
            return McpRule(server, tool)
        case _:
            if problem := find_pattern_problem(inner):
                raise ConfigError(
                    msg("“{rule}” has an invalid pattern: {problem}.", rule=text, problem=problem[0]),
                    hint=problem[1],
                )
            return PathRule("Edit" if kind == "Edit" else "Read", inner)


def format_rules(rules: Iterable[Rule]) -> str:
    """Return rules as one line; `parse_rules` is the inverse."""
    return _SEPARATOR.join(map(str, rules))


def parse_rules(text: str, *, max_rules: int) -> tuple[Rule, ...]:
    """Parse rules joined by "and". Raises ConfigError, also for more than `max_rules`.

    With `max_rules` of 1, the text is one rule, whatever it contains.
    """
    parts = [text] if max_rules == 1 else _BETWEEN_RULES.split(text.strip())
    if len(parts) > max_rules:
        raise ConfigError(
            msg("“{rule}” contains more rules than were proposed.", rule=text),
            hint="Add further rules in the config file: `kimi-tui config edit`.",
        )
    return tuple(parse_rule(part) for part in parts)


def format_exact(command: SimpleCommand) -> str:
    """Return a command line equivalent to `command`, without redirections. All its words must be literal."""
    assignments = [(each.name, each.value.text) for each in command.assignments]
    return _format_shell(assignments, [word.text for word in command.words])


def _parse_tool_rule(text: str, inner: str) -> ToolRule:
    if _TOOL.fullmatch(inner) is None:
        raise ConfigError(
            msg("“{rule}” doesn't name a tool.", rule=text),
            hint="Write one tool's name, as in Tool(send_mail).",
        )
    return ToolRule(inner)


def _parse_web_rule(text: str, inner: str) -> WebRule:
    domain = normalize_domain(inner.strip())
    if _DOMAIN.fullmatch(domain) is None:
        raise ConfigError(
            msg("“{rule}” doesn't name a domain.", rule=text),
            hint="Write Web(docs.python.org), Web(*.python.org) for its subdomains, or Web(*).",
        )
    return WebRule(domain)


def _parse_command_rule(text: str, inner: str) -> Rule:
    if inner.strip() == "*":
        return CommandPrefix(())
    if inner.startswith("="):
        return ExactCommand(inner[1:])
    if inner.endswith(" *"):
        return _parse_command_prefix(text, inner.removesuffix(" *"))
    if inner.endswith("*"):
        words = inner.rstrip(":*")
        raise ConfigError(
            msg("“{rule}” is ambiguous.", rule=text),
            hint=msg(
                "Write Bash({words} *) to match {words} with any arguments, or Bash(={command}) to "
                "match exactly this text.",
                words=words,
                command=inner,
            ),
        )
    return ExactCommand(inner)


def _parse_command_prefix(text: str, inner: str) -> CommandPrefix:
    parser = BashParser(inner)
    try:
        parser.parse()
    except UnparsableCommand as reason:
        raise ConfigError(
            msg("“{rule}” can't be parsed: {reason}.", rule=text, reason=reason),
            hint="Put plain words before the *, as in Bash(git diff *).",
        ) from reason
    match parser.commands:
        case [SimpleCommand(words, assignments, redirections=())] if (
            words
            and all(word.is_literal for word in words)
            and all(each.value.is_literal and not each.appends for each in assignments)
        ):
            values = tuple((each.name, each.value.text) for each in assignments)
            return CommandPrefix(tuple(word.text for word in words), values)
        case _:
            raise ConfigError(
                msg("“{rule}” isn't a single plain command.", rule=text),
                hint="Write one rule for each command. A command line is allowed if each of its commands is.",
            )


def _format_shell(assignments: Iterable[tuple[str, str]], words: Iterable[str]) -> str:
    values = (f"{name}={shlex.quote(value)}" for name, value in assignments)
    return " ".join((*values, *map(shlex.quote, words)))

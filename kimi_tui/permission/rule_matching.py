"""Matching of rules against commands: strict for allow rules, lenient for ask and deny rules."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from kimi_tui.base.secret_paths import is_private
from kimi_tui.permission.bash.command_line import BashCommandLine, parse_command
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word, literal_word
from kimi_tui.permission.known_programs import executes_stdin, runs_nothing_else
from kimi_tui.permission.path_pattern import is_exact, matches_path
from kimi_tui.permission.rule import CommandPrefix, ExactCommand, McpRule, PathRule, Rule, ToolRule, WebRule
from kimi_tui.permission.subject import (
    CommandSubject,
    McpSubject,
    PathSubject,
    SearchSubject,
    Subject,
    ToolSubject,
    WebSubject,
)
from kimi_tui.permission.touched_files import Match, match_touched_files
from kimi_tui.permission.web_domain import find_domains, matches_domain
from kimi_tui.permission.writable_roots import WritableRoots, protected_reason

_RECURSIVE_PROGRAMS = frozenset({"chmod", "chown", "cp", "grep", "rm", "srm"})
"""Programs for which `-R` and `-r` mean the same, or where it's safer to assume so."""
_SHORT_OPTIONS = {"--recursive": "-r", "--force": "-f"}


def names_command(rule: CommandPrefix | ExactCommand, simple_command: SimpleCommand) -> bool:
    """Return whether `rule` names what `simple_command` runs; arguments after its own aren't checked."""
    match rule:
        case CommandPrefix(words, assignments):
            prefix = tuple(literal_word(word) for word in words)
            special = simple_command.special_assignments
            return (
                simple_command.words[: len(prefix)] == prefix
                and not any(each.appends for each in special)
                and [(each.name, each.value) for each in special]
                == [(name, literal_word(value)) for name, value in assignments]
            )
        case ExactCommand(command):
            expected = _parse_single_command(command)
            return (
                expected is not None
                and runs_nothing_else(simple_command)
                and simple_command.words == expected.words
                and simple_command.assignments == expected.assignments
            )


def mentions(rule: Rule, subject: Subject, writable_roots: WritableRoots) -> Match:
    """Return whether `rule` applies to `subject`; "maybe" if that depends on what happens at run time."""
    match rule, subject:
        case ((CommandPrefix() | ExactCommand()), CommandSubject(line)):
            return _mentions_command(rule, line)
        case PathRule(), CommandSubject(line):
            return match_touched_files(rule, line, writable_roots)
        case PathRule(access, pattern), PathSubject(path, writes):
            applies = writes == (access == "Edit") and matches_path(
                pattern, path, writable_roots.work_dir, ignoring_case=True
            )
            return "yes" if applies else "no"
        case McpRule(server, tool), McpSubject():
            return "yes" if server == subject.server and tool in ("*", subject.tool) else "no"
        case ToolRule(), ToolSubject():
            return "yes" if rule.tool == subject.tool else "no"
        case ToolRule("FetchURL"), WebSubject():
            return "yes"
        case ToolRule("SearchWeb"), SearchSubject():
            return "yes"
        case WebRule(), WebSubject(domain):
            return "yes" if _mentions_domain(rule, domain) else "no"
        case WebRule("*"), SearchSubject():
            return "yes"
        case WebRule(), CommandSubject(line):
            return "yes" if any(_mentions_domain(rule, each) for each in find_domains(line.text)) else "no"
        case _:
            return "no"


def allows_path(
    rules: Iterable[Rule], path: Path, access: Literal["Edit", "Read"], writable_roots: WritableRoots
) -> bool:
    """Return whether one of `rules` covers `path` (absolute, links resolved).

    A protected file needs a rule that names it. Outside the roots, `**` doesn't cover files with secrets.
    """
    matches = is_exact if access == "Edit" and protected_reason(path) else matches_path
    is_secret_elsewhere = access == "Read" and is_private(path) and not writable_roots.contains(path)
    return any(
        isinstance(rule, PathRule)
        and rule.access == access
        and not (is_secret_elsewhere and rule.pattern.endswith("*"))
        and matches(rule.pattern, path, writable_roots.work_dir)
        for rule in rules
    )


def allows_web(rules: Iterable[Rule], subject: WebSubject | SearchSubject) -> bool:
    """Return whether one of `rules` covers a request to a web server or a web search."""
    match subject:
        case WebSubject(domain):
            return any(
                (isinstance(rule, WebRule) and matches_domain(rule.domain, domain))
                or rule == ToolRule("FetchURL")
                for rule in rules
            )
        case SearchSubject():
            return any(rule in (WebRule("*"), ToolRule("SearchWeb")) for rule in rules)


def _mentions_domain(rule: WebRule, domain: str) -> bool:
    """Return whether a deny or ask rule applies to `domain`: a rule for a domain includes its subdomains."""
    return matches_domain(rule.domain, domain) or domain.endswith(f".{rule.domain}")


def _mentions_command(rule: CommandPrefix | ExactCommand, line: BashCommandLine) -> Match:
    """Return whether `rule` applies to anything that `line` may run."""
    candidates = (*line.commands, *line.suspects)
    runs_input = any(each.reads_pipe and executes_stdin(each) for each in candidates)
    matches: set[Match] = {"maybe"} if line.unparsable_reason or runs_input else set()
    match rule:
        case CommandPrefix(()):
            return "yes"
        case CommandPrefix(words):
            matches |= {_compare_prefix(candidate, words) for candidate in candidates}
        case ExactCommand(text) if text.strip() == line.text.strip():
            return "yes"
        case ExactCommand(text) if (expected := _parse_single_command(text)) is not None:
            matches |= {_compare_exact(candidate, expected) for candidate in candidates}
    return "yes" if "yes" in matches else "maybe" if "maybe" in matches else "no"


@lru_cache(maxsize=512)
def _parse_single_command(command: str) -> SimpleCommand | None:
    """Return `command` as a simple command with only literal words; None if it is anything else."""
    match parse_command(command).commands:
        case [parsed] if (
            parsed.words
            and all(word.is_literal for word in parsed.words)
            and all(each.value.is_literal for each in parsed.assignments)
        ):
            return parsed
        case _:
            return None


def _compare_exact(command: SimpleCommand, expected: SimpleCommand) -> Match:
    if (
        command.words
        and _same_program(command.program, expected.program)
        and command.arguments == expected.arguments
    ):
        return "yes"
    return "no" if all(word.is_literal for word in command.words) else "maybe"


def _compare_prefix(command: SimpleCommand, words: Sequence[str]) -> Match:
    """Return whether `command` begins with `words`, wherever its options are and however they are written."""
    if not command.words:
        return "no"
    if command.head is None:
        return "maybe"
    if not _same_program(command.program, words[0]):
        return "no"
    operands = [word for word in words[1:] if not word.startswith("-")]
    options = [word for word in words[1:] if word.startswith("-")]
    result = _compare_operands(command.arguments, operands)
    if result == "yes" and not all(_has_option(command, option) for option in options):
        return "no" if all(word.is_literal for word in command.arguments) else "maybe"
    return result


def _compare_operands(arguments: Sequence[Word], operands: Sequence[str]) -> Match:
    """Return whether the arguments begin with `operands`, ignoring options and their values."""
    remaining = list(operands)
    may_be_value = False
    for word in arguments:
        if not remaining:
            break
        if not word.is_literal:
            return "maybe"
        if word.text == remaining[0]:
            remaining.pop(0)
        elif word.text.startswith("-"):
            may_be_value = "=" not in word.text
            continue
        elif not may_be_value:
            return "no"
        may_be_value = False
    return "no" if remaining else "yes"


def _has_option(command: SimpleCommand, option: str) -> bool:
    texts = [_SHORT_OPTIONS.get(word.prefix, word.prefix) for word in command.arguments]
    if command.program in _RECURSIVE_PROGRAMS and not option.startswith("--"):
        texts = [text if text.startswith("--") else text.replace("R", "r") for text in texts]
        option = option.replace("R", "r")
    if option.startswith("--"):
        return any(text.partition("=")[0] == option.partition("=")[0] for text in texts)
    letters = {letter for text in texts if re.match(r"-[A-Za-z]", text) for letter in text[1:]}
    return set(option[1:]) <= letters or option in texts


def _same_program(one: str, other: str) -> bool:
    return one.casefold() == other.rpartition("/")[2].casefold()

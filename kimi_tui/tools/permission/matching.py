"""Whether a rule means a command: strictly for what is allowed, liberally for what is forbidden."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from kimi_tui.tools.approval import CommandSubject, McpSubject, PathSubject, Subject, ToolSubject
from kimi_tui.tools.permission.command_line import CommandLine, parse_command
from kimi_tui.tools.permission.part import Part, Word, literal
from kimi_tui.tools.permission.path_pattern import matches
from kimi_tui.tools.permission.places import Places, is_harmless_device
from kimi_tui.tools.permission.programs import continues_freely, stands_alone
from kimi_tui.tools.permission.rule import CommandPrefix, ExactCommand, McpRule, PathRule, Rule, ToolRule
from kimi_tui.tools.permission.writes import written_words

Likelihood = Literal["yes", "maybe", "no"]

_SHORT_OPTIONS = {"--recursive": "-r", "--force": "-f"}


def allows(rule: CommandPrefix | ExactCommand, part: Part) -> bool:
    """Whether `rule` covers exactly what `part` runs, its redirections aside."""
    match rule:
        case CommandPrefix(words, assignments):
            wanted = tuple(literal(word) for word in words)
            special = part.special_assignments
            return (
                part.words[: len(wanted)] == wanted
                and not any(each.appends for each in special)
                and [(each.name, each.value) for each in special]
                == [(name, literal(value)) for name, value in assignments]
                and continues_freely(part, len(wanted))
            )
        case ExactCommand(command):
            named = _single_part(command)
            return (
                named is not None
                and stands_alone(part)
                and (part.words, part.assignments) == (named.words, named.assignments)
            )


def speaks_of(rule: Rule, subject: Subject, places: Places) -> Likelihood:
    """Whether `rule` means `subject`; maybe when that shows only while it runs."""
    match rule, subject:
        case ((CommandPrefix() | ExactCommand()), CommandSubject(command)):
            return _means(rule, parse_command(command))
        case PathRule(), CommandSubject(command):
            return _touches(rule, parse_command(command), places)
        case PathRule(access, pattern), PathSubject(path, writes):
            speaks = writes == (access == "Edit") and matches(
                pattern, path, places.work_dir, ignoring_case=True
            )
            return "yes" if speaks else "no"
        case McpRule(server, tool), McpSubject():
            return "yes" if server == subject.server and tool in ("*", subject.tool) else "no"
        case ToolRule(), ToolSubject():
            return "yes" if rule.tool == subject.tool else "no"
        case _:
            return "no"


def _means(rule: CommandPrefix | ExactCommand, line: CommandLine) -> Likelihood:
    """Whether `rule` means anything that `line` may run."""
    parts = (*line.parts, *line.suspects)
    answers: set[Likelihood] = {"maybe"} if line.unreadable else set()
    match rule:
        case CommandPrefix(()):
            return "yes"
        case CommandPrefix(words):
            answers |= {_begins(part, words) for part in parts}
        case ExactCommand(command) if command.strip() == line.text.strip():
            return "yes"
        case ExactCommand(command) if (named := _single_part(command)) is not None:
            answers |= {_equals(part, named) for part in parts}
    return "yes" if "yes" in answers else "maybe" if "maybe" in answers else "no"


def _single_part(command: str) -> Part | None:
    """The one simple command that `command` is, all of it literal; None when it is more than that."""
    match parse_command(command).parts:
        case [part] if (
            part.words
            and all(word.is_literal for word in part.words)
            and all(each.value.is_literal for each in part.assignments)
        ):
            return part
        case _:
            return None


def _equals(part: Part, named: Part) -> Likelihood:
    if part.words and _same_program(part.program, named.program) and part.arguments == named.arguments:
        return "yes"
    return "no" if all(word.is_literal for word in part.words) else "maybe"


def _begins(part: Part, words: Sequence[str]) -> Likelihood:
    """Whether `part` begins with `words`, wherever its options stand and however they are written."""
    if not part.words:
        return "no"
    if part.head is None:
        return "maybe"
    if not _same_program(part.program, words[0]):
        return "no"
    operands = [word for word in words[1:] if not word.startswith("-")]
    options = [word for word in words[1:] if word.startswith("-")]
    found = _begin_with(part.arguments, operands)
    if found == "yes" and not all(_has_option(part.arguments, option) for option in options):
        return "no" if all(word.is_literal for word in part.arguments) else "maybe"
    return found


def _begin_with(arguments: Sequence[Word], operands: Sequence[str]) -> Likelihood:
    """Whether `operands` lead the arguments, options and their values aside."""
    wanted = list(operands)
    may_be_value = False
    for word in arguments:
        if not wanted:
            break
        if not word.is_literal:
            return "maybe"
        if word.text == wanted[0]:
            wanted.pop(0)
        elif word.text.startswith("-"):
            may_be_value = "=" not in word.text
            continue
        elif not may_be_value:
            return "no"
        may_be_value = False
    return "no" if wanted else "yes"


def _has_option(arguments: Sequence[Word], option: str) -> bool:
    texts = [_SHORT_OPTIONS.get(word.lead, word.lead) for word in arguments]
    if option.startswith("--"):
        return any(text.partition("=")[0] == option.partition("=")[0] for text in texts)
    letters = {letter for text in texts if re.match(r"-[A-Za-z]", text) for letter in text[1:]}
    return set(option[1:]) <= letters or option in texts


def _same_program(one: str, other: str) -> bool:
    return one.casefold() == other.rpartition("/")[2].casefold()


def _touches(rule: PathRule, line: CommandLine, places: Places) -> Likelihood:
    """Whether a command writes, or for a Read rule names, a file that `rule` means."""
    folders = places.folders_of(line.parts)
    answer: Likelihood = "no"
    for part in (*line.parts, *line.suspects):
        for word in _written(part) if rule.access == "Edit" else _named(part):
            targets = places.targets(word, folders) if word.is_literal else None
            if any(
                matches(rule.pattern, path, places.work_dir, ignoring_case=True) for path in targets or ()
            ):
                return "yes"
            if targets is None and rule.access == "Edit":
                answer = "maybe"
    return answer


def _written(part: Part) -> Iterable[Word]:
    yield from written_words(part)
    yield from (
        each.target for each in part.redirections if each.writes and not is_harmless_device(each.target)
    )


def _named(part: Part) -> Iterable[Word]:
    yield from (word for word in part.arguments if word.is_literal)
    yield from (each.target for each in part.redirections if each.reads)

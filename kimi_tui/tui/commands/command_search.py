"""Search for commands: ranks them by how well they match a query and by how often they are used."""

from collections.abc import Callable, Iterable, Sequence

from kimi_tui.base.frozen import frozen
from kimi_tui.frontend.command_usage import CommandUsage
from kimi_tui.frontend.text.command_topics import COMMAND_SYNONYMS, COMMAND_TOPICS, CUSTOM_TOPIC, topic_of
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.ui_command import UiCommand
from kimi_tui.tui.widgets import fuzzy

_MAX_RECENT = 5
_MAX_USAGE_BONUS = 5.0
"""Lower than the score of a match at the start of a name, so that usage only orders similar matches."""
_SYNONYM_PENALTY = 2.0
_SUMMARY_SCORE = -50.0
_MIN_SUMMARY_QUERY = 3
"""Minimum length of an English query that also searches summaries. Shorter queries match too many."""


@frozen
class FoundCommand:
    """A command that matches a query."""

    command: UiCommand
    positions: tuple[int, ...] = ()
    """The matched characters of its name."""


@frozen
class CommandGroup:
    """Commands under a common heading."""

    title: str
    commands: tuple[UiCommand, ...]


class CommandSearch:
    """Finds and groups commands."""

    def __init__(self, usage: CommandUsage, *, wall_clock: Callable[[], float]) -> None:
        self._usage = usage
        self._wall_clock = wall_clock

    def search(self, commands: Iterable[UiCommand], query: str) -> list[FoundCommand]:
        """Return the commands whose name, alias, synonym or summary matches `query`, best first."""
        now = self._wall_clock()
        ranked: list[tuple[float, FoundCommand]] = []
        for command in commands:
            by_name = fuzzy.match(query, command.name)
            score = _match_score(command, query, by_name)
            if score is not None:
                positions = by_name.positions if by_name is not None else ()
                ranked.append((score + self._bonus(command, now), FoundCommand(command, positions)))
        ranked.sort(key=lambda pair: -pair[0])
        return [found for _, found in ranked]

    def group(self, commands: Sequence[UiCommand]) -> list[CommandGroup]:
        """Return the most used commands as a group, then all commands by topic."""
        now = self._wall_clock()
        used = sorted(commands, key=lambda it: -self._usage.score(it.name, now))[:_MAX_RECENT]
        recent = tuple(it for it in used if self._usage.score(it.name, now) > 0)
        groups = [CommandGroup(tr("Recently used"), recent)]
        for topic in (*COMMAND_TOPICS, CUSTOM_TOPIC):
            order = {name: index for index, name in enumerate(topic.commands)}
            members = [it for it in commands if topic_of(it.name) is topic and it not in recent]
            members.sort(key=lambda it: (order.get(it.name, len(order)), it.name))
            groups.append(CommandGroup(tr(topic.title), tuple(members)))
        return [group for group in groups if group.commands]

    def _bonus(self, command: UiCommand, now: float) -> float:
        score = self._usage.score(command.name, now)
        return _MAX_USAGE_BONUS * score / (score + 1.0)


def _match_score(command: UiCommand, query: str, by_name: fuzzy.Match | None) -> float | None:
    """Return the score of a command. None if the command doesn't match."""
    names = [match.score for it in command.aliases if (match := fuzzy.match(query, it)) is not None]
    if by_name is not None:
        names.append(by_name.score)
    synonyms = [_substring_score(query, it) for it in COMMAND_SYNONYMS.get(command.name, ())]
    scores = [*names, *(score - _SYNONYM_PENALTY for score in synonyms if score is not None)]
    if scores:
        return max(scores)
    searches_summary = len(query) >= _MIN_SUMMARY_QUERY or not query.isascii()
    is_in_summary = searches_summary and query.lower() in command.translated_summary.lower()
    return _SUMMARY_SCORE if is_in_summary else None


def _substring_score(query: str, synonym: str) -> float | None:
    """Return the score of a synonym. None if it doesn't contain the query: names alone match fuzzily."""
    return match.score if query.lower() in synonym and (match := fuzzy.match(query, synonym)) else None

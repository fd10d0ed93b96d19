"""Order of the commands in the palette and the prompt's menu."""

from pathlib import Path

import pytest

from kimi_tui.frontend.command_usage import CommandUsage
from kimi_tui.frontend.text.command_topics import COMMAND_SYNONYMS, COMMAND_TOPICS, CUSTOM_TOPIC, topic_of
from kimi_tui.tui.commands.command_search import CommandSearch
from kimi_tui.tui.commands.screen_commands import SCREEN_COMMANDS
from kimi_tui.tui.keys.tables import SCREEN_KEYS, Key

NOW = 1_700_000_000.0


@pytest.fixture
def usage(tmp_path: Path) -> CommandUsage:
    return CommandUsage(tmp_path)


def found(usage: CommandUsage, query: str) -> list[str]:
    search = CommandSearch(usage, wall_clock=lambda: NOW)
    return [it.command.name for it in search.search(SCREEN_COMMANDS, query)]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("rewind", "revert"),
        ("quit", "exit"),
        ("shortcut", "keys"),
        ("resume", "sessions"),
        ("preferences", "settings"),
        ("reasoning", "thinking"),
        ("jobs", "tasks"),
        ("screenshot", "image"),
        ("mdl", "model"),
        ("scrollback", "print"),
    ],
)
def test_a_word_of_other_programs_finds_the_command(usage: CommandUsage, typed: str, expected: str) -> None:
    assert found(usage, typed)[0] == expected


def test_the_start_of_a_name_comes_before_synonyms_and_summaries(usage: CommandUsage) -> None:
    names = found(usage, "sess")
    assert names[0] == "sessions"
    assert "new" in found(usage, "session")


@pytest.mark.parametrize(
    "key", [it for it in SCREEN_KEYS if it.action.startswith("command(")], ids=lambda it: it.id
)
def test_menus_show_the_key_of_a_command(key: Key) -> None:
    name = key.action.removeprefix("command('").removesuffix("')").split()[0]
    commands = {it.name: it for it in SCREEN_COMMANDS}
    same_command = [it.id for it in SCREEN_KEYS if it.action.startswith(f"command('{name}")]
    assert commands[name].binding_id in same_command


def test_nonsense_finds_nothing(usage: CommandUsage) -> None:
    assert found(usage, "qqqq") == []


def test_of_equally_good_matches_the_one_used_more_comes_first(usage: CommandUsage) -> None:
    before = found(usage, "t")
    usage.record("tools", NOW)
    usage.record("tools", NOW)
    assert before[0] != "tools"
    assert found(usage, "t")[0] == "tools"


def test_usage_never_beats_a_command_that_is_typed_in_full(usage: CommandUsage) -> None:
    for _ in range(500):
        usage.record("keys", NOW)
    assert found(usage, "help")[0] == "help"


def test_commands_are_grouped_by_topic_after_the_recently_used_ones(usage: CommandUsage) -> None:
    for name in ("diff", "model", "model"):
        usage.record(name, NOW)
    groups = CommandSearch(usage, wall_clock=lambda: NOW).group(SCREEN_COMMANDS)
    assert [it.name for it in groups[0].commands] == ["model", "diff"]
    titles = [group.title for group in groups]
    assert titles[:2] == ["Recently used", "Conversation"]
    names = [it.name for group in groups for it in group.commands]
    assert sorted(names) == sorted(it.name for it in SCREEN_COMMANDS)


def test_without_uses_there_is_no_recent_group(usage: CommandUsage) -> None:
    assert CommandSearch(usage, wall_clock=lambda: NOW).group(SCREEN_COMMANDS)[0].title == "Conversation"


def test_every_command_of_the_screen_has_a_topic() -> None:
    assert [it.name for it in SCREEN_COMMANDS if topic_of(it.name) is CUSTOM_TOPIC] == []


def test_no_command_is_in_two_topics_and_no_synonym_is_a_command() -> None:
    names = [name for topic in COMMAND_TOPICS for name in topic.commands]
    assert len(names) == len(set(names))
    assert set(COMMAND_SYNONYMS) <= set(names)

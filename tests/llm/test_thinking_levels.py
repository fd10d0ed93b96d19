"""Thinking levels of known models: those whose requests differ."""

import pytest

from kimi_tui.base.thinking_effort import nearest_effort, parse_thinking_effort
from kimi_tui.llm.provider import ProviderSettings
from kimi_tui.llm.thinking_levels import thinking_levels

ALL = ("off", "low", "medium", "high")


@pytest.mark.parametrize(
    ("kind", "model", "levels"),
    [
        ("kimi", "kimi-k2.5", ("off", "high")),
        ("kimi", "kimi-k2-thinking", ("high",)),
        ("kimi", "kimi-k3", ("low", "medium", "high")),
        ("kimi", "moonshot-v1-8k", ()),
        ("openai_responses", "gpt-5.4", ALL),
        ("openai", "o4-mini", ("low", "medium", "high")),
        ("openai", "gpt-5-pro", ("high",)),
        ("openai", "gpt-4o", ()),
        ("openai", "google/gemini-2.5-pro", ("low", "medium", "high")),
        ("openai", "deepseek-v3.2", ALL),
        ("anthropic", "claude-sonnet-4-5", ALL),
        ("anthropic", "claude-sonnet-5", ALL),
        ("scripted", "anything", ALL),
    ],
)
def test_a_model_has_the_levels_that_its_requests_distinguish(kind, model, levels):
    assert thinking_levels(ProviderSettings(kind=kind, model=model)) == levels


def test_a_model_that_always_thinks_cannot_be_switched_off():
    settings = ProviderSettings(kind="openai", model="m", capabilities=frozenset({"always_thinking"}))
    assert thinking_levels(settings) == ("low", "medium", "high")


@pytest.mark.parametrize(
    ("effort", "supported", "used"),
    [
        ("low", ("off", "high"), "high"),
        ("medium", ALL, "medium"),
        ("off", ("low", "medium", "high"), "low"),
        ("high", ("off", "low"), "low"),
        ("high", (), "off"),
    ],
)
def test_a_missing_level_becomes_the_next_higher_one_or_the_highest(effort, supported, used):
    assert nearest_effort(effort, supported) == used


@pytest.mark.parametrize(
    ("value", "effort"),
    [(True, "high"), (False, "off"), ("on", "high"), ("Medium", "medium"), ("much", None), (1, None)],
)
def test_switches_and_words_are_levels(value, effort):
    assert parse_thinking_effort(value) == effort

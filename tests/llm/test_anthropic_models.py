import pytest

from kimi_tui.llm.anthropic.models import ClaudeModel

THINKS = frozenset({"thinking"})


@pytest.mark.parametrize(
    ("name", "family", "version"),
    [
        ("claude-opus-4-1-20250805", "opus", (4, 1)),
        ("claude-sonnet-4-20250514", "sonnet", (4, 0)),
        ("claude-haiku-5-5", "haiku", (5, 5)),
        ("anthropic/claude-sonnet-4.6", "sonnet", (4, 6)),
        ("claude-3-5-sonnet-latest", "", (3, 5)),
        ("claude-3-opus-20240229", "", (3, 0)),
        ("kimi-k2", "", (0, 0)),
    ],
)
def test_family_and_version_are_parsed_from_the_name(name: str, family: str, version: tuple[int, int]):
    assert ClaudeModel.from_name(name) == ClaudeModel(family, version)


@pytest.mark.parametrize(
    ("name", "effort", "fields"),
    [
        ("claude-sonnet-4-5", "low", {"thinking": {"type": "enabled", "budget_tokens": 4_096}}),
        ("claude-sonnet-4-5", "off", {}),
        ("kimi-k2.6", "high", {"thinking": {"type": "enabled", "budget_tokens": 16_000}}),
        (
            "claude-opus-4-7",
            "medium",
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "medium"},
            },
        ),
        ("claude-opus-4-7", "off", {}),
        ("claude-opus-5", "off", {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-5-5", "off", {"thinking": {"type": "between_tools"}}),
        ("claude-opus-5-5", "off", {"output_config": {"effort": "low"}}),
        ("claude-opus-5-5", None, {}),
    ],
)
def test_each_generation_gets_its_thinking_fields(name, effort, fields):
    assert ClaudeModel.from_name(name).thinking_fields(effort, 32_000, THINKS) == fields


def test_a_model_that_can_t_think_gets_no_thinking_fields():
    assert ClaudeModel.from_name("claude-3-5-haiku-latest").thinking_fields("high", 8_192, frozenset()) == {}


def test_a_budget_is_at_most_half_of_the_output_limit_and_never_too_small():
    model = ClaudeModel.from_name("claude-opus-4-1")
    assert model.thinking_fields("high", 8_000, THINKS)["thinking"]["budget_tokens"] == 4_000
    assert model.thinking_fields("high", 1_500, THINKS) == {}


def test_the_default_output_limit_is_accepted_by_the_model():
    limits = [
        ClaudeModel.from_name(name).default_output_limit for name in ("claude-3-haiku", "claude-3-5-sonnet")
    ]
    assert limits == [4_096, 8_192]
    assert ClaudeModel.from_name("claude-opus-4-1").default_output_limit == 32_000
    assert ClaudeModel.from_name("claude-opus-5-5").default_output_limit == 64_000

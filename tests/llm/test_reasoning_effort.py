import pytest

from kimi_tui.llm.openai.reasoning_effort import reasoning_effort


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("gpt-5.4", "none"),
        ("openai/gpt-5.1", "none"),
        ("gpt-5.3-codex", "none"),
        ("gpt-5", "minimal"),
        ("gpt-5-mini", "minimal"),
        ("gpt-5-codex", "low"),
        ("gpt-5-pro", "high"),
        ("o4-mini", "low"),
        ("gpt-oss:20b", "low"),
        ("google/gemini-2.5-flash", "none"),
        ("gemini-3-flash-preview", "minimal"),
        ("gemini-2.5-pro", "low"),
        ("qwen3:8b", None),
    ],
)
def test_off_is_the_least_effort_that_a_model_accepts(model, least):
    assert reasoning_effort(model, "off") == least


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
def test_other_efforts_are_sent_unchanged(effort):
    assert reasoning_effort("gpt-5.4", effort) == effort

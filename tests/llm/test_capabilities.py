import pytest

from kimi_tui.llm.capabilities import known_capabilities


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("kimi-k2-0905-preview", ""),
        ("kimi-k2-thinking", "thinking"),
        ("kimi-k2.6", "thinking image_in video_in"),
        ("kimi-k3.1-pro", "thinking image_in video_in"),
        ("kimi-for-coding", "thinking image_in video_in"),
        ("moonshot-v1-128k-vision-preview", "image_in"),
        ("gpt-4o-mini", "image_in"),
        ("gpt-5.6", "thinking image_in"),
        ("gpt-oss:20b", "thinking"),
        ("gpt-3.5-turbo", ""),
        ("o4-mini", "thinking image_in"),
        ("openrouter/anthropic/claude-opus-5-5", "thinking image_in"),
        ("claude-sonnet-4-5-20250929", "thinking image_in"),
        ("claude-3-7-sonnet-latest", "thinking image_in"),
        ("claude-3-5-haiku-latest", "image_in"),
        ("claude-mythos-preview", "thinking image_in"),
        ("gemini-2.5-pro", "thinking image_in video_in"),
        ("qwen3-coder", "thinking"),
        ("qwen2.5-vl-7b", "image_in"),
        ("deepseek-reasoner", "thinking"),
        ("llama3.2-vision", "image_in"),
        ("llama3.1:8b", ""),
        ("something-new", ""),
    ],
)
def test_capabilities_are_known_by_model_name(model: str, known: str):
    assert known_capabilities("openai", model) == set(known.split())


def test_kimi_clis_scripted_model_can_do_only_what_the_config_lists():
    assert known_capabilities("scripted", "scripted_echo") == set()
    assert known_capabilities("scripted", "m") == {"thinking", "image_in"}

"""Known model capabilities, by model name. Used if the config doesn't list capabilities."""

import re

from kimi_tui.llm.provider import ProviderKind, ProviderSettings

KIMI_CLI_SCRIPTED_MODEL = "scripted_echo"
"""Kimi CLI's scripted model. It has only the capabilities in the config."""
_THINKING_MODELS = re.compile(
    r"^(?:kimi-(?:k2\.\d|k[3-9]|k\d\d|for-coding|thinking)|.*thinking"
    r"|gpt-(?:[5-9]|oss)|o[1-9](?:$|-)|codex"
    r"|claude-(?:3-7|3\.7|(?:[a-z]+-)?[4-9]|mythos)"
    r"|deepseek-(?:r\d|reasoner|v3\.[1-9]|v[4-9])|qwq|qwen-?3|glm-(?:4\.[5-9]|[5-9])|minimax-m[1-9]"
    r"|gemini-(?:2\.5|[3-9])|grok-(?:3-mini|[4-9])|magistral|gemma-?4)"
)
_IMAGE_MODELS = re.compile(
    r"^(?:kimi-(?:k2\.\d|k[3-9]|k\d\d|for-coding|latest|vl)|moonshot-.*vision"
    r"|gpt-(?:4o|4\.1|4\.5|4-turbo|4-vision|[5-9])|chatgpt|o[1-9](?!-mini-2024|-preview)(?:$|-)"
    r"|claude-(?:3|(?:[a-z]+-)?[4-9]|mythos)"
    r"|gemini|gemma-?[34]|grok-(?:4|.*vision)|llava|bakllava|pixtral|minicpm-v|moondream|internvl|llama-?4"
    r"|mistral-(?:small-3|medium-3|large-3)|qwen-?3\.[5-9]|.*(?:-vl|vision|:vl)\b|.*\dvl\b)"
)
_VIDEO_MODELS = re.compile(r"^(?:kimi-(?:k2\.\d|k[3-9]|k\d\d|for-coding)|gemini)")


def capabilities_of(settings: ProviderSettings) -> frozenset[str]:
    """Return the capabilities in `settings`, or the known capabilities of the model."""
    if settings.capabilities is not None:
        return settings.capabilities
    return known_capabilities(settings.kind, settings.model)


def known_capabilities(kind: ProviderKind, model: str) -> frozenset[str]:
    """Return the known capabilities of `model`: a subset of `thinking`, `image_in` and `video_in`.

    A prefix such as `openrouter/anthropic/` is ignored. Empty for unknown models. The scripted and demo
    models claim thinking and images, because they exist to exercise the interface.
    """
    if model == KIMI_CLI_SCRIPTED_MODEL:
        return frozenset()
    if kind in {"scripted", "demo"}:
        return frozenset({"thinking", "image_in"})
    name = model.lower().rpartition("/")[2]
    capabilities = set()
    if _THINKING_MODELS.search(name):
        capabilities.add("thinking")
    if _IMAGE_MODELS.search(name):
        capabilities.add("image_in")
    if _VIDEO_MODELS.search(name):
        capabilities.add("video_in")
    return frozenset(capabilities)

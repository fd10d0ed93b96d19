"""Capabilities: what models are known for by their names, where the config doesn't say."""

import re

from kimi_tui.llm.provider import ProviderKind, ProviderSettings

_THINKS = re.compile(
    r"^(?:kimi-(?:k2\.\d|k[3-9]|k\d\d|for-coding|thinking)|.*thinking"
    r"|gpt-(?:[5-9]|oss)|o[1-9](?:$|-)|codex"
    r"|claude-(?:3-7|3\.7|(?:[a-z]+-)?[4-9]|mythos)"
    r"|deepseek-(?:r\d|reasoner|v3\.[1-9]|v[4-9])|qwq|qwen-?3|glm-(?:4\.[5-9]|[5-9])|minimax-m[1-9]"
    r"|gemini-(?:2\.5|[3-9])|grok-(?:3-mini|[4-9])|magistral|gemma-?4)"
)
_SEES = re.compile(
    r"^(?:kimi-(?:k2\.\d|k[3-9]|k\d\d|for-coding|latest|vl)|moonshot-.*vision"
    r"|gpt-(?:4o|4\.1|4\.5|4-turbo|4-vision|[5-9])|chatgpt|o[1-9](?!-mini-2024|-preview)(?:$|-)"
    r"|claude-(?:3|(?:[a-z]+-)?[4-9]|mythos)"
    r"|gemini|gemma-?[34]|grok-(?:4|.*vision)|llava|bakllava|pixtral|minicpm-v|moondream|internvl|llama-?4"
    r"|mistral-(?:small-3|medium-3|large-3)|qwen-?3\.[5-9]|.*(?:-vl|vision|:vl)\b|.*\dvl\b)"
)
_SEES_FILMS = re.compile(r"^(?:kimi-(?:k2\.\d|k[3-9]|k\d\d|for-coding)|gemini)")


def capabilities_of(settings: ProviderSettings) -> frozenset[str]:
    """What the model of `settings` can do: as they say, else what it is known for."""
    if settings.capabilities is not None:
        return settings.capabilities
    return known_capabilities(settings.kind, settings.model)


def known_capabilities(kind: ProviderKind, model: str) -> frozenset[str]:
    """What `model` of a provider of `kind` is known for, among `thinking`, `image_in` and `video_in`.

    A prefix such as `openrouter/anthropic/` doesn't matter. Empty for models that aren't known. The scripted
    and the demo model can do everything: they show what a screen does with it.
    """
    if kind in {"scripted", "demo"}:
        return frozenset({"thinking", "image_in"})
    name = model.lower().rpartition("/")[2]
    known = set()
    if _THINKS.search(name):
        known.add("thinking")
    if _SEES.search(name):
        known.add("image_in")
    if _SEES_FILMS.search(name):
        known.add("video_in")
    return frozenset(known)

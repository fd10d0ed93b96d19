"""Values of OpenAI's `reasoning_effort` for each thinking level and model.

Sources: the documentation of `reasoning.effort` in OpenAI's SDK, and Google's documentation of Gemini's
OpenAI-compatible API. GPT-5.1 and later can stop thinking (`none`). GPT-5 thinks at least `minimal`ly, codex
and o models at least `low`. Gemini 2.5 Flash can stop thinking, other Gemini models can't.
"""

import re

from kimi_tui.base.thinking_effort import THINKING_EFFORTS, ThinkingEffort

_LEAST_EFFORTS = (
    (re.compile(r"^gpt-5(?!\.\d).*codex|^codex"), "low"),
    (re.compile(r"^gpt-[5-9].*-pro\b"), "high"),
    (re.compile(r"^gpt-(?:5\.[1-9]|[6-9])"), "none"),
    (re.compile(r"^gpt-5"), "minimal"),
    (re.compile(r"^(?:o[1-9](?:$|-)|gpt-oss)"), "low"),
    (re.compile(r"^gemini-2\.5-flash"), "none"),
    (re.compile(r"^gemini-(?:[3-9]).*flash"), "minimal"),
    (re.compile(r"^gemini-(?:2\.5|[3-9])"), "low"),
)
"""The least effort of models that think by default."""


def reasoning_effort(model: str, effort: ThinkingEffort) -> str | None:
    """Return the value to send for `effort`. A prefix of `model` such as `openai/` is ignored.

    None to send no value. Then the model doesn't think, or the server's default applies.
    """
    if effort != "off":
        return effort
    return _least_effort(model)


def reasoning_levels(model: str) -> tuple[ThinkingEffort, ...]:
    """Return the thinking levels of `model`, which must be a model that can think.

    Includes `off` if the model thinks less with `off` than with `low`.
    """
    least = _least_effort(model)
    if least == "high":
        return ("high",)
    return THINKING_EFFORTS[1:] if least == "low" else THINKING_EFFORTS


def _least_effort(model: str) -> str | None:
    name = model.lower().rpartition("/")[2]
    return next((value for pattern, value in _LEAST_EFFORTS if pattern.search(name)), None)

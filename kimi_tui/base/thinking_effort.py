"""Thinking effort of a model: its levels, and their forms in settings, options and commands."""

from collections.abc import Sequence
from typing import Literal, get_args

ThinkingEffort = Literal["off", "low", "medium", "high"]
THINKING_EFFORTS: tuple[ThinkingEffort, ...] = get_args(ThinkingEffort)
"""All levels, from the least to the most thinking."""

_SWITCHES: dict[str, ThinkingEffort] = {
    "true": "high",
    "on": "high",
    "yes": "high",
    "false": "off",
    "no": "off",
    "none": "off",
}


def parse_thinking_effort(value: object) -> ThinkingEffort | None:
    """Return the level that a boolean or a word such as `on` or `medium` means, or None."""
    word = str(value).strip().lower()
    if word in THINKING_EFFORTS:
        return word
    return _SWITCHES.get(word)


def nearest_effort(effort: ThinkingEffort, supported: Sequence[ThinkingEffort]) -> ThinkingEffort:
    """Return the level that a model with the levels `supported` uses for `effort`: the same one, or the next
    higher one, or the highest. `off` if it has none.
    """
    wanted = THINKING_EFFORTS.index(effort)
    ranked = sorted(supported, key=THINKING_EFFORTS.index)
    if effort != "off":
        ranked = [it for it in ranked if it != "off"] or ranked
    higher = [it for it in ranked if THINKING_EFFORTS.index(it) >= wanted]
    return (higher or ranked or ["off"])[0 if higher else -1]

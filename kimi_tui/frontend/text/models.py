"""Text about models: context size, price, vision and thinking levels."""

from collections.abc import Sequence

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.base.thinking_effort import ThinkingEffort, nearest_effort
from kimi_tui.frontend.number_format import format_tokens
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.wire.session import ModelDetails, SessionInfo

LAST_MODEL = "-"
"""Argument of /model for the model that was used before this one."""
_LEVELS: dict[ThinkingEffort, str] = {
    "off": tr_lazy("off"),
    "low": tr_lazy("low"),
    "medium": tr_lazy("medium"),
    "high": tr_lazy("high"),
}
_SWITCH: tuple[ThinkingEffort, ...] = ("off", "high")
"""The levels of a model whose thinking is only on or off."""


def level_name(effort: ThinkingEffort, levels: Sequence[ThinkingEffort]) -> str:
    """Return the name of a level. If a model has a single level besides `off`, its name is `on`."""
    return tr("on") if effort == "high" and tuple(levels) in (_SWITCH, ("high",)) else tr(_LEVELS[effort])


def thinking_label(effort: ThinkingEffort, levels: Sequence[ThinkingEffort]) -> str:
    """Return, for example, `thinking: medium`."""
    return tr("thinking: {level}", level=level_name(effort, levels))


def thinking_change_text(effort: ThinkingEffort, levels: Sequence[ThinkingEffort]) -> str:
    """Return the status after a change to `effort`. A missing level is replaced by the nearest one."""
    used = nearest_effort(effort, levels)
    if used != effort:
        return tr(
            "Thinking: {level}, from the next step. The model doesn't have the level “{effort}”.",
            level=level_name(used, levels),
            effort=tr(_LEVELS[effort]),
        )
    return tr("Thinking: {level}, from the next step", level=level_name(used, levels))


def thinking_usage(levels: Sequence[ThinkingEffort]) -> str:
    """Return how to set the level of a model with `levels`."""
    return tr("Use /thinking with one of {levels}.", levels=", ".join(levels))


def no_thinking_text(session: SessionInfo) -> str:
    """Return a message for a model that can't think, or for a session without a model."""
    if not session.model:
        return tr("No models configured. Use /login to connect one.")
    return tr("The model {name} doesn't support thinking.", name=sanitize_line(session.model_label))


def model_columns(model: ModelDetails) -> tuple[str, str, str, str]:
    """Return provider, context size, price and features of a model. Price and features may be empty."""
    price = ""
    if model.input_price is not None and model.output_price is not None:
        price = f"${model.input_price:g}/${model.output_price:g}"
    features = (
        (tr("vision"), "image_in" in model.capabilities),
        (tr("thinking"), bool(model.thinking_levels)),
    )
    return (
        sanitize_line(model.provider),
        format_tokens(model.max_context_size) if model.max_context_size else "",
        price,
        ", ".join(name for name, has_it in features if has_it),
    )

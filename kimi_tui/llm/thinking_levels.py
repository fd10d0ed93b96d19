"""Thinking levels of a model. Levels that would send identical requests are left out."""

from kimi_tui.base.thinking_effort import THINKING_EFFORTS, ThinkingEffort
from kimi_tui.llm.capabilities import capabilities_of
from kimi_tui.llm.provider import ProviderSettings


def thinking_levels(settings: ProviderSettings) -> tuple[ThinkingEffort, ...]:
    """Return the model's levels, from the least to the most thinking; empty if the model can't think."""
    capabilities = capabilities_of(settings)
    if not capabilities & {"thinking", "always_thinking"}:
        return ()
    levels = _levels(settings)
    return tuple(it for it in levels if it != "off") if "always_thinking" in capabilities else levels


def _levels(settings: ProviderSettings) -> tuple[ThinkingEffort, ...]:
    match settings.kind:
        case "kimi":
            from kimi_tui.llm.openai.kimi import kimi_levels

            return kimi_levels(settings.model)
        case "openai" | "openai_responses":
            from kimi_tui.llm.openai.reasoning_effort import reasoning_levels

            return reasoning_levels(settings.model)
        case "anthropic":
            from kimi_tui.llm.anthropic.models import ClaudeModel

            return ClaudeModel.from_name(settings.model).thinking_levels
        case "scripted" | "demo":
            return THINKING_EFFORTS

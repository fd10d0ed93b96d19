"""Text about cache misses: the number of tokens billed in full, and the reason."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kimi_tui.frontend.number_format import format_tokens
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.wire.session import CacheMiss, CacheMissCause

_CAUSES: Mapping[CacheMissCause, str] = MappingProxyType(
    {
        "model": tr_lazy("the model changed"),
        "thinking": tr_lazy("the thinking level changed"),
        "tools": tr_lazy("the system prompt or the tools changed"),
        "conversation": tr_lazy("the conversation was reverted or compacted"),
        "idle": tr_lazy("more than 5 minutes since the last request"),
        "server": tr_lazy("the server no longer had the cache"),
    }
)


def cache_miss_lines(misses: Sequence[CacheMiss]) -> list[str]:
    """Return a heading and a line for each of `misses`. Empty without misses."""
    if not misses:
        return []
    lines = [f"{format_tokens(miss.tokens):>6}  {tr(_CAUSES[miss.cause])}" for miss in misses]
    return ["", tr("Cache misses, tokens billed in full:"), *lines]

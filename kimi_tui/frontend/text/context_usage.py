"""Text of the context window's usage, with bars."""

from kimi_tui.frontend.text.cell_width import cell_len, pad_left, pad_right
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.wire.context_usage import ContextUsageKind, WindowFilling

_KIND_LABELS: dict[ContextUsageKind, str] = {
    "system prompt": tr_lazy("system prompt, AGENTS.md"),
    "tools": tr_lazy("tools"),
    "lent tools": tr_lazy("MCP and client tools"),
    "prompts": tr_lazy("prompts"),
    "notes": tr_lazy("system notes"),
    "answers": tr_lazy("responses"),
    "thinking": tr_lazy("thinking"),
    "tool calls": tr_lazy("tool calls"),
    "tool results": tr_lazy("tool results"),
    "media": tr_lazy("images and videos"),
}
_BAR_CELLS = 20
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def context_usage_text(usage: WindowFilling) -> tuple[str, str]:
    """Return the headline, and a line with a bar for each kind. A full bar is the whole context window."""
    total = usage.max_tokens or usage.tokens or 1
    names = [kind_label(part.kind, part.count) for part in usage.parts]
    width = max(map(cell_len, names), default=0)
    lines = [
        f"{pad_right(name, width)}  {_format_columns(part.tokens, total)}".rstrip()
        for name, part in zip(names, usage.parts, strict=True)
    ]
    if usage.max_tokens is not None:
        free = max(0, usage.max_tokens - usage.tokens)
        lines.append(f"{pad_right(tr('free'), width)}  {_format_columns(free, total)}".rstrip())
    if usage.compacts_at is not None:
        lines += [
            "",
            tr("The conversation is compacted at {tokens:,} tokens.", tokens=usage.compacts_at),
        ]
    return _headline(usage), "\n".join(lines)


def _headline(usage: WindowFilling) -> str:
    if usage.max_tokens is None:
        return tr("Context: about {used:,} tokens", used=usage.tokens)
    headline = (
        tr_lazy("Context: {used:,} of {most:,} tokens ({share:.0%})")
        if usage.is_measured
        else tr_lazy("Context: about {used:,} of {most:,} tokens ({share:.0%}), nothing sent yet")
    )
    share = usage.tokens / max(1, usage.max_tokens)
    return tr(headline, used=usage.tokens, most=usage.max_tokens, share=share)


def kind_label(kind: ContextUsageKind, count: int) -> str:
    """Return the name of a kind, with the number of items of that kind."""
    return tr(_KIND_LABELS[kind]) if kind == "system prompt" else f"{tr(_KIND_LABELS[kind])} ({count:,})"


def _format_columns(tokens: int, total: int) -> str:
    share = tokens / total
    return f"{pad_left(f'{tokens:,}', 9)} {pad_left(f'{share:.1%}', 6)}  {_bar(share)}"


def _bar(share: float) -> str:
    eighths = round(min(1.0, share) * _BAR_CELLS * 8)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")

"""What fills the model's window, in words and bars."""

from kimi_tui.language.saying import later, say
from kimi_tui.language.width import cells, padded, right_aligned
from kimi_tui.wire.window import WindowFilling, WindowKind

_WORDS: dict[WindowKind, str] = {
    "system prompt": later("system prompt and AGENTS.md"),
    "tools": later("its tools"),
    "lent tools": later("tools of MCP servers and clients"),
    "prompts": later("what you said"),
    "notes": later("notes of the program"),
    "answers": later("its answers"),
    "thinking": later("its thinking"),
    "tool calls": later("tool calls"),
    "tool results": later("results of tools"),
    "media": later("pictures and films"),
}
_BAR_CELLS = 20
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def told_filling(filling: WindowFilling) -> tuple[str, str]:
    """The headline, and a line for each kind, the whole of the bar being what the window holds."""
    whole = filling.max_tokens or filling.tokens or 1
    names = [_named(part.kind, part.count) for part in filling.parts]
    width = max(map(cells, names), default=0)
    lines = [
        f"{padded(name, width)}  {_columns(part.tokens, whole)}".rstrip()
        for name, part in zip(names, filling.parts, strict=True)
    ]
    if filling.max_tokens is not None:
        free = max(0, filling.max_tokens - filling.tokens)
        lines.append(f"{padded(say('free'), width)}  {_columns(free, whole)}".rstrip())
    if filling.compacts_at is not None:
        lines += [
            "",
            say("From {tokens:,} tokens on the conversation is compacted.", tokens=filling.compacts_at),
        ]
    return _headline(filling), "\n".join(lines)


def _headline(filling: WindowFilling) -> str:
    if filling.max_tokens is None:
        return say("The context takes about {used:,} tokens.", used=filling.tokens)
    words = (
        later("The context takes {used:,} of {most:,} tokens ({share:.0%}).")
        if filling.is_measured
        else later("The context takes about {used:,} of {most:,} tokens ({share:.0%}); nothing was sent yet.")
    )
    share = filling.tokens / max(1, filling.max_tokens)
    return say(words, used=filling.tokens, most=filling.max_tokens, share=share)


def _named(kind: WindowKind, count: int) -> str:
    return say(_WORDS[kind]) if kind == "system prompt" else f"{say(_WORDS[kind])} ({count:,})"


def _columns(tokens: int, whole: int) -> str:
    share = tokens / whole
    return f"{right_aligned(f'{tokens:,}', 9)} {right_aligned(f'{share:.1%}', 6)}  {_bar(share)}"


def _bar(share: float) -> str:
    eighths = round(min(1.0, share) * _BAR_CELLS * 8)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")

"""Charts as inline SVG."""

from collections.abc import Callable, Sequence
from html import escape

_WIDTH, _HEIGHT = 420, 150
_LEFT, _BOTTOM, _TOP = 34, 24, 10
_BINS = 20
_BAR_HEIGHT = 22


def draw_histogram(values: Sequence[float], *, label: Callable[[float], str], title: str) -> str:
    """Return a histogram. The first and the last value are labeled."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    span = (high - low) or 1.0
    counts = [0] * _BINS
    for value in values:
        counts[min(int((value - low) / span * _BINS), _BINS - 1)] += 1
    most = max(counts) or 1
    step = (_WIDTH - _LEFT) / _BINS
    room = _HEIGHT - _BOTTOM - _TOP
    base = _HEIGHT - _BOTTOM
    bars = [
        f'<rect class="bar" x="{_LEFT + number * step + 1:.1f}" y="{base - count / most * room:.1f}"'
        f' width="{step - 2:.1f}" height="{count / most * room:.1f}"><title>{count}</title></rect>'
        for number, count in enumerate(counts)
    ]
    texts = [
        f'<line class="axis" x1="{_LEFT}" y1="{base}" x2="{_WIDTH}" y2="{base}"/>',
        _text(_LEFT, _HEIGHT - 6, label(low)),
        _text(_WIDTH, _HEIGHT - 6, label(high), anchor="end"),
        _text(_LEFT - 6, _TOP + 8, str(most), anchor="end"),
    ]
    return _svg(_HEIGHT, title, (*bars, *texts))


def draw_shares(shares: Sequence[tuple[str, int, str]], *, title: str) -> str:
    """Return one bar divided by counts, with a legend. `shares` are name, count and CSS class."""
    total = sum(count for _, count, _ in shares) or 1
    parts: list[str] = []
    x = 0.0
    for number, (name, count, style) in enumerate(shares):
        width = count / total * _WIDTH
        parts.append(f'<rect class="{style}" x="{x:.1f}" y="0" width="{width:.1f}" height="{_BAR_HEIGHT}"/>')
        y = _BAR_HEIGHT + 18 + number * 18
        parts.append(f'<rect class="{style}" x="0" y="{y - 10}" width="12" height="12"/>')
        parts.append(_text(18, y, f"{name}: {count} ({count / total:.1%})"))
        x += width
    return _svg(_BAR_HEIGHT + 12 + 18 * len(shares), title, parts)


def _svg(height: int, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'

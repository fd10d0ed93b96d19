"""SVG charts of costs over the length of a conversation, one for each action."""

from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT, _COLUMNS = 270, 170, 3
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 22, 30, 28
_TEXT_COLOR, _GRID_COLOR, _LINE_COLOR = "#333333", "#bbbbbb", "#2f6fd0"


def render_curves(
    title: str, lengths: Sequence[int], costs: Mapping[str, Sequence[float]], *, unit: str
) -> str:
    """Return the SVG image.

    `costs` has one value for each length by action. Lengths are numbers of messages.
    """
    rows = -(-len(costs) // _COLUMNS)
    width, height = _WIDTH * min(_COLUMNS, len(costs)), _HEIGHT * rows + 34
    charts = "".join(
        f'<g transform="translate({_WIDTH * (at % _COLUMNS)},{34 + _HEIGHT * (at // _COLUMNS)})">'
        f"{_render_chart(action, lengths, values, unit)}</g>"
        for at, (action, values) in enumerate(costs.items())
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11" fill="{_TEXT_COLOR}">'
        f'<rect width="{width}" height="{height}" fill="white"/>'
        f'<text x="{_LEFT}" y="22" font-size="14">{escape(title)}</text>{charts}</svg>\n'
    )


def _render_chart(action: str, lengths: Sequence[int], values: Sequence[float], unit: str) -> str:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    most, longest = max(*values, 1e-9) * 1.15, max(*lengths, 1)
    points = [
        (_LEFT + (right - _LEFT) * length / longest, bottom - (bottom - _TOP) * value / most)
        for length, value in zip(lengths, values, strict=True)
    ]
    elements = [f'<text x="{_LEFT}" y="18" font-weight="bold">{escape(action)}</text>']
    elements += [
        f'<line x1="{_LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="{_GRID_COLOR}"/>'
        f'<text x="{_LEFT - 5}" y="{y + 4}" text-anchor="end">{label}</text>'
        for y, label in ((bottom, "0"), (_TOP, f"{most:.0f} {unit}"))
    ]
    elements += [
        f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{length:,}</text>'
        for length, (x, _) in zip(lengths, points, strict=True)
        if length % 1000 == 0 and length != 1000
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    elements.append(f'<polyline points="{path}" fill="none" stroke="{_LINE_COLOR}" stroke-width="2"/>')
    elements += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_LINE_COLOR}"/>' for x, y in points]
    return "".join(elements)

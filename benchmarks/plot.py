"""Curves as an SVG picture: a small chart an act, what it costs over how long the conversation is."""

from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT, _COLUMNS = 270, 170, 3
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 22, 30, 28
_INK, _FAINT, _LINE = "#333333", "#bbbbbb", "#2f6fd0"


def curves(title: str, lengths: Sequence[int], costs: Mapping[str, Sequence[float]], *, unit: str) -> str:
    """The picture: `costs` of each act, one a length, from zero up. Lengths are messages."""
    rows = -(-len(costs) // _COLUMNS)
    width, height = _WIDTH * min(_COLUMNS, len(costs)), _HEIGHT * rows + 34
    charts = "".join(
        f'<g transform="translate({_WIDTH * (at % _COLUMNS)},{34 + _HEIGHT * (at // _COLUMNS)})">'
        f"{_chart(act, lengths, values, unit)}</g>"
        for at, (act, values) in enumerate(costs.items())
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11" fill="{_INK}">'
        f'<rect width="{width}" height="{height}" fill="white"/>'
        f'<text x="{_LEFT}" y="22" font-size="14">{escape(title)}</text>{charts}</svg>\n'
    )


def _chart(act: str, lengths: Sequence[int], values: Sequence[float], unit: str) -> str:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    most, longest = max(*values, 1e-9) * 1.15, max(*lengths, 1)
    points = [
        (_LEFT + (right - _LEFT) * length / longest, bottom - (bottom - _TOP) * value / most)
        for length, value in zip(lengths, values, strict=True)
    ]
    drawn = [f'<text x="{_LEFT}" y="18" font-weight="bold">{escape(act)}</text>']
    drawn += [
        f'<line x1="{_LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="{_FAINT}"/>'
        f'<text x="{_LEFT - 5}" y="{y + 4}" text-anchor="end">{said}</text>'
        for y, said in ((bottom, "0"), (_TOP, f"{most:.0f} {unit}"))
    ]
    drawn += [
        f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{length:,}</text>'
        for length, (x, _) in zip(lengths, points, strict=True)
        if length % 1000 == 0 and length != 1000
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    drawn.append(f'<polyline points="{path}" fill="none" stroke="{_LINE}" stroke-width="2"/>')
    drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_LINE}"/>' for x, y in points]
    return "".join(drawn)

"""Finds the lines of a long command that a reader shouldn't miss."""

import re
from collections import Counter

_MIN_LINES = 9
"""Minimum number of lines of a long command. The result for a shorter command is empty."""
_MAX_LINES = 5
_REMARKABLE = re.compile(
    r"\b(?:base64|bash|chmod|chown|curl|dd|eval|exec|kill|mkfs|nc|ncat|node|perl|python3?|rm|ruby|scp|sh|"
    r"source|ssh|sudo|wget|xargs)\b|git\s+push|https?://|~/|/etc/|\$\(|`|\|\s*\w*sh\b|/dev/tcp"
)


def find_unusual_lines(command: str) -> list[tuple[int, str]]:
    """Return the most unusual lines of a long command with their line numbers, in order.

    Unusual lines run other code, delete files, use the network, name files elsewhere, or start with a word
    that no other line starts with.
    """
    lines = command.splitlines()
    if len(lines) < _MIN_LINES:
        return []
    counts = Counter(_first_word(line) for line in lines)
    scored = [
        (2 * bool(_REMARKABLE.search(line)) + (counts[_first_word(line)] == 1), number, line)
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    best = sorted((each for each in scored if each[0]), key=lambda each: (-each[0], each[1]))[:_MAX_LINES]
    return sorted((number, line) for _, number, line in best)


def _first_word(line: str) -> str:
    return line.split(maxsplit=1)[0] if line.strip() else ""

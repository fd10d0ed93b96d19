"""Line diff by Myers's greedy algorithm, with a limit on the number of differences.

Source: E. W. Myers, “An O(ND) Difference Algorithm and Its Variations” (1986).
"""

from collections.abc import Sequence

MAX_DIFFERENCE = 500
"""If more lines differ, everything between the common beginning and end counts as different."""

LinePairs = list[tuple[int, int]]


def matching_lines(a: Sequence[bytes], b: Sequence[bytes]) -> LinePairs:
    """Return pairs of indices of equal lines, ascending in both texts."""
    start, end = 0, 0
    least = min(len(a), len(b))
    while start < least and a[start] == b[start]:
        start += 1
    while end < least - start and a[-1 - end] == b[-1 - end]:
        end += 1
    pairs = [(index, index) for index in range(start)]
    pairs += [
        (i + start, j + start) for i, j in _common_lines(a[start : len(a) - end], b[start : len(b) - end])
    ]
    pairs += [(len(a) - index, len(b) - index) for index in range(end, 0, -1)]
    return pairs


def count_changed_lines(a: Sequence[bytes], b: Sequence[bytes]) -> tuple[int, int]:
    """Return the number of lines added in `b`, and the number of lines removed from `a`."""
    common = len(matching_lines(a, b))
    return len(b) - common, len(a) - common


def lines_of(text: bytes) -> list[bytes]:
    """Return the lines including their newlines. The last one may lack it."""
    lines = text.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _common_lines(a: Sequence[bytes], b: Sequence[bytes]) -> LinePairs:
    """Return the pairs of equal lines. Only lines that occur in both texts are passed to the full
    comparison.
    """
    in_a, in_b = set(a), set(b)
    left = [index for index, line in enumerate(a) if line in in_b]
    right = [index for index, line in enumerate(b) if line in in_a]
    pairs = _myers([a[index] for index in left], [b[index] for index in right])
    return [(left[i], right[j]) for i, j in pairs]


def _myers(a: Sequence[bytes], b: Sequence[bytes]) -> LinePairs:
    if not a or not b:
        return []
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    for depth in range(min(len(a) + len(b), MAX_DIFFERENCE) + 1):
        trace.append({k: furthest[k] for k in range(-depth - 1, depth + 2) if k in furthest})
        for k in range(-depth, depth + 1, 2):
            down = k == -depth or (k != depth and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            while x < len(a) and 0 <= x - k < len(b) and a[x] == b[x - k]:
                x += 1
            furthest[k] = x
            if x >= len(a) and x - k >= len(b):
                return _backtrack(trace, len(a), len(b))
    return []


def _backtrack(trace: list[dict[int, int]], x: int, y: int) -> LinePairs:
    """Trace the path back from the end to the beginning. Its diagonals are the pairs."""
    pairs: LinePairs = []
    for depth in range(len(trace) - 1, -1, -1):
        furthest = trace[depth]
        k = x - y
        down = k == -depth or (k != depth and furthest[k - 1] < furthest[k + 1])
        before_k = k + 1 if down else k - 1
        before_x = furthest[before_k] if depth else 0
        before_y = before_x - before_k if depth else 0
        while x > before_x and y > before_y:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = before_x, before_y
    pairs.reverse()
    return pairs

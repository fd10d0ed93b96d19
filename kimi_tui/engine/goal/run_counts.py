"""Numbers of tests in the output of a test runner."""

import re
from collections.abc import Sequence

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg

_LINE = re.compile(r"\W*(?:\d+ |test result|Tests|Ran |OK|FAILED)", re.IGNORECASE)
_RAN = re.compile(r"(\d+) (?:passed|failed|passing|failing)\b")
_TOTAL = re.compile(r"\bRan (\d+) tests?\b|\b(\d+) examples?\b")
"""The number of all tests, including skipped ones."""
_SKIPPED = re.compile(
    r"(\d+) (?:skipped|ignored|pending|todo|deselected|xfailed|xpassed|filtered out|disabled)\b"
    r"|\b(?:skipped|expected failures)=(\d+)"
)
_STYLE = re.compile(r"\x1b\[[\d;]*m")


@frozen
class RunCounts:
    """Numbers of tests in the output of one run. All are 0 if the output has no numbers."""

    ran: int
    skipped: int

    def compare(self, now: "RunCounts") -> str:
        """Return a message if the run `now` ran fewer tests than this run or skipped more; otherwise ""."""
        if now.ran < self.ran:
            return msg("tests that ran: {count}, at the start: {before}", count=now.ran, before=self.ran)
        new = now.ran + now.skipped - self.ran - self.skipped
        if self.ran and now.skipped - self.skipped > max(new, 0):
            return msg(
                "skipped tests: {count}, at the start: {before}", count=now.skipped, before=self.skipped
            )
        return ""


def read_counts(output: str) -> RunCounts:
    """Return the numbers of tests in the output of a test runner."""
    lines = [line for line in _STYLE.sub("", output).splitlines() if _LINE.match(line)]
    skipped, total = _sum(_SKIPPED, lines), _sum(_TOTAL, lines)
    return RunCounts(_sum(_RAN, lines) + (max(total - skipped, 0) if total else 0), skipped)


def _sum(pattern: re.Pattern[str], lines: Sequence[str]) -> int:
    matches = (match for line in lines for match in pattern.finditer(line))
    return sum(int(next(filter(None, match.groups()))) for match in matches)

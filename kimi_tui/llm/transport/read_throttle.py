"""Throttle for reads of a stream, so that tokens that arrive one by one are read in batches.

A read costs as much as processing the token that it returns. During a pause, data waits in the operating
system's buffers. No data is lost, and a token appears less than one frame later.
"""

PAUSE_S = 0.04
"""Pause between two reads, in seconds."""
MIN_WAITED_READS = 30
"""Minimum number of consecutive reads that had to wait for data before pauses begin. So short responses, such
as tool calls, are never delayed.
"""
_WAIT_THRESHOLD_S = 0.0005
"""Minimum duration of a read that had to wait for data."""
_BURST_BYTES = 8192
"""If this many bytes arrive between two waits, the response is too fast for pauses."""


class ReadThrottle:
    """Computes the pauses between the reads of one response.

    Pauses are used only while small amounts of data arrive at short intervals.
    """

    def __init__(self) -> None:
        self._waits = 0
        self._bytes = 0
        self.pause_s = 0.0
        """Pause before the next read, in seconds."""

    def record_read(self, waited_s: float, size: int) -> None:
        """Record a read that took `waited_s` seconds and returned `size` bytes."""
        self._bytes += size
        is_pause_due = waited_s >= _WAIT_THRESHOLD_S and self._is_trickling(waited_s)
        self.pause_s = PAUSE_S if is_pause_due else 0.0

    def _is_trickling(self, waited_s: float) -> bool:
        is_slow = waited_s < PAUSE_S and self._bytes < _BURST_BYTES
        self._waits = self._waits + 1 if is_slow else 0
        self._bytes = 0
        return self._waits > MIN_WAITED_READS

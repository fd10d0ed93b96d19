"""Reads of slow tokens are batched; bursts and rare tokens are read immediately."""

from kimi_tui.llm.transport.read_throttle import MIN_WAITED_READS, PAUSE_S, ReadThrottle

TOKEN = b"x" * 200


class TricklingServer:
    """Sends a token every `period_s`. Its clock advances while it's awaited."""

    def __init__(self, period_s: float, token: bytes = TOKEN) -> None:
        self.now = 0.0
        self.pauses = 0
        self._period_s = period_s
        self._token = token
        self._sent = 0

    def pause(self, seconds: float) -> None:
        self.pauses += seconds > 0
        self.now += seconds

    def read(self) -> bytes:
        self._sent += 1
        self.now = max(self.now, self._sent * self._period_s)
        return self._token


def read_all(server: TricklingServer, count: int) -> TricklingServer:
    throttle = ReadThrottle()
    for _ in range(count):
        server.pause(throttle.pause_s)
        started_at = server.now
        token = server.read()
        throttle.record_read(server.now - started_at, len(token))
    return server


def test_a_short_response_is_read_without_pauses() -> None:
    assert read_all(TricklingServer(0.01), MIN_WAITED_READS).pauses == 0


def test_tokens_of_a_long_response_are_read_in_batches() -> None:
    server = read_all(TricklingServer(0.01), MIN_WAITED_READS + 500)
    assert 500 / 8 < server.pauses < 500 / 4
    assert server.now < (MIN_WAITED_READS + 500) * 0.01 + 2 * PAUSE_S


def test_a_burst_is_read_without_pauses() -> None:
    assert read_all(TricklingServer(0.001, b"x" * 16_384), 500).pauses == 0
    assert read_all(TricklingServer(0.0), 500).pauses == 0


def test_rare_tokens_are_read_without_pauses() -> None:
    assert read_all(TricklingServer(0.1), 200).pauses == 0

"""Tokens that trickle are gathered; what comes in bursts, or seldom, is read at once."""

from kimi_tui.llm.gathering import LONG, PAUSE_S, Gathering

TOKEN = b"x" * 200


class Server:
    """Sends a token each `period_s`; its clock moves while it is waited for."""

    def __init__(self, period_s: float, token: bytes = TOKEN) -> None:
        self.now = 0.0
        self.pauses = 0
        self._period_s = period_s
        self._token = token
        self._sent = 0

    async def sleep(self, seconds: float) -> None:
        self.pauses += 1
        self.now += seconds

    async def more(self) -> bytes:
        self._sent += 1
        self.now = max(self.now, self._sent * self._period_s)
        return self._token


async def reads(server: Server, count: int) -> Server:
    gathering = Gathering(now=lambda: server.now, sleep=server.sleep)
    for _ in range(count):
        assert await gathering.read(server.more)
    return server


async def test_a_short_answer_is_read_as_it_comes() -> None:
    assert (await reads(Server(0.01), LONG)).pauses == 0


async def test_tokens_of_a_long_answer_are_read_a_few_at_a_time() -> None:
    server = await reads(Server(0.01), LONG + 500)
    assert 500 / 8 < server.pauses < 500 / 4
    assert server.now < (LONG + 500) * 0.01 + 2 * PAUSE_S


async def test_a_burst_is_never_held_up() -> None:
    assert (await reads(Server(0.001, b"x" * 16_384), 500)).pauses == 0
    assert (await reads(Server(0.0), 500)).pauses == 0


async def test_tokens_that_come_seldom_are_read_as_they_come() -> None:
    assert (await reads(Server(0.1), 200)).pauses == 0

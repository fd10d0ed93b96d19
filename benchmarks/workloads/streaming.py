"""Streams into the screen: as fast as they come, and at a model's usual pace; keys typed meanwhile."""

import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.extent import Extent
from benchmarks.figure import Figure, percentile
from benchmarks.home import KIMI_TUI, model, new_home
from benchmarks.terminal import SLOWEST_ECHO_S, Echo, Terminal, terminal
from benchmarks.words import markdown, tokens

END = "ΞΩΨΞΩΨ"
"""Ends an answer; see `LAST_WORDS`."""
KEY_PERIOD_S = 0.05
PACE = 100
"""Tokens a second of a quick model."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What one answer cost."""

    wall_s: float
    cpu_s: float
    written: int
    """Bytes to the terminal."""
    echoes: Sequence[Echo]


def measure(extent: Extent) -> list[Figure]:
    """A burst, and a paced stream."""
    return [*_burst(extent.of(20_000, 5_000, 300)), *_paced(words=extent.of(1_000, 300, 30))]


def _burst(words: int) -> list[Figure]:
    plan = [{"words": words, "end": END}]
    ours, bare = _both(plan, typing=False)
    typed, typed_bare = _both(plan, typing=True)
    return [
        Figure("burst", f"CPU of {words:,} words", ours.cpu_s, "s", bare.cpu_s, "bare block view", most=1.15),
        Figure("burst", "wall time until the end shows", ours.wall_s, "s", bare.wall_s, "bare block view"),
        *_echoes("key to echo meanwhile", typed, most=50),
        *_echoes("the same, bare block view", typed_bare),
    ]


def _echoes(what: str, stream: Stream, *, most: float | None = None) -> list[Figure]:
    walls, works = [it.wall_s * 1e3 for it in stream.echoes], [it.worked_s * 1e3 for it in stream.echoes]
    return [
        Figure("burst", f"{what}, median", percentile(walls, 0.5), "ms"),
        Figure("burst", f"{what}, p95", percentile(walls, 0.95), "ms", most=most),
        Figure("burst", f"{what}, CPU until then, median", percentile(works, 0.5), "ms"),
        Figure("burst", f"{what}, CPU until then, p95", percentile(works, 0.95), "ms"),
    ]


def _paced(words: int) -> list[Figure]:
    text = len(markdown(words).encode())
    seconds = len(list(tokens(markdown(words)))) / PACE
    ours, bare = _both([{"words": words, "end": END, "rate": PACE}], typing=False)
    return [
        Figure("100 tokens/s", "share of a core", 100 * ours.cpu_s / seconds, "%", most=12),
        Figure("100 tokens/s", "CPU in all", ours.cpu_s, "s", bare.cpu_s, "bare block view", most=0.4),
        Figure("100 tokens/s", "bytes to the terminal", ours.written, "B", text, "bytes of the text", most=3),
        Figure("100 tokens/s", "the same, bare block view", bare.written, "B", text, "bytes of the text"),
    ]


def _both(plan: Sequence[dict[str, object]], *, typing: bool) -> tuple[Stream, Stream]:
    with new_home() as home, model(plan) as (url, _):
        home.configure(url)
        with terminal([KIMI_TUI], env=home.env, cwd=home.work_dir) as program:
            ours = _stream(program, typing=typing)
        view = [sys.executable, "-m", "benchmarks.baselines.block_view", url]
        with terminal(view, env=home.env, cwd=home.work_dir) as program:
            bare = _stream(program, typing=typing)
    return ours, bare


def _stream(program: Terminal, *, typing: bool) -> Stream:
    program.type_until_shown()
    program.type("\x15")
    program.rest()
    cpu, written, began = program.cpu_s(), program.written, time.perf_counter()
    program.type("go\r")
    echoes: list[Echo] = []
    over = threading.Event()
    typist = threading.Thread(target=_type, args=(program, echoes, over))
    if typing:
        typist.start()
    program.until(END, start=written)
    wall = time.perf_counter() - began
    over.set()
    if typing:
        typist.join()
    program.rest()
    return Stream(wall, program.cpu_s() - cpu, program.written - written, echoes)


def _type(program: Terminal, echoes: list[Echo], over: threading.Event) -> None:
    while not over.wait(KEY_PERIOD_S):
        try:
            echoes.append(program.echo())
        except TimeoutError:
            echoes.append(Echo(SLOWEST_ECHO_S, SLOWEST_ECHO_S))

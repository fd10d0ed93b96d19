"""Streaming to the screen: at full speed and at a model's usual pace, with and without typing."""

import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.figure import Figure, percentile
from benchmarks.home import KIMI_TUI, new_home, serve_model
from benchmarks.sample_text import markdown, tokens
from benchmarks.scale import Scale
from benchmarks.terminal import MAX_ECHO_S, Echo, Terminal, terminal

END = "ΞΩΨΞΩΨ"
"""End of a response; see `END_MARKER`."""
TITLE = {"words": 0, "end": "Streaming in the benchmarks"}
"""Response to the request for a title, which follows the first turn."""
KEY_PERIOD_S = 0.05
PACE = 100
"""Tokens a second of a fast model."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Cost of one response."""

    wall_s: float
    cpu_s: float
    written: int
    """Bytes written to the terminal."""
    echoes: Sequence[Echo]


def measure(scale: Scale) -> list[Figure]:
    """Measure a burst and a paced stream."""
    return [*_burst(scale.choose(20_000, 5_000, 300)), *_paced(words=scale.choose(1_000, 300, 30))]


def _burst(words: int) -> list[Figure]:
    response = {"words": words, "end": END}
    ours, bare = _measure_both(response, typing=False)
    typed, typed_bare = _measure_both(response, typing=True)
    return [
        Figure(
            "burst", f"CPU of {words:,} words", ours.cpu_s, "s", bare.cpu_s, "bare block view", target=1.15
        ),
        Figure("burst", "wall time until the end is shown", ours.wall_s, "s", bare.wall_s, "bare block view"),
        *_echoes("key to echo during the burst", typed, target=50),
        *_echoes("the same, bare block view", typed_bare),
    ]


def _echoes(name: str, stream: Stream, *, target: float | None = None) -> list[Figure]:
    walls, cpus = [it.wall_s * 1e3 for it in stream.echoes], [it.cpu_s * 1e3 for it in stream.echoes]
    return [
        Figure("burst", f"{name}, median", percentile(walls, 0.5), "ms"),
        Figure("burst", f"{name}, p95", percentile(walls, 0.95), "ms", target=target),
        Figure("burst", f"{name}, CPU until then, median", percentile(cpus, 0.5), "ms"),
        Figure("burst", f"{name}, CPU until then, p95", percentile(cpus, 0.95), "ms"),
    ]


def _paced(words: int) -> list[Figure]:
    text = len(markdown(words).encode())
    seconds = len(list(tokens(markdown(words)))) / PACE
    ours, bare = _measure_both({"words": words, "end": END, "rate": PACE}, typing=False)
    return [
        Figure("100 tokens/s", "share of a core", 100 * ours.cpu_s / seconds, "%", target=12),
        Figure("100 tokens/s", "total CPU", ours.cpu_s, "s", bare.cpu_s, "bare block view", target=0.4),
        Figure(
            "100 tokens/s", "bytes to the terminal", ours.written, "B", text, "bytes of the text", target=3
        ),
        Figure("100 tokens/s", "the same, bare block view", bare.written, "B", text, "bytes of the text"),
    ]


def _measure_both(response: dict[str, object], *, typing: bool) -> tuple[Stream, Stream]:
    with new_home() as home, serve_model([response, TITLE, response]) as (url, _):
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
    program.wait_until_idle()
    cpu, written, began = program.cpu_s(), program.written, time.perf_counter()
    program.type("go\r")
    echoes: list[Echo] = []
    over = threading.Event()
    typist = threading.Thread(target=_type, args=(program, echoes, over))
    if typing:
        typist.start()
    program.wait_for(END, start=written)
    wall = time.perf_counter() - began
    over.set()
    if typing:
        typist.join()
    program.wait_until_idle()
    return Stream(wall, program.cpu_s() - cpu, program.written - written, echoes)


def _type(program: Terminal, echoes: list[Echo], over: threading.Event) -> None:
    while not over.wait(KEY_PERIOD_S):
        try:
            echoes.append(program.echo())
        except TimeoutError:
            echoes.append(Echo(MAX_ECHO_S, MAX_ECHO_S))

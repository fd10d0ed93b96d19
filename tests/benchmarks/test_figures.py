"""Benchmark figures, and the model server that the benchmarks stream from."""

import json
import subprocess
import sys

from benchmarks.figure import Figure, as_json, format_table, percentile
from benchmarks.home import new_home, serve_model
from benchmarks.sample_text import markdown, tokens


def test_a_figure_with_a_baseline_is_compared_by_ratio() -> None:
    figure = Figure("w", "cost", 3.0, "s", 2.0, "bare", target=1.6)
    assert figure.ratio == 1.5
    assert figure.is_met
    assert not Figure("w", "cost", 3.0, "s", 1.0, "bare", target=1.6).is_met


def test_a_figure_without_a_target_is_neither_met_nor_missed() -> None:
    assert Figure("w", "cost", 3.0, "s").is_met is None


def test_the_table_and_the_json_agree() -> None:
    figures = [Figure("idle", "CPU", 5, "ms", target=0)]
    assert "| idle | CPU | 5 ms |  |  | <= 0 ms | MISSED |" in format_table(figures)
    assert json.loads(as_json(figures))[0]["is_met"] is False


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([5, 1, 4, 2, 3], 0.95) == 5
    assert percentile([5, 1, 4, 2, 3], 0.5) == 3


def test_the_text_is_deterministic_and_split_into_tokens() -> None:
    text = markdown(200)
    assert text == markdown(200)
    assert len(text.split()) >= 200
    assert "".join(tokens(text)) == text


def test_the_bare_reader_reads_the_whole_stream() -> None:
    with new_home() as home, serve_model([{"words": 30, "end": "over"}]) as (url, _):
        reader = [sys.executable, "-m", "benchmarks.baselines.sse_reader", url, "1"]
        process = subprocess.run(
            reader, env=home.env, cwd=home.work_dir, capture_output=True, text=True, check=True
        )
    assert process.stdout == f"{markdown(30)}\n\nover"

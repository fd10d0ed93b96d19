"""Search in the journals of all sessions: its time and the size of its index at 1 GB of journals.

The journals are written directly. Tool results are parts of Python's standard library, prompts and responses
are parts of its docstrings and of this project's Chinese translations.
"""

import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figure import Figure, percentile
from benchmarks.scale import Scale
from kimi_tui.history.session import SessionStore
from kimi_tui.session_search.session_searcher import FILE_NAME, SessionSearcher

WORKLOAD = "recall"
_TARGET_MS = 100
_MAX_SHARE = 0.2
_SESSION_BYTES = 5_000_000
_CATALOG = Path(__file__).parents[2] / "languages" / "zh.po"
_QUERIES = (
    "login form",
    "socket timeout",
    "the",
    "检查点",
    "会话",
    '"return value"',
    "thread lock acqui",
    "zz9",
)
_RARE_PHRASE = "self.assert"
"""Its words are in many messages of this corpus, but nowhere next to each other."""
_ROUNDS = 5


def measure(scale: Scale) -> list[Figure]:
    """Measure the index and searches."""
    n_bytes = scale.choose(1_000_000_000, 50_000_000, 1_000_000)
    with tempfile.TemporaryDirectory(prefix="kimi-tui-bench-") as folder:
        data_dir = Path(folder)
        journals = _write_sessions(data_dir, n_bytes)
        written = sum(journal.stat().st_size for journal in journals)
        cpu = time.process_time()
        for journal in journals:
            for line in journal.read_bytes().splitlines():
                json.loads(line)
        reading = time.process_time() - cpu
        searcher, cpu = SessionSearcher(data_dir), time.process_time()
        searcher.update()
        building = time.process_time() - cpu
        durations = [_search_ms(searcher, query) for _ in range(_ROUNDS) for query in _QUERIES]
        rare = min(_search_ms(searcher, _RARE_PHRASE) for _ in range(_ROUNDS))
        began = time.perf_counter()
        searcher.update()
        update_ms = (time.perf_counter() - began) * 1e3
        searcher.close()
        index = sum(file.stat().st_size for file in data_dir.glob(f"{FILE_NAME}*"))
    size = f"{written / 1e6:,.0f} MB of journals"
    of = "all journals"
    return [
        Figure(WORKLOAD, f"search in {size}, p95", percentile(durations, 0.95), "ms", target=_TARGET_MS),
        Figure(WORKLOAD, "the slowest search", max(durations), "ms"),
        Figure(WORKLOAD, "a phrase that 5 % of the messages nearly contain", rare, "ms"),
        Figure(WORKLOAD, "looking for new messages", update_ms, "ms"),
        Figure(WORKLOAD, "the index", index / 1e6, "MB", written / 1e6, of, target=_MAX_SHARE),
        Figure(WORKLOAD, "CPU of building it", building, "s", reading, "decoding them as JSON"),
    ]


def _search_ms(searcher: SessionSearcher, query: str) -> float:
    began = time.perf_counter()
    searcher.search(query)
    return (time.perf_counter() - began) * 1e3


def _write_sessions(data_dir: Path, n_bytes: int) -> list[Path]:
    """Write sessions with about `n_bytes` in total. Return their journals."""
    store = SessionStore(data_dir)
    texts, journals, choose = _read_texts(), [], random.Random(1)
    while n_bytes > 0:
        session = store.create(data_dir / "work")
        session.dir.mkdir(parents=True, exist_ok=True)
        with session.context_file.open("w", encoding="utf-8") as journal:
            for number in range(1_000_000):
                journal.writelines(
                    f"{json.dumps(it, ensure_ascii=False)}\n" for it in _step(number, texts, choose)
                )
                if journal.tell() >= min(n_bytes, _SESSION_BYTES):
                    break
            n_bytes -= journal.tell()
        journals.append(session.context_file)
    return journals


def _read_texts() -> tuple[list[str], list[str]]:
    """Return lines of source code, and lines of Chinese."""
    code = [
        line
        for file in sorted(Path(json.__file__).parents[1].glob("*.py"))
        for line in file.read_text("utf-8", "replace").splitlines()
        if line.strip()
    ]
    catalog = _CATALOG.read_text("utf-8").splitlines()
    return code, [line[8:-1] for line in catalog if line.startswith('msgstr "') and len(line) > 20]


def _step(
    number: int, texts: tuple[list[str], list[str]], choose: random.Random
) -> Iterator[dict[str, object]]:
    code, chinese = texts
    yield {"role": "_checkpoint", "id": number, "uid": f"u{number}", "time": float(number), "kind": "step"}
    if number % 10 == 0:
        yield {"role": "user", "content": " ".join(choose.choices(chinese, k=3))}
    start = choose.randrange(len(code) - 200)
    function = {"name": "ReadFile", "arguments": json.dumps({"path": f"src/{code[start].split()[0]}.py"})}
    call = {"id": f"call-{number}", "type": "function", "function": function}
    prose = " ".join([*choose.choices(code, k=4), *choose.choices(chinese, k=2)])
    yield {"role": "assistant", "content": prose, "tool_calls": [call]}
    content = "\n".join(code[start : start + choose.randrange(10, 200)])
    yield {"role": "tool", "content": content, "tool_call_id": f"call-{number}"}

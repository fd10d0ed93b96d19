"""Worker processes for data from the web."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import pytest

from kimi_tui.tools.web.worker_process import WorkerFailed, run_worker
from tests.codebase.test_imports import modules_after

EXTRACTION = "kimi_tui.tools.web.extract_worker"


async def test_the_response_is_returned() -> None:
    html = "<html><head><title> A  b </title></head><body><p>Some words to read.</p></body></html>"
    answer = await run_worker(EXTRACTION, {"html": html, "url": "https://a.test/"}, timeout_s=60)
    assert (answer["title"], answer["is_cut"]) == ("A b", False)
    assert "Some words to read." in answer["text"]


async def test_a_page_fragment_is_read() -> None:
    assert (await run_worker(EXTRACTION, {"html": "<p>words</p>", "url": ""}, timeout_s=60))[
        "text"
    ] == "words"


async def test_the_error_says_why_the_worker_failed() -> None:
    with pytest.raises(WorkerFailed, match="html"):
        await run_worker(EXTRACTION, {}, timeout_s=60)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
async def test_a_late_or_canceled_worker_is_killed() -> None:
    before = _children()  # other tests may have started a process that stays until the end
    with pytest.raises(TimeoutError):
        await run_worker(EXTRACTION, {"html": "", "url": ""}, timeout_s=0)
    assert _children() <= before
    running = asyncio.create_task(run_worker(EXTRACTION, {"html": "", "url": ""}, timeout_s=60))
    while _children() <= before:
        await asyncio.sleep(0)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert _children() <= before


def test_modules_of_the_work_dir_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trafilatura.py").write_text("raise SystemExit('the work dir ran')")
    monkeypatch.chdir(tmp_path)
    answer = asyncio.run(run_worker(EXTRACTION, {"html": "<p>words</p>", "url": ""}, timeout_s=60))
    assert "words" in answer["text"]


def test_web_libraries_are_loaded_on_first_use() -> None:
    loaded = modules_after(
        "import kimi_tui.engine.build.engine, kimi_tui.tools.web.fetch, kimi_tui.tools.web.search"
    )
    assert not loaded & {"httpx", "trafilatura", "ddgs", "lxml", "urllib.request"}


def _children() -> set[int]:
    """Return the ids of child processes that haven't been waited for."""
    found: set[int] = set()
    for thread in Path(f"/proc/{os.getpid()}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            found |= {int(pid) for pid in (thread / "children").read_text().split()}
    return found

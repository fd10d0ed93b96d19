"""The processes that take apart what the web sent."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import pytest

from kimi_tui.tools.web.child import ChildFailed, run_child
from tests.house.test_imports import modules_after

EXTRACTION = "kimi_tui.tools.web.extraction"


async def test_an_answer_comes_back() -> None:
    html = "<html><head><title> A  b </title></head><body><p>Some words to read.</p></body></html>"
    answer = await run_child(EXTRACTION, {"html": html, "url": "https://a.test/"}, seconds=60)
    assert (answer["title"], answer["is_cut"]) == ("A b", False)
    assert "Some words to read." in answer["text"]


async def test_a_fragment_of_a_page_is_read_too() -> None:
    assert (await run_child(EXTRACTION, {"html": "<p>words</p>", "url": ""}, seconds=60))["text"] == "words"


async def test_what_it_fails_of_is_said() -> None:
    with pytest.raises(ChildFailed, match="html"):
        await run_child(EXTRACTION, {}, seconds=60)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
async def test_a_late_or_cancelled_one_is_killed() -> None:
    before = _children()  # of other tests: one that forks the program stays as long as they run
    with pytest.raises(TimeoutError):
        await run_child(EXTRACTION, {"html": "", "url": ""}, seconds=0)
    assert _children() <= before
    running = asyncio.create_task(run_child(EXTRACTION, {"html": "", "url": ""}, seconds=60))
    while _children() <= before:
        await asyncio.sleep(0)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert _children() <= before


def test_the_modules_of_the_work_dir_are_none_of_its_business(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trafilatura.py").write_text("raise SystemExit('the work dir ran')")
    monkeypatch.chdir(tmp_path)
    answer = asyncio.run(run_child(EXTRACTION, {"html": "<p>words</p>", "url": ""}, seconds=60))
    assert "words" in answer["text"]


def test_nothing_of_the_web_is_loaded_before_it_is_used() -> None:
    loaded = modules_after(
        "import kimi_tui.engine.build, kimi_tui.tools.web.fetch, kimi_tui.tools.web.search"
    )
    assert not loaded & {"httpx", "trafilatura", "ddgs", "lxml", "urllib.request"}


def _children() -> set[int]:
    """The processes that this one has started and that haven't been waited for."""
    found: set[int] = set()
    for thread in Path(f"/proc/{os.getpid()}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            found |= {int(pid) for pid in (thread / "children").read_text().split()}
    return found

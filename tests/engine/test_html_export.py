"""A session as an HTML page: everything is in it, nothing runs or is loaded, and its size is limited."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.engine.transfer.html.call_changes import CallDiff, SessionChanges
from kimi_tui.engine.transfer.html.html_export import LIMITS, render_within, to_html
from kimi_tui.engine.transfer.html.session_page import PageBranch, PageContent, render_page
from kimi_tui.history.records import Checkpoint
from kimi_tui.history.session import SessionStore
from kimi_tui.wire.checks import StepCheck
from kimi_tui.wire.commands import Revert
from kimi_tui.wire.events import CheckpointCreated
from kimi_tui.wire.timeline import Reverted
from tests.engine.engine_client import session, text_reply, tool_calls

SECRET = "sk-abcdefghijklmnopqrstuvwxyz0123456789"
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</style></pre><svg/onload=alert(1)>",
    '"><a href="javascript:alert(1)">',
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "![x](http://evil.example/pixel.png)",
    '<https://evil.example/"onmouseover=alert(1)>',
    "```\n</code></pre><script>alert(1)</script>\n```",
    "\x1b]8;;http://evil.example\x07x\x1b]8;;\x07",
    "\u202egnp.exe",
    "&lt;script&gt;",
)


class PageParser(HTMLParser):
    """Collects tags, attributes and text of a page, and checks that elements are nested."""

    VOID = ("meta", "br", "hr")

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1:] == [tag], self.getpos()
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data

    def close(self) -> None:
        super().close()
        assert self._open == []


def parse(page: str) -> PageParser:
    parser = PageParser()
    parser.feed(page)
    parser.close()
    return parser


def page_of(texts: tuple[str, ...]) -> PageContent:
    """Return a page with each of `texts` at every place that shows text."""
    messages: list[Message] = []
    checkpoints: list[tuple[int, Checkpoint]] = []
    by_call: dict[str, list[CallDiff]] = {}
    for number, text in enumerate(texts):
        checkpoints.append((len(messages), Checkpoint(id=number, uid=str(number), kind="user", label=text)))
        arguments = json.dumps({"command": text, text: text})
        call = ToolCall(str(number), FunctionCall(text, arguments))
        content = (ThinkPart(text), TextPart(text))
        messages += [
            user_message(text),
            Message("assistant", content, tool_calls=(call,)),
            Message("tool", (TextPart(text),), tool_call_id=str(number)),
        ]
        by_call[str(number)] = [CallDiff(path=text, change="changed", lines=(f"+{text}", f"-{text}"))]
    current = PageBranch(number=None, messages=tuple(messages), checkpoints=tuple(checkpoints))
    return PageContent(
        title=texts[0],
        session_id="s",
        work_dir=texts[0],
        model=texts[0],
        cost_usd=0.5,
        current=current,
        branches=(
            PageBranch(number=1, reason="user", messages=current.messages, checkpoints=current.checkpoints),
        ),
        changes=SessionChanges(by_call=by_call),
        checks={
            str(number): StepCheck(("pass", "fail", "skip")[number % 3], number == 1, command=text)
            for number, text in enumerate(texts)
        },
    )


@pytest.mark.parametrize("limit", [LIMITS[0], LIMITS[-1], 7])
def test_hostile_text_neither_runs_nor_loads_anything(limit: int) -> None:
    page = parse(render_page(page_of(HOSTILE), limit=limit))
    assert page.tags.isdisjoint({"script", "img", "svg", "iframe", "object", "link", "form", "base"})
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("style", "src")]
    links = {value for name, value in page.attributes if name == "href"}
    assert all(link.startswith(("#", "http://evil.example/", "https://evil.example/")) for link in links)
    assert not any(ord(character) < 32 and character not in "\t\n" for character in page.text)
    if limit > 100:
        assert "<script>alert(1)</script>" in page.text


def test_the_results_of_checks_are_signs_with_words_beside_their_steps() -> None:
    prompt, response = user_message("go"), Message("assistant", (TextPart("Done."),))
    uids = ("ask", "passes", "fails", "unknown")
    current = PageBranch(
        number=None,
        messages=(prompt, response, response, response),
        checkpoints=tuple((at, Checkpoint(id=at, uid=uid, label=uid)) for at, uid in enumerate(uids)),
    )
    checks = {
        "passes": StepCheck("pass", command="pytest -q"),
        "fails": StepCheck("fail", is_first_failure=True, command='pytest "a b"'),
        "unknown": StepCheck("running"),
    }
    text = render_page(replace(page_of(("x",)), current=current, branches=(), checks=checks), limit=1_000)
    page = parse(text)
    titles = [value for name, value in page.attributes if name == "title"]
    passed, failed = "check passed", "the check began to fail here"
    assert sorted(titles) == sorted([passed, passed, failed, failed])  # in the timeline and below the step
    assert 'pytest "a b"' in page.text
    assert page.text.count("✔") == 2
    assert page.text.count("→✗") == 2
    assert "✔" not in parse(render_page(replace(page_of(("x",)), checks={}), limit=1_000)).text


def test_a_policy_forbids_scripts_and_loading() -> None:
    text = render_page(page_of(("hello",)), limit=1_000)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; style-src 'sha256-")


def test_links_of_the_timeline_lead_to_the_conversation() -> None:
    page = parse(render_page(page_of(HOSTILE), limit=1_000))
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {value[1:] for name, value in page.attributes if name == "href" and value[:1] == "#"} <= set(ids)


def test_a_page_of_1000_steps_has_at_most_2_mb() -> None:
    texts = tuple(f"step {number} <tag> & more " + "word " * 400 for number in range(1_000))
    page = render_within(replace(page_of(texts), branches=()))
    assert len(page.encode()) <= 2_000_000
    assert all(f"step {number} &lt;" in page for number in range(1_000))
    parse(page)


async def test_a_session_with_a_branch_is_shown_with_its_diffs_and_without_keys(
    work_dir: Path, data_dir: Path
) -> None:
    (work_dir / "a.txt").write_text("one\n")
    scripts = (
        tool_calls(("WriteFile", {"path": "a.txt", "content": "two\n"})),
        text_reply("Changed it."),
        tool_calls(("Bash", {"command": f"echo API_KEY={SECRET} > key.txt"})),
        text_reply("在另一个分支上"),
        text_reply("Nothing to do."),
    )
    async with session(work_dir, data_dir, *scripts) as client:
        await client.ask("change the file")
        client.events.clear()
        await client.ask("write a key")
        (checkpoint, *_) = client.all(CheckpointCreated)
        (work_dir / "a.txt").write_text("two\nmine\n")
        await client.run_command(Revert(checkpoint.id), Reverted)
        await client.ask("and now?")
    stored = SessionStore(data_dir).latest(work_dir)
    assert stored is not None
    text = to_html(stored, data_dir=data_dir)
    page = parse(text)
    for expected in (
        "change the file",
        "-one",
        "+two",
        "+mine",
        "Branch 1, left by a revert",
        "在另一个分支上",
    ):
        assert expected in page.text, expected
    assert SECRET not in text
    assert "API_KEY=[hidden]" in page.text

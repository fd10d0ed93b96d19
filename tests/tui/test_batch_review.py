"""Edited proposals, diffs in two columns, and the review of several requests."""

import sys
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.frontend.apply_edit import apply_edit
from kimi_tui.tui.approvals.batch_review import REJECTED_AMONG_OTHERS, BatchReview
from kimi_tui.tui.transcript.diff_view import Diff
from kimi_tui.tui.transcript.side_by_side_diff import render_side_by_side
from kimi_tui.tui.widgets.action_button import ActionButton
from kimi_tui.wire.display_blocks import DiffBlock, ShellBlock
from kimi_tui.wire.events import ApprovalResponse, RequestClosed
from kimi_tui.wire.requests import ApprovalRequest, Proposal
from tests.tui.conftest import AppHarness
from tests.tui.test_approvals import build_shell_request, send_requests


def build_edit_request(request_id: str, path: str, old: str, new: str) -> ApprovalRequest:
    return ApprovalRequest(
        request_id,
        request_id,
        "EditFile",
        "edit file",
        f"Edit {path}",
        (DiffBlock(path, old, new),),
        rule=f"Edit({path})",
        proposal=Proposal(new, path),
    )


FIRST = build_edit_request("r1", "auth.py", "old = 1\n", "new = 2\n")
SECOND = build_edit_request("r2", "form.py", "a = 1\n", "b = 1\nc = 2\n")


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Configure an editor that replaces `old` with `new` once the file `until` exists."""

    def install_editor(old: str, new: str, *, status: int = 0, until: Path = tmp_path) -> None:
        program = tmp_path / "editor.py"
        program.write_text(
            "import pathlib, sys, time\n"
            f"pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n"
            f"while not pathlib.Path({str(until)!r}).exists(): time.sleep(0.01)\n"
            "file = pathlib.Path(sys.argv[-1])\n"
            f"file.write_text(file.read_text().replace({old!r}, {new!r}))\n"
            f"sys.exit({status})\n"
        )
        monkeypatch.setenv("VISUAL", f"{sys.executable} -S -E {program}")

    return install_editor


async def test_an_edited_proposal_is_shown_and_sent_on_approval(open_app: Any, editor: Any) -> None:
    editor("2", "3")
    async with open_app() as harness:
        await send_requests(harness, FIRST)
        await harness.driver.press("e")
        await harness.wait_until(lambda: "with your edits" in harness.screen_text())
        assert "new = 3" in harness.screen_text()
        assert "old = 1" in harness.screen_text()
        assert harness.engine.answers == []
        await harness.driver.press("p")  # no rule can cover an edited proposal
        await harness.driver.press("y")
        await harness.wait_until(
            lambda: harness.engine.answers == [ApprovalResponse("r1", "approve", edited="new = 3\n")]
        )


async def test_keys_typed_ahead_of_the_editor_answer_nothing(
    open_app: Any, editor: Any, tmp_path: Path
) -> None:
    editor("2", "3", until=tmp_path / "done")
    async with open_app() as harness:
        await send_requests(harness, FIRST)
        await harness.driver.press("e")
        await harness.wait_until((tmp_path / "begun").exists)
        await harness.driver.press("space", "y", "n", "f", "enter")
        (tmp_path / "done").touch()
        await harness.wait_until(lambda: "with your edits" in harness.screen_text())
        await harness.driver.press("y")
        await harness.wait_until(lambda: harness.engine.answers)
        assert harness.engine.answers == [ApprovalResponse("r1", "approve", edited="new = 3\n")]


async def test_a_command_can_be_edited(open_app: Any, editor: Any) -> None:
    editor("-q", "-x")
    async with open_app() as harness:
        await send_requests(harness, build_shell_request(proposal=Proposal("pytest -q", "command.sh")))
        await harness.driver.press("e")
        await harness.wait_until(lambda: "$ pytest -x" in harness.screen_text())
        await harness.driver.press("y")
        await harness.wait_until(
            lambda: harness.engine.answers == [ApprovalResponse("r1", "approve", edited="pytest -x")]
        )


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [(("x", "x"), 0, "No changes made"), (("2", "3"), 3, "The text is unchanged")],
)
async def test_a_failed_or_empty_edit_leaves_the_request_open(
    open_app: Any, editor: Any, change: tuple[str, str], status: int, message: str
) -> None:
    editor(*change, status=status)
    async with open_app() as harness:
        await send_requests(harness, FIRST)
        await harness.driver.press("e")
        await harness.wait_until(lambda: message in harness.unwrapped_text())
        assert "with your edits" not in harness.screen_text()
        await harness.driver.press("y")
        await harness.wait_until(lambda: harness.engine.answers == [ApprovalResponse("r1", "approve")])


async def test_a_missing_editor_names_the_variable_to_set(
    open_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "/nowhere/editor")
    async with open_app() as harness:
        await send_requests(harness, FIRST)
        await harness.driver.press("e")
        await harness.wait_until(lambda: "Set EDITOR" in harness.unwrapped_text())


async def test_a_request_without_a_proposal_offers_no_editor(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request())
        assert "e edit" not in harness.screen_text()


def test_an_edited_request_is_compared_with_the_file_instead_of_the_proposal() -> None:
    proposed = "1\n2\nthree\n4\nfive\n6\n"
    hunks = (DiffBlock("n", "3\n", "three\n", 3, 3), DiffBlock("n", "5\n", "five\n", 5, 5))
    request = ApprovalRequest("r", "c", "EditFile", "edit file", "", hunks, proposal=Proposal(proposed, "n"))
    (block,) = apply_edit(request, "1\n2\nIII\n4\nfive\n6\n").display
    assert isinstance(block, DiffBlock)
    assert block.old_text == "1\n2\n3\n4\n5\n6\n"
    assert block.new_text == "1\n2\nIII\n4\nfive\n6\n"


def test_an_edited_request_reverses_hunks_that_add_and_remove_lines() -> None:
    before = "a\nb\nc\nd\ne\nf"
    proposed = "new\na\nb\nd\ne\nF\nG"
    hunks = (
        DiffBlock("n", "a\n", "new\na\n", 1, 1),
        DiffBlock("n", "b\nc\nd\n", "b\nd\n", 2, 3),
        DiffBlock("n", "f", "F\nG", 6, 6),
    )
    request = ApprovalRequest("r", "c", "EditFile", "edit file", "", hunks, proposal=Proposal(proposed, "n"))
    (block,) = apply_edit(request, "x").display
    assert isinstance(block, DiffBlock)
    assert block.old_text == before


# two columns


def text_of(lines: Any) -> list[str]:
    return [line.text.rstrip() for line in lines]


def test_two_columns_align_removed_and_added_lines() -> None:
    diff = Diff(DiffBlock("a.txt", "same\nold\nend\n", "same\nnew\nmore\nend\n", 10, 20))
    assert text_of(render_side_by_side(diff, 41)) == [
        "10   same           │ 20   same",
        "11 − old            │ 21 + new",
        "                    │ 22 + more",
        "12   end            │ 23   end",
    ]


def test_rows_of_two_columns_fit_with_wide_characters_and_long_lines() -> None:
    diff = Diff(DiffBlock("a.py", "x = '登录处理程序在会话存在之前'\n" * 3, "y = '" + "long " * 30 + "'\n"))
    for width in (40, 41, 77, 160):
        assert max(line.cells for line in render_side_by_side(diff, width)) <= width


async def test_the_width_decides_the_layout_of_a_diff_and_a_key_toggles_it(open_app: Any) -> None:
    async with open_app(size=(160, 30)) as harness:
        await send_requests(harness, FIRST)
        assert any("old = 1" in line and "new = 2" in line for line in harness.screen_text().splitlines())
        await harness.driver.press("s")
        await harness.driver.pause()
        assert not any("old = 1" in line and "new = 2" in line for line in harness.screen_text().splitlines())


# the review


async def open_review(harness: AppHarness, *requests: ApprovalRequest) -> BatchReview:
    await send_requests(harness, *requests)
    await harness.driver.press("r")
    await harness.wait_until(lambda: isinstance(harness.app.screen, BatchReview))
    await harness.driver.pause()
    assert isinstance(harness.app.screen, BatchReview)
    return harness.app.screen


async def test_each_file_of_a_step_is_accepted_or_rejected_in_one_review(open_app: Any) -> None:
    async with open_app() as harness:
        await open_review(harness, FIRST, SECOND)
        assert "· auth.py" in harness.screen_text()
        assert "+2 −1" in harness.screen_text()
        await harness.driver.press("y")
        await harness.wait_until(lambda: "c = 2" in harness.screen_text())
        await harness.driver.press("n", "enter")
        await harness.wait_until(lambda: len(harness.engine.answers) == 2)
        assert harness.engine.answers == [
            ApprovalResponse("r1", "approve"),
            ApprovalResponse("r2", "reject", REJECTED_AMONG_OTHERS),
        ]


async def test_rejecting_all_sends_no_feedback(open_app: Any) -> None:
    async with open_app() as harness:
        await open_review(harness, FIRST, SECOND)
        await harness.driver.press("x", "enter")
        await harness.wait_until(lambda: len(harness.engine.answers) == 2)
        assert harness.engine.answers == [ApprovalResponse("r1", "reject"), ApprovalResponse("r2", "reject")]


async def test_undecided_requests_stay_open(open_app: Any) -> None:
    async with open_app() as harness:
        await open_review(harness, FIRST, SECOND)
        await harness.driver.press("down", "y", "enter")
        await harness.wait_until(lambda: harness.engine.answers == [ApprovalResponse("r2", "approve")])
        assert "Allow EditFile" in harness.screen_text()


async def test_a_closed_review_answers_nothing(open_app: Any) -> None:
    async with open_app() as harness:
        await open_review(harness, FIRST, SECOND)
        await harness.driver.press("y", "escape")
        await harness.wait_until(lambda: not isinstance(harness.app.screen, BatchReview))
        assert harness.engine.answers == []
        assert harness.screen.state.turn is not None


async def test_a_file_can_be_edited_in_the_review(open_app: Any, editor: Any) -> None:
    editor("c = 2", "c = 7")
    async with open_app(size=(120, 30)) as harness:
        await open_review(harness, FIRST, SECOND)
        await harness.driver.press("down", "e")
        await harness.wait_until(lambda: "c = 7" in harness.screen_text())
        assert "form.py (edited)" in harness.screen_text()
        await harness.driver.press("a", "enter")
        await harness.wait_until(lambda: len(harness.engine.answers) == 2)
        assert harness.engine.answers[1] == ApprovalResponse("r2", "approve", edited="b = 1\nc = 7\n")


async def test_keys_typed_ahead_of_the_editor_decide_nothing_in_a_review(
    open_app: Any, editor: Any, tmp_path: Path
) -> None:
    editor("c = 2", "c = 7", until=tmp_path / "done")
    async with open_app() as harness:
        await open_review(harness, FIRST, SECOND)
        await harness.driver.press("down", "e")
        await harness.wait_until((tmp_path / "begun").exists)
        await harness.driver.press("x", "enter")
        (tmp_path / "done").touch()
        await harness.wait_until(lambda: "c = 7" in harness.screen_text())
        assert "No decisions yet" in harness.screen_text()
        assert harness.engine.answers == []


async def test_a_review_can_be_done_with_the_mouse(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, FIRST, SECOND)
        await harness.driver.click("#approval-review")
        await harness.wait_until(lambda: isinstance(harness.app.screen, BatchReview))
        await harness.driver.pause()
        accept, reject = list(harness.app.screen.query(ActionButton))[:2]
        await harness.driver.click(reject)
        await harness.driver.click(accept)
        await harness.driver.click("#review-answer")
        await harness.wait_until(lambda: len(harness.engine.answers) == 2)
        assert harness.engine.answers[0] == ApprovalResponse("r2", "approve")


async def test_a_review_removes_closed_requests(open_app: Any) -> None:
    async with open_app() as harness:
        await open_review(harness, FIRST, SECOND)
        await harness.send(RequestClosed("r1"))
        assert "auth.py" not in harness.screen_text()
        await harness.send(RequestClosed("r2"))
        await harness.wait_until(lambda: not isinstance(harness.app.screen, BatchReview))


async def test_a_single_request_offers_no_review(open_app: Any) -> None:
    async with open_app() as harness:
        await send_requests(harness, build_shell_request(display=(ShellBlock("make"),)))
        assert "review all" not in harness.screen_text()
        await harness.driver.press("r")
        await harness.driver.pause()
        assert not isinstance(harness.app.screen, BatchReview)

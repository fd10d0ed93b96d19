"""Proposals changed in the user's editor, diffs in two columns, and a step reviewed as a whole."""

import sys
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.tui.approvals.edits import with_edit
from kimi_tui.tui.approvals.review import REJECTED_AMONG_OTHERS, Review
from kimi_tui.tui.buttons import ActionButton
from kimi_tui.tui.transcript.diff import Diff
from kimi_tui.tui.transcript.side_by_side import side_by_side
from kimi_tui.wire.display import DiffBlock, ShellBlock
from kimi_tui.wire.events import ApprovalResponse, RequestClosed
from kimi_tui.wire.requests import ApprovalRequest, Proposal
from tests.tui.conftest import Desk
from tests.tui.test_approvals import asked, shell


def edit(request_id: str, path: str, old: str, new: str) -> ApprovalRequest:
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


FIRST = edit("r1", "auth.py", "old = 1\n", "new = 2\n")
SECOND = edit("r2", "form.py", "a = 1\n", "b = 1\nc = 2\n")


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Makes an editor that puts a text in place of another, once the file `until` is there."""

    def made(old: str, new: str, *, status: int = 0, until: Path = tmp_path) -> None:
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

    return made


async def test_what_the_user_made_of_a_proposal_is_shown_and_sent_when_they_say_yes(
    open_desk: Any, editor: Any
) -> None:
    editor("2", "3")
    async with open_desk() as desk:
        await asked(desk, FIRST)
        await desk.pilot.press("e")
        await desk.until(lambda: "as you changed it" in desk.shown())
        assert "new = 3" in desk.shown()
        assert "old = 1" in desk.shown()
        assert desk.engine.answers == []
        await desk.pilot.press("p")  # a rule can't be made of it
        await desk.pilot.press("y")
        await desk.until(
            lambda: desk.engine.answers == [ApprovalResponse("r1", "approve", edited="new = 3\n")]
        )


async def test_keys_that_the_editor_was_to_get_are_no_answers(
    open_desk: Any, editor: Any, tmp_path: Path
) -> None:
    editor("2", "3", until=tmp_path / "done")
    async with open_desk() as desk:
        await asked(desk, FIRST)
        await desk.pilot.press("e")
        await desk.until((tmp_path / "begun").exists)
        await desk.pilot.press("space", "y", "n", "f", "enter")
        (tmp_path / "done").touch()
        await desk.until(lambda: "as you changed it" in desk.shown())
        await desk.pilot.press("y")
        await desk.until(lambda: desk.engine.answers)
        assert desk.engine.answers == [ApprovalResponse("r1", "approve", edited="new = 3\n")]


async def test_a_command_can_be_changed_too(open_desk: Any, editor: Any) -> None:
    editor("-q", "-x")
    async with open_desk() as desk:
        await asked(desk, shell(proposal=Proposal("pytest -q", "command.sh")))
        await desk.pilot.press("e")
        await desk.until(lambda: "$ pytest -x" in desk.shown())
        await desk.pilot.press("y")
        await desk.until(
            lambda: desk.engine.answers == [ApprovalResponse("r1", "approve", edited="pytest -x")]
        )


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [(("x", "x"), 0, "Nothing was changed"), (("2", "3"), 3, "nothing was taken over")],
)
async def test_an_edit_that_comes_to_nothing_leaves_the_question_open(
    open_desk: Any, editor: Any, change: tuple[str, str], status: int, said: str
) -> None:
    editor(*change, status=status)
    async with open_desk() as desk:
        await asked(desk, FIRST)
        await desk.pilot.press("e")
        await desk.until(lambda: said in desk.words())
        assert "as you changed it" not in desk.shown()
        await desk.pilot.press("y")
        await desk.until(lambda: desk.engine.answers == [ApprovalResponse("r1", "approve")])


async def test_no_editor_says_what_to_set(open_desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "/nowhere/editor")
    async with open_desk() as desk:
        await asked(desk, FIRST)
        await desk.pilot.press("e")
        await desk.until(lambda: "Set EDITOR" in desk.words())


async def test_what_can_not_be_changed_offers_no_editor(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell())
        assert "e edit" not in desk.shown()


def test_an_edited_request_shows_the_change_against_the_file_and_not_against_the_proposal() -> None:
    proposed = "1\n2\nthree\n4\nfive\n6\n"
    hunks = (DiffBlock("n", "3\n", "three\n", 3, 3), DiffBlock("n", "5\n", "five\n", 5, 5))
    request = ApprovalRequest("r", "c", "EditFile", "edit file", "", hunks, proposal=Proposal(proposed, "n"))
    (block,) = with_edit(request, "1\n2\nIII\n4\nfive\n6\n").display
    assert isinstance(block, DiffBlock)
    assert block.old_text == "1\n2\n3\n4\n5\n6\n"
    assert block.new_text == "1\n2\nIII\n4\nfive\n6\n"


def test_an_edited_request_takes_back_hunks_that_add_and_remove_lines() -> None:
    before = "a\nb\nc\nd\ne\nf"
    proposed = "new\na\nb\nd\ne\nF\nG"
    hunks = (
        DiffBlock("n", "a\n", "new\na\n", 1, 1),
        DiffBlock("n", "b\nc\nd\n", "b\nd\n", 2, 3),
        DiffBlock("n", "f", "F\nG", 6, 6),
    )
    request = ApprovalRequest("r", "c", "EditFile", "edit file", "", hunks, proposal=Proposal(proposed, "n"))
    (block,) = with_edit(request, "x").display
    assert isinstance(block, DiffBlock)
    assert block.old_text == before


# two columns


def text_of(lines: Any) -> list[str]:
    return [line.text.rstrip() for line in lines]


def test_two_columns_put_what_goes_beside_what_comes() -> None:
    diff = Diff(DiffBlock("a.txt", "same\nold\nend\n", "same\nnew\nmore\nend\n", 10, 20))
    assert text_of(side_by_side(diff, 41)) == [
        "10   same           │ 20   same",
        "11 − old            │ 21 + new",
        "                    │ 22 + more",
        "12   end            │ 23   end",
    ]


def test_every_row_of_two_columns_fits_also_with_wide_letters_and_long_lines() -> None:
    diff = Diff(DiffBlock("a.py", "x = '登录处理程序在会话存在之前'\n" * 3, "y = '" + "long " * 30 + "'\n"))
    for width in (40, 41, 77, 160):
        assert max(line.cells for line in side_by_side(diff, width)) <= width


async def test_the_width_decides_how_a_diff_is_laid_out_and_a_key_changes_it(open_desk: Any) -> None:
    async with open_desk(size=(160, 30)) as desk:
        await asked(desk, FIRST)
        assert any("old = 1" in line and "new = 2" in line for line in desk.shown().splitlines())
        await desk.pilot.press("s")
        await desk.pilot.pause()
        assert not any("old = 1" in line and "new = 2" in line for line in desk.shown().splitlines())


# the review


async def reviewed(desk: Desk, *requests: ApprovalRequest) -> Review:
    await asked(desk, *requests)
    await desk.pilot.press("r")
    await desk.until(lambda: isinstance(desk.app.screen, Review))
    await desk.pilot.pause()
    assert isinstance(desk.app.screen, Review)
    return desk.app.screen


async def test_each_file_of_a_step_is_accepted_or_rejected_in_one_review(open_desk: Any) -> None:
    async with open_desk() as desk:
        await reviewed(desk, FIRST, SECOND)
        assert "· auth.py" in desk.shown()
        assert "+2 −1" in desk.shown()
        await desk.pilot.press("y")
        await desk.until(lambda: "c = 2" in desk.shown())
        await desk.pilot.press("n", "enter")
        await desk.until(lambda: len(desk.engine.answers) == 2)
        assert desk.engine.answers == [
            ApprovalResponse("r1", "approve"),
            ApprovalResponse("r2", "reject", REJECTED_AMONG_OTHERS),
        ]


async def test_rejecting_all_is_a_plain_no(open_desk: Any) -> None:
    async with open_desk() as desk:
        await reviewed(desk, FIRST, SECOND)
        await desk.pilot.press("x", "enter")
        await desk.until(lambda: len(desk.engine.answers) == 2)
        assert desk.engine.answers == [ApprovalResponse("r1", "reject"), ApprovalResponse("r2", "reject")]


async def test_what_is_undecided_stays_open(open_desk: Any) -> None:
    async with open_desk() as desk:
        await reviewed(desk, FIRST, SECOND)
        await desk.pilot.press("down", "y", "enter")
        await desk.until(lambda: desk.engine.answers == [ApprovalResponse("r2", "approve")])
        assert "Allow EditFile" in desk.shown()


async def test_a_review_that_is_closed_answers_nothing(open_desk: Any) -> None:
    async with open_desk() as desk:
        await reviewed(desk, FIRST, SECOND)
        await desk.pilot.press("y", "escape")
        await desk.until(lambda: not isinstance(desk.app.screen, Review))
        assert desk.engine.answers == []
        assert desk.screen.state.turn is not None


async def test_a_file_can_be_changed_within_the_review(open_desk: Any, editor: Any) -> None:
    editor("c = 2", "c = 7")
    async with open_desk() as desk:
        await reviewed(desk, FIRST, SECOND)
        await desk.pilot.press("down", "e")
        await desk.until(lambda: "c = 7" in desk.shown())
        assert "form.py (yours)" in desk.shown()
        await desk.pilot.press("a", "enter")
        await desk.until(lambda: len(desk.engine.answers) == 2)
        assert desk.engine.answers[1] == ApprovalResponse("r2", "approve", edited="b = 1\nc = 7\n")


async def test_keys_that_the_editor_was_to_get_decide_nothing_in_a_review(
    open_desk: Any, editor: Any, tmp_path: Path
) -> None:
    editor("c = 2", "c = 7", until=tmp_path / "done")
    async with open_desk() as desk:
        await reviewed(desk, FIRST, SECOND)
        await desk.pilot.press("down", "e")
        await desk.until((tmp_path / "begun").exists)
        await desk.pilot.press("x", "enter")
        (tmp_path / "done").touch()
        await desk.until(lambda: "c = 7" in desk.shown())
        assert "Nothing is decided yet" in desk.shown()
        assert desk.engine.answers == []


async def test_the_mouse_does_all_of_a_review(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, FIRST, SECOND)
        await desk.pilot.click("#approval-review")
        await desk.until(lambda: isinstance(desk.app.screen, Review))
        await desk.pilot.pause()
        accept, reject = list(desk.app.screen.query(ActionButton))[:2]
        await desk.pilot.click(reject)
        await desk.pilot.click(accept)
        await desk.pilot.click("#review-answer")
        await desk.until(lambda: len(desk.engine.answers) == 2)
        assert desk.engine.answers[0] == ApprovalResponse("r2", "approve")


async def test_a_review_forgets_what_needs_no_answer_any_more(open_desk: Any) -> None:
    async with open_desk() as desk:
        await reviewed(desk, FIRST, SECOND)
        await desk.say(RequestClosed("r1"))
        assert "auth.py" not in desk.shown()
        await desk.say(RequestClosed("r2"))
        await desk.until(lambda: not isinstance(desk.app.screen, Review))


async def test_one_request_alone_needs_no_review(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, shell(display=(ShellBlock("make"),)))
        assert "review all" not in desk.shown()
        await desk.pilot.press("r")
        await desk.pilot.pause()
        assert not isinstance(desk.app.screen, Review)

"""Folding of large pastes."""

from typing import Any

import pytest
from textual import events

from kimi_tui.frontend.paste_folding import FoldedPastes
from kimi_tui.wire.requests import ApprovalRequest


@pytest.mark.parametrize("text", ["short", "\n".join("x" * 15), "x" * 1000])
def test_small_pastes_are_not_folded(text: str) -> None:
    assert FoldedPastes().fold(text) == text


def test_large_pastes_are_folded_to_a_token() -> None:
    pastes = FoldedPastes()
    assert pastes.fold("\n".join("x" * 16)) == "[paste #1 +16 lines]"
    assert pastes.fold("x" * 1001) == "[paste #2 +1001 characters]"
    assert pastes.fold("x\n" * 16) == "[paste #3 +16 lines]"


def test_tokens_are_unfolded_anywhere_in_the_text() -> None:
    pastes = FoldedPastes()
    text = "line\n" * 20
    token = pastes.fold(text)
    assert pastes.unfold(f"look: {token} and {token}") == f"look: {text} and {text}"


def test_an_unknown_token_is_text() -> None:
    assert FoldedPastes().unfold("[paste #7 +20 lines]") == "[paste #7 +20 lines]"


def test_a_token_is_found_before_the_cursor() -> None:
    pastes = FoldedPastes()
    line = f"ab {pastes.fold('x' * 2000)} c"
    assert pastes.token_before(line, len(line) - 2) == 3
    assert pastes.token_before(line, len(line) - 3) is None
    assert pastes.token_before(line, 2) is None


async def test_text_pasted_while_a_request_has_the_focus_goes_to_the_prompt(open_app: Any) -> None:
    async with open_app() as harness:
        harness.ask(ApprovalRequest("r1", "c1", "Bash", "run command", "Run `ls`"))
        await harness.wait_until(lambda: harness.screen.controllers.session_view.panel.has_class("-open"))
        harness.screen.controllers.session_view.panel.focus()
        await harness.wait_until(lambda: not harness.screen.prompt.editor.has_focus)
        harness.app.post_message(events.Paste("y\nwhat I had copied"))
        await harness.wait_until(lambda: harness.prompt_text == "y\nwhat I had copied")
        assert harness.engine.answers == []

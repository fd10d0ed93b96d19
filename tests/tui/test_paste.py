"""Folding large pastes."""

from typing import Any

import pytest
from textual import events

from kimi_tui.tui.prompt.paste import Pastes
from kimi_tui.wire.requests import ApprovalRequest


@pytest.mark.parametrize("text", ["short", "\n".join("x" * 15), "x" * 1000])
def test_small_pastes_stay_as_they_are(text: str) -> None:
    assert Pastes().fold(text) == text


def test_over_fifteen_lines_or_a_thousand_characters_fold_to_a_token() -> None:
    pastes = Pastes()
    assert pastes.fold("\n".join("x" * 16)) == "[paste #1 +16 lines]"
    assert pastes.fold("x" * 1001) == "[paste #2 +1001 characters]"
    assert pastes.fold("x\n" * 16) == "[paste #3 +16 lines]"


def test_tokens_unfold_wherever_they_stand() -> None:
    pastes = Pastes()
    long = "line\n" * 20
    token = pastes.fold(long)
    assert pastes.unfold(f"look: {token} and {token}") == f"look: {long} and {long}"


def test_a_token_that_nobody_pasted_is_text() -> None:
    assert Pastes().unfold("[paste #7 +20 lines]") == "[paste #7 +20 lines]"


def test_a_token_is_found_before_the_cursor() -> None:
    pastes = Pastes()
    line = f"ab {pastes.fold('x' * 2000)} c"
    assert pastes.token_before(line, len(line) - 2) == 3
    assert pastes.token_before(line, len(line) - 3) is None
    assert pastes.token_before(line, 2) is None


async def test_what_is_pasted_while_an_approval_has_the_focus_is_kept_in_the_prompt(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.ask(ApprovalRequest("r1", "c1", "Bash", "run command", "Run `ls`"))
        await desk.until(lambda: desk.screen.furnished.workbench.panel.has_class("-asking"))
        desk.screen.furnished.workbench.panel.focus()
        await desk.until(lambda: not desk.screen.prompt.editor.has_focus)
        desk.app.post_message(events.Paste("y\nwhat I had copied"))
        await desk.until(lambda: desk.prompt_text == "y\nwhat I had copied")
        assert desk.engine.answers == []

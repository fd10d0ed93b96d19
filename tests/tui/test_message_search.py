"""The search in the messages of all sessions: the dialog, and passages in the prompt."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.tui.dialogs.message_search import MessageSearchDialog
from kimi_tui.tui.dialogs.sessions import SessionsDialog
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.wire.commands import SearchMessages, ShowTimeline
from kimi_tui.wire.message_search import MessageMatch, MessageMatches
from tests.tui.conftest import SESSION, AppHarness
from tests.tui.test_sessions import SessionServer

OTHER = MessageMatch(
    session_id="s2",
    title="blue door",
    work_dir="/work/shop",
    time=1_000.0,
    speaker="agent",
    checkpoint=7,
    passage="The signature was validated twice.\nI removed the second call.",
    matches=((4, 13),),
)
REVERTED = replace(
    OTHER,
    session_id=SESSION.session_id,
    title="fix login",
    speaker="user",
    checkpoint=3,
    is_on_current_branch=False,
    passage="Validate the signature, please",
    matches=((13, 22),),
)
FOUND = MessageMatches("signature", (OTHER, REVERTED))


async def search(harness: AppHarness, words: str = "signature", found: MessageMatches = FOUND) -> None:
    await harness.type_text(f"/search {words}")
    await harness.driver.press("enter")
    await harness.wait_until(lambda: isinstance(harness.app.screen, MessageSearchDialog))
    await harness.wait_until(lambda: SearchMessages(words) in harness.commands_of(SearchMessages))
    harness.engine.send(found)
    await harness.wait_until(lambda: "removed the second call" in harness.screen_text())


async def test_the_highlighted_message_is_shown_with_its_session(open_app: Any) -> None:
    async with open_app() as harness:
        await search(harness)

        screen = harness.screen_text()
        assert "2 messages" in screen
        assert "blue door #7" in screen
        await harness.driver.press("down")
        await harness.wait_until(lambda: "you · fix login #3, other branch" in harness.screen_text())


async def test_enter_opens_the_session_at_the_checkpoint(open_app: Any) -> None:
    server = SessionServer()
    async with open_app(serve_session=server) as harness:
        await search(harness)
        await harness.driver.press("enter")

        await harness.wait_until(lambda: [request.session_id for request in server.requests] == ["s2"])
        assert server.requests[0].checkpoint == 7


async def test_a_message_of_this_session_is_shown_in_the_timeline(open_app: Any) -> None:
    async with open_app() as harness:
        await search(harness)
        await harness.driver.press("down", "enter")

        await harness.wait_until(lambda: harness.commands_of(ShowTimeline))


async def test_a_message_is_quoted_in_the_prompt(open_app: Any) -> None:
    async with open_app() as harness:
        await search(harness)
        await harness.driver.press("ctrl+o")

        await harness.wait_until(lambda: "> I removed the second call." in harness.prompt_text)
        assert harness.prompt_text.startswith("agent, in “blue door #7”:\n> The signature")


async def test_words_after_two_at_signs_insert_a_passage(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("see @@signature")
        await harness.wait_until(lambda: harness.commands_of(SearchMessages))
        assert harness.commands_of(SearchMessages)[-1].text == "signature"
        harness.engine.send(FOUND)
        await harness.wait_until(lambda: "blue door #7" in harness.screen_text())
        await harness.driver.press("tab")

        await harness.wait_until(lambda: "@@" not in harness.prompt_text)
        assert harness.prompt_text.startswith("see agent, in “blue door #7”:\n> The signature")
        assert harness.screen.prompt.editor.cursor_location == (3, 0)


async def test_the_title_says_how_much_is_indexed(open_app: Any) -> None:
    async with open_app() as harness:
        await search(harness, found=MessageMatches("signature", (OTHER,), has_more=True, indexed=0.42))

        assert "the newest message · indexing, 42 %" in harness.screen_text()


async def test_a_message_found_at_the_start_opens_its_session_at_its_checkpoint(open_app: Any) -> None:
    session_server = SessionServer()
    async with open_app(serve_session=session_server, choose_session=SessionRequest()) as harness:
        await harness.wait_until(lambda: isinstance(harness.app.screen, SessionsDialog))
        await harness.type_text("signature")
        await harness.driver.press("ctrl+f")
        await harness.wait_until(lambda: SearchMessages("signature") in harness.commands_of(SearchMessages))
        harness.engine.send(FOUND)
        await harness.wait_until(lambda: "removed the second call" in harness.screen_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: bool(session_server.requests))
        assert session_server.requests == [
            SessionRequest(session_id="s2", work_dir=Path("/work/shop"), checkpoint=7)
        ]

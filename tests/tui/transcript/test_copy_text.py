"""Text can be selected and copied, as displayed or as its source."""

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.tui.transcript.copy_text import extract_code_blocks
from kimi_tui.tui.transcript.transcript import Transcript
from kimi_tui.wire.events import ToolResult, ToolReturn, TurnBegin
from tests.tui.transcript.conftest import OpenTranscript, TranscriptHarness
from tests.tui.transcript.sample_turns import build_replay

RESPONSE = "# Title\n\nsome **bold** words\n\n```py\nx = 1\n```\n\n- a\n- b\n"


def get_selected_text(s: TranscriptHarness) -> str | None:
    return s.app.screen.get_selected_text()


async def drag(s: TranscriptHarness, start: tuple[int, int], end: tuple[int, int]) -> None:
    await s.driver.mouse_down(s.transcript, offset=start)
    await s.driver.hover(s.transcript, offset=end)
    await s.driver.mouse_up(s.transcript, offset=end)
    await s.driver.pause()


async def test_dragging_selects_displayed_text(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(TurnBegin("hello you"), TextPart("the answer is *here*"))
        await drag(s, (6, 4), (17, 4))
        assert get_selected_text(s) == "answer is he"


async def test_a_selection_over_blocks_leaves_out_bars_and_gutters(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 14) as s:
        await s.feed(TurnBegin("hello"), TextPart("```\ncode\n```\n> quoted"))
        await drag(s, (0, 1), (30, 6))
        assert get_selected_text(s) == "you\nhello\n\ncode\n\nquoted"


async def test_a_wrapped_paragraph_copies_as_one_line(open_transcript: OpenTranscript) -> None:
    async with open_transcript(24, 12) as s:
        await s.feed(TextPart("one two three four five six seven"))
        await drag(s, (2, 1), (22, 2))
        assert get_selected_text(s) == "one two three four five six seven"


async def test_a_selection_is_stable_while_text_streams_and_scrolls(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(TextPart("\n\n".join(f"word {n}" for n in range(20))))
        await drag(s, (2, 3), (10, 5))
        before = get_selected_text(s)
        await s.feed(TextPart("\n\nmore\n\nand more"))
        assert get_selected_text(s) == before
        await s.press("home")
        assert get_selected_text(s) == before


async def test_selected_cells_look_selected(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(TextPart("one two three"))
        await drag(s, (6, 1), (8, 1))
        backgrounds = {
            segment.text: segment.style.bgcolor for segment in s.transcript.render_line(1) if segment.style
        }
        assert backgrounds["two"] != backgrounds["one "]


async def test_text_is_selected_with_keys(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(TextPart("one\n\ntwo\n\nthree"))
        s.transcript.select_block(s.transcript.block_at(1))
        await s.press("shift+down", "shift+down", "shift+down")
        assert get_selected_text(s) == "one\n\ntwo"
        await s.press("shift+up", "shift+up")
        assert get_selected_text(s) == "one"


async def test_a_double_click_selects_a_word_and_a_triple_click_the_row(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(TextPart("look at src/shop.py now"))
        await s.driver.click(s.transcript, offset=(12, 1), times=2)
        assert get_selected_text(s) == "src/shop.py"
        await s.driver.click(s.transcript, offset=(12, 1), times=3)
        assert get_selected_text(s) == "look at src/shop.py now"


async def test_the_link_key_cycles_through_links(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 12) as s:
        await s.feed(TextPart("see [docs](https://example.org) and `src/a.py:3`"))
        await s.press("l", "l", "l")
        links = [m.url for m in s.app.posted if isinstance(m, Transcript.LinkClicked)]
        assert links == ["https://example.org", "src/a.py:3", "https://example.org"]


async def test_select_all_copies_the_source_of_all_blocks(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(*build_replay(3), TurnBegin("last"), TextPart(RESPONSE))
        s.transcript.text_select_all()
        text = get_selected_text(s)
        assert text is not None
        assert text.startswith("prompt 0\n\nls\n\nfile-0")
        assert text.endswith(RESPONSE.rstrip("\n"))


async def test_copying_a_block_gives_its_source(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(TurnBegin("hello"), TextPart(RESPONSE[:20]), TextPart(RESPONSE[20:]))
        assert s.transcript.copy_block() == RESPONSE
        s.transcript.select_block(s.transcript.block_at(1))
        await s.press("y")
        assert s.app.posted[-1] == Transcript.CopyRequested("hello", "block")


async def test_copy_prefers_the_text_selection(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(TextPart("one two three"))
        await drag(s, (2, 1), (4, 1))
        await s.press("y")
        message = s.app.posted[-1]
        assert isinstance(message, Transcript.CopyRequested)
        assert (message.text, message.kind) == ("one", "selection")


async def test_code_is_copied_without_its_fence(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(TextPart(RESPONSE))
        await s.press("Y")
        message = s.app.posted[-1]
        assert isinstance(message, Transcript.CopyRequested)
        assert message.text == "x = 1"


def test_code_blocks_are_extracted_from_fences() -> None:
    assert extract_code_blocks("```py\na\n\nb\n```\ntext\n~~~\nc\n~~~\n```\nopen") == ["a\n\nb", "c"]


async def test_the_pager_shows_the_full_text_of_a_call(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(
            ToolCall("c", FunctionCall("Bash", '{"command": "seq 3"}')),
            ToolResult("c", ToolReturn(output="1\n2\n3")),
        )
        s.transcript.select_block("c")
        await s.press("o")
        assert s.app.posted[-1].title == "Bash seq 3"  # type: ignore[attr-defined]
        assert s.app.posted[-1].text == "Bash\n\nseq 3\n\n1\n2\n3"  # type: ignore[attr-defined]


async def test_selecting_blocks_with_keys_posts_messages(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(TurnBegin("hello"), TextPart("one"))
        await s.press("alt+up", "alt+up")
        titles = [m.block.title for m in s.app.posted if isinstance(m, Transcript.BlockSelected) and m.block]
        assert titles == ["response: one", "you: hello"]
        assert s.rows()[1].startswith("▎")


async def test_clicking_a_link_posts_a_message(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 12) as s:
        await s.feed(TextPart("see [docs](https://example.org) and `src/a.py:3`"))
        await s.driver.click(s.transcript, offset=(7, 1))
        await s.driver.click(s.transcript, offset=(18, 1))
        await s.driver.pause()
        links = [m.url for m in s.app.posted if isinstance(m, Transcript.LinkClicked)]
        assert links == ["https://example.org", "src/a.py:3"]

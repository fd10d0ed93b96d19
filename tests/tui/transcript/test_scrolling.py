"""The pane follows the end until the user scrolls up; then the visible text stays in place."""

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.wire.events import ToolOutput, ToolResult, ToolReturn, TurnBegin, TurnEnd
from tests.tui.transcript.conftest import OpenTranscript, TranscriptHarness
from tests.tui.transcript.sample_turns import build_replay, build_turn

PARAGRAPHS = "\n\n".join(f"paragraph {number}" for number in range(30))
NEW_BELOW_LABEL = "↓ new below"


async def test_it_follows_the_end(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        rows = await s.feed(TurnBegin("go"), TextPart(PARAGRAPHS))
        assert rows[-1] == "  paragraph 29"
        assert (await s.feed(TextPart("\n\nmore")))[-1] == "  more"


async def test_a_short_conversation_starts_at_the_top(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        rows = await s.feed(TextPart("short"))
        assert rows[1] == "  short"
        assert not s.transcript.has_new_below


async def test_when_scrolled_up_a_label_announces_new_text(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(TurnBegin("go"), TextPart(PARAGRAPHS))
        before = await s.press("up", "up", "up")
        after = await s.feed(TextPart("\n\nmore\n\nand more"))
        assert after[:-1] == before[:-1]
        assert NEW_BELOW_LABEL in after[-1]
        assert (await s.press("end"))[-1] == "  and more"
        assert not s.transcript.has_new_below


async def test_scrolling_back_to_the_end_follows_again(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(TextPart(PARAGRAPHS))
        await s.press("up", "up", "down", "down")
        assert (await s.feed(TextPart("\n\nmore")))[-1] == "  more"


async def test_clicking_the_label_scrolls_to_the_end(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(TextPart(PARAGRAPHS))
        await s.press("home")
        assert NEW_BELOW_LABEL in (await s.feed(TextPart("\n\nmore")))[-1]
        await s.driver.click(s.transcript, offset=(33, 9))
        await s.driver.pause()
        assert s.rows()[-1] == "  more"


async def test_changes_above_the_screen_do_not_move_the_text(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(ToolCall("c", FunctionCall("Bash", '{"command": "make"}')))
        await s.feed(TextPart(PARAGRAPHS))
        await s.press("home", "pagedown")
        before = s.rows()
        assert "make" not in "".join(before)
        await s.feed(ToolOutput("c", "one\ntwo\nthree\n"))
        assert s.rows()[:-1] == before[:-1]
        await s.feed(ToolResult("c", ToolReturn(output="\n".join("abcdefgh"))))
        assert s.rows()[:-1] == before[:-1]


async def test_the_wheel_scrolls(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(TextPart(PARAGRAPHS))
        before = s.rows()
        await s.driver._post_mouse_events([_wheel_up()], s.transcript, button=0)
        await s.driver.pause()
        assert s.rows()[2:] == before[:-2]


async def test_scrolling_up_shows_every_row_exactly_once(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(*build_replay(40))
        rows = s.rows()
        while (before := s.rows())[2] != "  ▌ prompt 0":
            s.transcript.scroll_rows(-1)
            assert s.rows()[1:] == before[:-1]
            rows.insert(0, s.rows()[0])
        prompts = [row for row in rows if "prompt" in row]
        assert prompts == [f"  ▌ prompt {number}" for number in range(40)]


async def test_page_up_shows_the_same_screens_as_page_down(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(*build_replay(60))
        screens: list[list[str]] = []
        await s.press("home")
        for _ in range(20):
            screens.append(s.rows())
            await s.press("pagedown")
        for rows in reversed(screens):
            assert await s.press("pageup") == rows


async def test_resizing_keeps_the_position(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 10) as s:
        text = " ".join(f"word{number}" for number in range(3_000))
        await s.feed(TextPart(f"{PARAGRAPHS}\n\n{text}\n\n{PARAGRAPHS}"))
        await s.press("home")
        s.transcript.scroll_rows(150)
        first_word = s.rows()[0].split()[0]
        for width in (30, 45, 90, 60):
            await s.driver.resize_terminal(width, 10)
            await s.driver.pause()
            assert first_word in s.rows()[0]


async def test_resizing_at_the_end_stays_at_the_end(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 10) as s:
        await s.feed(TextPart(PARAGRAPHS))
        for size in ((30, 20), (80, 6), (60, 10)):
            await s.driver.resize_terminal(*size)
            await s.driver.pause()
            assert s.rows()[-1] == "  paragraph 29"


async def test_the_scroll_bar_reaches_any_position(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(*build_replay(200))
        s.transcript.scroll_to(y=0)
        assert s.rows()[1:3] == ["  ▌ you", "  ▌ prompt 0"]
        s.transcript.scroll_to(y=s.transcript.virtual_size.height // 2)
        number = next(int(row.split()[-1]) for row in s.rows() if "prompt" in row)
        assert 60 < number < 140
        s.transcript.scroll_to(y=s.transcript.virtual_size.height)
        assert s.rows()[-1] == "  answer 199 paragraph 2"


async def test_jumping_between_prompts(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(*build_replay(5))
        for number in (4, 3, 2):
            assert (await s.press("left_square_bracket"))[2] == f"  ▌ prompt {number}"
        assert (await s.press("right_square_bracket"))[2] == "  ▌ prompt 3"
        for _ in range(5):
            rows = await s.press("left_square_bracket")
        assert rows[2] == "  ▌ prompt 0"
        for _ in range(6):
            rows = await s.press("right_square_bracket")
        assert rows[-1] == "  answer 4 paragraph 2"


async def test_unfolding_at_the_end_keeps_the_head_visible_and_folding_follows_again(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(TextPart(PARAGRAPHS), ToolCall("c", FunctionCall("X", '{"p": 1}')))
        await s.feed(ToolResult("c", ToolReturn(output="\n".join(map(str, range(40))))))
        s.transcript.select_block("c")
        head = next(y for y, row in enumerate(s.rows()) if "✔ X" in row)
        rows = await s.press("enter")
        assert "✔ X" in rows[head]
        await s.press("enter")
        assert (await s.feed(TextPart("more")))[-1] == "  more"


async def test_the_position_is_kept_while_thinking_streams(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(TextPart(PARAGRAPHS), ThinkPart("hm"))
        before = s.rows()
        await s.feed(ThinkPart(" and hm"))
        assert s.rows()[:-1] == before[:-1]
        await s.feed(*build_turn(1))
        assert s.rows()[-1] == "  answer 1 paragraph 2"


def _wheel_up() -> type:
    from textual.events import MouseScrollUp

    return MouseScrollUp


WRAPPED_TURN = (
    TurnBegin("go"),
    TextPart(
        "\n\n".join(f"{number} is a paragraph that needs three rows in a narrow pane" for number in range(20))
    ),
    ToolCall("c", FunctionCall("Bash", '{"command": "make"}')),
    ToolResult("c", ToolReturn(output="made\n")),
    TextPart("That's done, and nothing in this paragraph fits in a single row either."),
    TurnEnd(),
)


async def settle(s: TranscriptHarness) -> int:
    """Wait until all heights are measured. Return the height of the conversation."""
    while s.transcript.is_busy or s.transcript.is_measuring:
        await s.driver.pause(0.01)
    return s.transcript.virtual_size.height


async def test_the_scroll_bar_is_the_same_however_the_messages_arrived(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(30, 10) as s:
        await s.feed(*WRAPPED_TURN)
        together = await settle(s), s.transcript.scroll_y
    async with open_transcript(30, 10) as s:
        for message in WRAPPED_TURN:
            await s.feed(message)
        assert (await settle(s), s.transcript.scroll_y) == together


async def test_scrolling_through_a_turn_does_not_change_its_height(open_transcript: OpenTranscript) -> None:
    async with open_transcript(30, 10) as s:
        await s.feed(*WRAPPED_TURN)
        height = await settle(s)
        for _ in range(8):
            await s.press("pageup")
            assert await settle(s) == height


async def test_heights_are_measured_again_at_a_new_width(open_transcript: OpenTranscript) -> None:
    async with open_transcript(30, 10) as s:
        await s.feed(*WRAPPED_TURN)
        narrow = await settle(s)
    async with open_transcript(60, 10) as s:
        await s.feed(*WRAPPED_TURN)
        assert await settle(s) < narrow
        await s.driver.resize_terminal(30, 10)
        while s.transcript.size.width != 30:
            await s.driver.pause()
        assert await settle(s) == narrow


async def test_blocks_that_were_drawn_as_a_whole_are_not_measured(open_transcript: OpenTranscript) -> None:
    async with open_transcript(80, 20) as s:
        await s.feed(TurnBegin("go"), TextPart("a paragraph"))
        assert not s.transcript.is_measuring
        await s.feed(TextPart("\n\nand another".join(map(str, range(40)))))
        assert s.transcript.is_measuring

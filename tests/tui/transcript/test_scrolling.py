"""The pane follows the end until somebody scrolls up; then nothing moves by itself."""

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.wire.events import ToolOutput, ToolResult, ToolReturn, TurnBegin
from tests.tui.transcript.conftest import OpenStage
from tests.tui.transcript.history import replay, turn

PARAGRAPHS = "\n\n".join(f"paragraph {number}" for number in range(30))
PILL = "↓ new below"


async def test_it_follows_the_end(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        rows = await s.feed(TurnBegin("go"), TextPart(PARAGRAPHS))
        assert rows[-1] == "  paragraph 29"
        assert (await s.feed(TextPart("\n\nmore")))[-1] == "  more"


async def test_a_short_conversation_stands_at_the_top(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        rows = await s.feed(TextPart("short"))
        assert rows[1] == "  short"
        assert not s.transcript.has_new_below


async def test_scrolled_up_it_stays_and_says_that_there_is_more(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(TurnBegin("go"), TextPart(PARAGRAPHS))
        before = await s.press("up", "up", "up")
        after = await s.feed(TextPart("\n\nmore\n\nand more"))
        assert after[:-1] == before[:-1]
        assert PILL in after[-1]
        assert (await s.press("end"))[-1] == "  and more"
        assert not s.transcript.has_new_below


async def test_scrolling_back_to_the_end_follows_again(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(TextPart(PARAGRAPHS))
        await s.press("up", "up", "down", "down")
        assert (await s.feed(TextPart("\n\nmore")))[-1] == "  more"


async def test_a_click_on_the_mark_goes_to_the_end(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(TextPart(PARAGRAPHS))
        await s.press("home")
        assert PILL in (await s.feed(TextPart("\n\nmore")))[-1]
        await s.pilot.click(s.transcript, offset=(33, 9))
        await s.pilot.pause()
        assert s.rows()[-1] == "  more"


async def test_what_changes_above_does_not_move_what_is_read(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(ToolCall("c", FunctionCall("Bash", '{"command": "make"}')))
        await s.feed(TextPart(PARAGRAPHS))
        await s.press("home", "pagedown")
        before = s.rows()
        assert "make" not in "".join(before)
        await s.feed(ToolOutput("c", "one\ntwo\nthree\n"))
        assert s.rows()[:-1] == before[:-1]
        await s.feed(ToolResult("c", ToolReturn(output="\n".join("abcdefgh"))))
        assert s.rows()[:-1] == before[:-1]


async def test_the_wheel_scrolls(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(TextPart(PARAGRAPHS))
        before = s.rows()
        await s.pilot._post_mouse_events([_wheel_up()], s.transcript, button=0)
        await s.pilot.pause()
        assert s.rows()[2:] == before[:-2]


async def test_every_row_of_a_long_history_is_passed_exactly_once_on_the_way_up(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(*replay(40))
        seen = s.rows()
        while (before := s.rows())[2] != "  ▌ prompt 0":
            s.transcript.scroll_rows(-1)
            assert s.rows()[1:] == before[:-1]
            seen.insert(0, s.rows()[0])
        prompts = [row for row in seen if "prompt" in row]
        assert prompts == [f"  ▌ prompt {number}" for number in range(40)]


async def test_pages_up_and_down_meet_the_same_rows(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(*replay(60))
        down: list[list[str]] = []
        await s.press("home")
        for _ in range(20):
            down.append(s.rows())
            await s.press("pagedown")
        for rows in reversed(down):
            assert await s.press("pageup") == rows


async def test_resizing_keeps_the_place(stage: OpenStage) -> None:
    async with stage(60, 10) as s:
        words = " ".join(f"word{number}" for number in range(3_000))
        await s.feed(TextPart(f"{PARAGRAPHS}\n\n{words}\n\n{PARAGRAPHS}"))
        await s.press("home")
        s.transcript.scroll_rows(150)
        first = s.rows()[0].split()[0]
        for width in (30, 45, 90, 60):
            await s.pilot.resize_terminal(width, 10)
            await s.pilot.pause()
            assert first in s.rows()[0]


async def test_resizing_at_the_end_stays_at_the_end(stage: OpenStage) -> None:
    async with stage(60, 10) as s:
        await s.feed(TextPart(PARAGRAPHS))
        for size in ((30, 20), (80, 6), (60, 10)):
            await s.pilot.resize_terminal(*size)
            await s.pilot.pause()
            assert s.rows()[-1] == "  paragraph 29"


async def test_the_scroll_bar_leads_anywhere(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(*replay(200))
        s.transcript.scroll_to(y=0)
        assert s.rows()[1:3] == ["  ▌ you", "  ▌ prompt 0"]
        s.transcript.scroll_to(y=s.transcript.virtual_size.height // 2)
        number = next(int(row.split()[-1]) for row in s.rows() if "prompt" in row)
        assert 60 < number < 140
        s.transcript.scroll_to(y=s.transcript.virtual_size.height)
        assert s.rows()[-1] == "  answer 199 paragraph 2"


async def test_jumping_between_prompts(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(*replay(5))
        for number in (4, 3, 2):
            assert (await s.press("left_square_bracket"))[2] == f"  ▌ prompt {number}"
        assert (await s.press("right_square_bracket"))[2] == "  ▌ prompt 3"
        for _ in range(5):
            rows = await s.press("left_square_bracket")
        assert rows[2] == "  ▌ prompt 0"
        for _ in range(6):
            rows = await s.press("right_square_bracket")
        assert rows[-1] == "  answer 4 paragraph 2"


async def test_unfolding_at_the_end_keeps_the_head_in_sight_and_folding_follows_again(
    stage: OpenStage,
) -> None:
    async with stage(40, 10) as s:
        await s.feed(TextPart(PARAGRAPHS), ToolCall("c", FunctionCall("X", '{"p": 1}')))
        await s.feed(ToolResult("c", ToolReturn(output="\n".join(map(str, range(40))))))
        s.transcript.select_block("c")
        head = next(y for y, row in enumerate(s.rows()) if "✔ X" in row)
        rows = await s.press("enter")
        assert "✔ X" in rows[head]
        await s.press("enter")
        assert (await s.feed(TextPart("more")))[-1] == "  more"


async def test_the_place_is_kept_while_a_thought_runs_and_ends(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(TextPart(PARAGRAPHS), ThinkPart("hm"))
        before = s.rows()
        await s.feed(ThinkPart(" and hm"))
        assert s.rows()[:-1] == before[:-1]
        await s.feed(*turn(1))
        assert s.rows()[-1] == "  answer 1 paragraph 2"


def _wheel_up() -> type:
    from textual.events import MouseScrollUp

    return MouseScrollUp

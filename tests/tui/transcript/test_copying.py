"""Text can be selected and copied, as it is shown or as it was written."""

from kimi_tui.base.content import TextPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.tui.transcript.copying import code_blocks
from kimi_tui.tui.transcript.transcript import Transcript
from kimi_tui.wire.events import ToolResult, ToolReturn, TurnBegin
from tests.tui.transcript.conftest import OpenStage, Stage
from tests.tui.transcript.history import replay

ANSWER = "# Title\n\nsome **bold** words\n\n```py\nx = 1\n```\n\n- a\n- b\n"


def selected(s: Stage) -> str | None:
    return s.host.screen.get_selected_text()


async def drag(s: Stage, start: tuple[int, int], end: tuple[int, int]) -> None:
    await s.pilot.mouse_down(s.transcript, offset=start)
    await s.pilot.hover(s.transcript, offset=end)
    await s.pilot.mouse_up(s.transcript, offset=end)
    await s.pilot.pause()


async def test_dragging_selects_what_is_shown(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(TurnBegin("hello you"), TextPart("the answer is *here*"))
        await drag(s, (6, 4), (17, 4))
        assert selected(s) == "answer is he"


async def test_a_selection_over_blocks_leaves_out_bars_and_gutters(stage: OpenStage) -> None:
    async with stage(40, 14) as s:
        await s.feed(TurnBegin("hello"), TextPart("```\ncode\n```\n> quoted"))
        await drag(s, (0, 1), (30, 6))
        assert selected(s) == "you\nhello\n\ncode\n\nquoted"


async def test_a_wrapped_paragraph_copies_as_one_line(stage: OpenStage) -> None:
    async with stage(24, 12) as s:
        await s.feed(TextPart("one two three four five six seven"))
        await drag(s, (2, 1), (22, 2))
        assert selected(s) == "one two three four five six seven"


async def test_a_selection_stays_on_its_words_while_others_arrive_and_it_scrolls(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(TextPart("\n\n".join(f"word {n}" for n in range(20))))
        await drag(s, (2, 3), (10, 5))
        before = selected(s)
        await s.feed(TextPart("\n\nmore\n\nand more"))
        assert selected(s) == before
        await s.press("home")
        assert selected(s) == before


async def test_selected_cells_look_selected(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(TextPart("one two three"))
        await drag(s, (6, 1), (8, 1))
        grounds = {
            segment.text: segment.style.bgcolor for segment in s.transcript.render_line(1) if segment.style
        }
        assert grounds["two"] != grounds["one "]


async def test_selecting_by_keys(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(TextPart("one\n\ntwo\n\nthree"))
        s.transcript.select_block(s.transcript.block_at(1))
        await s.press("shift+down", "shift+down", "shift+down")
        assert selected(s) == "one\n\ntwo"
        await s.press("shift+up", "shift+up")
        assert selected(s) == "one"


async def test_a_double_click_selects_a_word_and_a_triple_click_the_row(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(TextPart("look at src/shop.py now"))
        await s.pilot.click(s.transcript, offset=(12, 1), times=2)
        assert selected(s) == "src/shop.py"
        await s.pilot.click(s.transcript, offset=(12, 1), times=3)
        assert selected(s) == "look at src/shop.py now"


async def test_links_open_by_keys_one_after_the_other(stage: OpenStage) -> None:
    async with stage(60, 12) as s:
        await s.feed(TextPart("see [docs](https://example.org) and `src/a.py:3`"))
        await s.press("l", "l", "l")
        links = [m.url for m in s.host.posted if isinstance(m, Transcript.LinkClicked)]
        assert links == ["https://example.org", "src/a.py:3", "https://example.org"]


async def test_everything_selected_is_everything_as_it_was_written(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(*replay(3), TurnBegin("last"), TextPart(ANSWER))
        s.transcript.text_select_all()
        text = selected(s)
        assert text is not None
        assert text.startswith("prompt 0\n\nls\n\nfile-0")
        assert text.endswith(ANSWER.rstrip("\n"))


async def test_copying_a_block_gives_its_source(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(TurnBegin("hello"), TextPart(ANSWER[:20]), TextPart(ANSWER[20:]))
        assert s.transcript.copy_block() == ANSWER
        s.transcript.select_block(s.transcript.block_at(1))
        await s.press("y")
        assert s.host.posted[-1] == Transcript.CopyWanted("hello", "block")


async def test_copying_the_selection_comes_first(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(TextPart("one two three"))
        await drag(s, (2, 1), (4, 1))
        await s.press("y")
        message = s.host.posted[-1]
        assert isinstance(message, Transcript.CopyWanted)
        assert (message.text, message.what) == ("one", "selection")


async def test_the_code_of_an_answer_is_copied_without_its_fence(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(TextPart(ANSWER))
        await s.press("Y")
        message = s.host.posted[-1]
        assert isinstance(message, Transcript.CopyWanted)
        assert message.text == "x = 1"


def test_code_blocks_are_found_in_their_fences() -> None:
    assert code_blocks("```py\na\n\nb\n```\ntext\n~~~\nc\n~~~\n```\nopen") == ["a\n\nb", "c"]


async def test_the_pager_gets_everything_of_a_call(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(
            ToolCall("c", FunctionCall("Bash", '{"command": "seq 3"}')),
            ToolResult("c", ToolReturn(output="1\n2\n3")),
        )
        s.transcript.select_block("c")
        await s.press("o")
        assert s.host.posted[-1].title == "Bash seq 3"  # type: ignore[attr-defined]
        assert s.host.posted[-1].text == "Bash\n\nseq 3\n\n1\n2\n3"  # type: ignore[attr-defined]


async def test_blocks_are_chosen_by_keys_and_said_so(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(TurnBegin("hello"), TextPart("one"))
        await s.press("alt+up", "alt+up")
        chosen = [m.block.title for m in s.host.posted if isinstance(m, Transcript.BlockChosen) and m.block]
        assert chosen == ["answer: one", "you: hello"]
        assert s.rows()[1].startswith("▎")


async def test_a_link_that_is_clicked_is_asked_to_be_opened(stage: OpenStage) -> None:
    async with stage(60, 12) as s:
        await s.feed(TextPart("see [docs](https://example.org) and `src/a.py:3`"))
        await s.pilot.click(s.transcript, offset=(7, 1))
        await s.pilot.click(s.transcript, offset=(18, 1))
        await s.pilot.pause()
        links = [m.url for m in s.host.posted if isinstance(m, Transcript.LinkClicked)]
        assert links == ["https://example.org", "src/a.py:3"]

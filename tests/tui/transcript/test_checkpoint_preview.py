"""The conversation pane and the timeline: preview of checkpoints, revert markers, and replays."""

from kimi_tui.base.content_parts import TextPart
from kimi_tui.tui.markdown.styled_line import text_style
from kimi_tui.tui.transcript.document import MAX_UNDONE_BLOCKS
from kimi_tui.wire.events import ReplayBegin, ReplayEnd, StepBegin, TurnBegin, TurnEnd
from kimi_tui.wire.timeline import CheckpointCreated, Reverted
from tests.tui.transcript.conftest import OpenTranscript, TranscriptHarness


def build_turn(number: int, prompt: str, response: str) -> tuple[object, ...]:
    return (
        TurnBegin(prompt),
        CheckpointCreated(number, f"u{number}", "user", prompt),
        StepBegin(1),
        CheckpointCreated(number + 1, f"u{number + 1}", "step", "step 1"),
        TextPart(response),
        TurnEnd(),
    )


def find_dimmed_rows(s: TranscriptHarness) -> list[str]:
    """Return the visible rows whose text is all in the color of undone blocks."""
    color = s.transcript._ensure_style_cache().style(text_style("undone")).color
    rows = []
    for y in range(s.transcript.size.height):
        strip = s.transcript.render_line(y)
        segments = [segment for segment in strip if segment.text.strip()]
        if segments and all(
            segment.style is not None and segment.style.color == color for segment in segments
        ):
            rows.append(strip.text.strip())
    return rows


async def test_rows_after_the_checkpoint_are_dimmed_and_visible(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(60, 12) as s:
        for number in range(0, 40, 2):
            await s.feed(*build_turn(number, f"prompt {number}", f"answer {number}"))
        s.transcript.preview_checkpoint(20)
        await s.driver.pause()
        assert "prompt 18" in s.text()
        assert find_dimmed_rows(s)[:2] == ["▌ you", "▌ prompt 20"]
        s.transcript.preview_checkpoint(21)
        assert find_dimmed_rows(s)[0] == "answer 20"
        s.transcript.preview_checkpoint(None)
        await s.driver.pause()
        assert "answer 38" in s.text()
        assert find_dimmed_rows(s) == []


async def test_ending_the_preview_restores_the_scroll_position(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 12) as s:
        for number in range(0, 40, 2):
            await s.feed(*build_turn(number, f"prompt {number}", f"answer {number}"))
        s.transcript.action_scroll_home()
        before = s.text()
        s.transcript.preview_checkpoint(30)
        assert s.text() != before
        s.transcript.preview_checkpoint(None)
        await s.driver.pause()
        assert s.text() == before


async def test_the_preview_works_in_replayed_history(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 12) as s:
        turns = [message for number in range(0, 40, 2) for message in build_turn(number, f"p {number}", "a")]
        await s.feed(ReplayBegin(), *turns, ReplayEnd())
        s.transcript.preview_checkpoint(10)
        await s.driver.pause()
        assert find_dimmed_rows(s)[:2] == ["▌ you", "▌ p 10"]


async def test_blocks_added_during_the_preview_are_dimmed(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 20) as s:
        await s.feed(*build_turn(0, "one", "first"))
        s.transcript.preview_checkpoint(1)
        await s.feed(*build_turn(2, "two", "second"))
        assert find_dimmed_rows(s) == ["first", "▌ you", "▌ two", "second"]


async def test_an_undone_checkpoint_is_shown_inside_its_marker(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(70, 12) as s:
        await s.feed(*build_turn(0, "one", "first"), *build_turn(2, "two", "second"))
        await s.feed(Reverted(2, 4, "user", 1))
        assert "second" not in s.text()
        s.transcript.preview_checkpoint(3)
        await s.driver.pause()
        assert "second" in s.text()
        s.transcript.preview_checkpoint(None)
        await s.driver.pause()
        assert "second" not in s.text()


async def test_each_clear_removes_the_blocks_since_the_previous_one(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(70, 16) as s:
        await s.feed(*build_turn(0, "one", "first"), Reverted(0, 2, "clear", 0))
        await s.feed(
            *build_turn(3, "two", "second"), *build_turn(5, "three", "third"), Reverted(0, 7, "clear", 1)
        )
        rows = [row for row in s.text().splitlines() if row.strip()]
        assert [row.strip(" ─") for row in rows] == [
            "↶ Conversation cleared ▸ 2 blocks removed",
            "↶ Conversation cleared ▸ 4 blocks removed",
            "Undo with /undo, or with u in the timeline",
        ]


async def test_only_the_latest_undone_blocks_are_kept(open_transcript: OpenTranscript) -> None:
    async with open_transcript(90, 12) as s:
        await s.feed(*build_turn(0, "old", "first"), Reverted(0, 2, "clear", 0))
        assert "▸ 2 blocks removed" in s.text()
        messages = [
            message
            for index in range(MAX_UNDONE_BLOCKS // 2)
            for message in build_turn(3 + 2 * index, "again", "once more")
        ]
        await s.feed(*messages, Reverted(3, 3 + len(messages), "clear", 1))
        assert "· 2 blocks removed" in s.text()
        assert f"▸ {MAX_UNDONE_BLOCKS:,} blocks removed" in s.text()


async def test_a_restarted_replay_replaces_the_conversation(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(90, 20) as s:
        await s.feed(*build_turn(0, "one", "first"), *build_turn(2, "two", "second"))
        await s.feed(Reverted(2, 4, "user", 1), *build_turn(5, "three", "third"))
        await s.feed(
            Reverted(4, 7, "undo", 2),
            ReplayBegin(anew=True),
            *build_turn(0, "one", "first"),
            *build_turn(2, "two", "second"),
            ReplayEnd(),
        )
        text = s.text()
        assert "third" not in text
        assert text.count("first") == text.count("second") == 1
        assert text.index("second") < text.index("Revert undone: checkpoint 4")
        await s.feed(*build_turn(8, "four", "fourth"))
        assert "fourth" in s.text()


async def test_only_the_latest_marker_shows_the_undo_hint(open_transcript: OpenTranscript) -> None:
    async with open_transcript(90, 24) as s:
        await s.feed(
            *build_turn(0, "one", "first"), Reverted(0, 2, "user", 1), *build_turn(3, "two", "second")
        )
        assert s.text().count("/undo") == 1
        await s.feed(Reverted(3, 5, "user", 2, scope="files"))
        assert s.text().count("/undo") == 1
        assert "conversation kept" in s.text()
        assert "second" in s.text()


async def test_clicking_the_hint_and_pressing_u_both_undo(open_transcript: OpenTranscript) -> None:
    async with open_transcript(90, 12) as s:
        await s.feed(*build_turn(0, "one", "first"), Reverted(0, 2, "user", 1))
        rows = s.rows()
        y = next(y for y, row in enumerate(rows) if "/undo" in row)
        await s.driver.click(s.transcript, offset=(rows[y].index("Undo with"), y))
        await s.press("u")
        assert [message.name for message in s.app.commands] == ["undo", "undo"]

"""Replayed history is laid out only as far as it is visible."""

from kimi_tui.base.content_parts import TextPart
from kimi_tui.wire.events import CheckpointCreated, Notification, ReplayBegin, ReplayEnd, Reverted, TurnBegin
from tests.tui.transcript.conftest import OpenTranscript
from tests.tui.transcript.sample_turns import build_replay, build_turn


async def count_layouts_to_open(open_transcript: OpenTranscript, turns: int) -> int:
    async with open_transcript(40, 12) as s:
        rows = await s.feed(*build_replay(turns))
        assert rows[-1] == f"  answer {turns - 1} paragraph 2"
        return s.transcript.render_cache.layout_count


async def test_a_long_history_lays_out_no_more_than_a_short_one(open_transcript: OpenTranscript) -> None:
    assert await count_layouts_to_open(open_transcript, 2_000) == await count_layouts_to_open(
        open_transcript, 20
    )


async def test_history_can_arrive_in_many_batches(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 12) as s:
        messages = build_replay(30)
        for start in range(0, len(messages), 7):
            await s.feed(*messages[start : start + 7])
        assert s.rows()[-1] == "  answer 29 paragraph 2"
        assert (await s.press("home"))[2] == "  ▌ prompt 0"


async def test_live_messages_follow_the_history_of_the_same_batch(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(40, 12) as s:
        rows = await s.feed(*build_replay(3), TurnBegin("now"), TextPart("live"))
        assert [row.strip() for row in rows[-4:]] == ["▌ you", "▌ now", "", "live"]


async def test_a_notice_after_the_replay_is_shown_below_the_history(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 12) as s:
        notice = Notification("n", "task", "lost", "", "", title="A task was lost", body="")
        rows = await s.feed(*build_replay(3), notice)
        assert "A task was lost" in rows[-1]
        assert rows[-3].strip() == "answer 2 paragraph 2"


async def test_going_to_the_start_and_back_lays_out_only_visible_screens(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(*build_replay(1_000))
        before = s.transcript.render_cache.layout_count
        assert (await s.press("home"))[2] == "  ▌ prompt 0"
        await s.press("end")
        assert s.transcript.render_cache.layout_count - before < 40


async def test_streaming_costs_the_same_after_any_history(open_transcript: OpenTranscript) -> None:
    async def count_layouts_of_a_turn(turns: int) -> int:
        async with open_transcript(40, 12) as s:
            await s.feed(*build_replay(turns))
            before = s.transcript.render_cache.layout_count
            for message in build_turn(turns, lines=10):
                await s.feed(message)
            return s.transcript.render_cache.layout_count - before

    assert await count_layouts_of_a_turn(1_000) == await count_layouts_of_a_turn(10)


async def test_the_number_of_cached_layouts_is_limited(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(*build_replay(500))
        while s.rows()[2] != "  ▌ prompt 0":
            s.transcript.scroll_rows(-30)
        assert s.transcript.render_cache.row_count < 5_000


async def test_the_scroll_position_is_kept_when_the_full_history_arrives(
    open_transcript: OpenTranscript,
) -> None:
    everything = build_replay(40)
    end = [
        ReplayBegin(),
        *(message for number in range(35, 40) for message in build_turn(number)),
        ReplayEnd(),
    ]
    async with open_transcript(40, 12) as s:
        await s.feed(*end)
        before = await s.press("pageup", "pageup")
        assert await s.feed(ReplayBegin(anew=True), *everything[1:]) == before
        assert "answer 34" in "".join(await s.press(*["pageup"] * 3))
    async with open_transcript(40, 12) as s:
        before = await s.feed(*end)
        assert await s.feed(ReplayBegin(anew=True), *everything[1:]) == before, "the end is followed"


async def test_the_end_is_shown_after_switching_branches(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(*build_replay(40))
        await s.press("pageup", "pageup")
        rows = await s.feed(Reverted(5, 6, "switch"), ReplayBegin(anew=True), *build_replay(20)[1:])
        assert "Switched to checkpoint" in "".join(rows)


async def test_a_revert_in_history_has_a_marker(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 24) as s:
        await s.feed(
            ReplayBegin(),
            TurnBegin("one"),
            CheckpointCreated(1, "a", "user", ""),
            TextPart("first"),
            TurnBegin("two"),
            CheckpointCreated(2, "b", "user", ""),
            TextPart("second"),
            TurnBegin("three"),
            TextPart("third"),
            Reverted(2, 4, "user"),
            TurnBegin("four"),
            TextPart("fourth"),
            ReplayEnd(),
        )
        text = s.text()
        assert "first" in text
        assert "↶ Reverted to checkpoint 2 ▸ 4 blocks removed" in text
        assert "second" not in text
        assert "third" not in text
        assert "fourth" in text

"""History opens at the cost of what is seen of it."""

from kimi_tui.base.content import TextPart
from kimi_tui.wire.events import CheckpointCreated, Notification, ReplayBegin, ReplayEnd, Reverted, TurnBegin
from tests.tui.transcript.conftest import OpenStage
from tests.tui.transcript.history import replay, turn


async def layouts_to_open(stage: OpenStage, turns: int) -> int:
    async with stage(40, 12) as s:
        rows = await s.feed(*replay(turns))
        assert rows[-1] == f"  answer {turns - 1} paragraph 2"
        return s.transcript.gallery.layouts


async def test_a_long_history_lays_out_no_more_than_a_short_one(stage: OpenStage) -> None:
    assert await layouts_to_open(stage, 2_000) == await layouts_to_open(stage, 20)


async def test_history_may_come_in_many_batches(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        messages = replay(30)
        for start in range(0, len(messages), 7):
            await s.feed(*messages[start : start + 7])
        assert s.rows()[-1] == "  answer 29 paragraph 2"
        assert (await s.press("home"))[2] == "  ▌ prompt 0"


async def test_what_is_live_comes_after_the_history_of_the_same_batch(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        rows = await s.feed(*replay(3), TurnBegin("now"), TextPart("live"))
        assert [row.strip() for row in rows[-4:]] == ["▌ you", "▌ now", "", "live"]


async def test_a_notice_at_the_start_stands_below_the_history(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        notice = Notification("n", "task", "lost", "", "", title="A task was lost", body="")
        rows = await s.feed(*replay(3), notice)
        assert "A task was lost" in rows[-1]
        assert rows[-3].strip() == "answer 2 paragraph 2"


async def test_going_to_the_start_and_back_lays_out_only_the_screens_seen(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(*replay(1_000))
        before = s.transcript.gallery.layouts
        assert (await s.press("home"))[2] == "  ▌ prompt 0"
        await s.press("end")
        assert s.transcript.gallery.layouts - before < 40


async def test_streaming_costs_the_same_below_any_history(stage: OpenStage) -> None:
    async def layouts_of_a_turn(turns: int) -> int:
        async with stage(40, 12) as s:
            await s.feed(*replay(turns))
            before = s.transcript.gallery.layouts
            for message in turn(turns, lines=10):
                await s.feed(message)
            return s.transcript.gallery.layouts - before

    assert await layouts_of_a_turn(1_000) == await layouts_of_a_turn(10)


async def test_only_the_latest_layouts_are_kept(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(*replay(500))
        while s.rows()[2] != "  ▌ prompt 0":
            s.transcript.scroll_rows(-30)
        assert s.transcript.gallery.kept_rows < 5_000


async def test_who_reads_while_a_long_history_catches_up_keeps_their_place(stage: OpenStage) -> None:
    everything = replay(40)
    end = [ReplayBegin(), *(message for number in range(35, 40) for message in turn(number)), ReplayEnd()]
    async with stage(40, 12) as s:
        await s.feed(*end)
        before = await s.press("pageup", "pageup")
        assert await s.feed(ReplayBegin(anew=True), *everything[1:]) == before
        assert "answer 34" in "".join(await s.press(*["pageup"] * 3))
    async with stage(40, 12) as s:
        before = await s.feed(*end)
        assert await s.feed(ReplayBegin(anew=True), *everything[1:]) == before, "the end is followed"


async def test_a_conversation_that_a_jump_led_to_is_shown_from_its_end(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(*replay(40))
        await s.press("pageup", "pageup")
        rows = await s.feed(Reverted(5, 6, "switch"), ReplayBegin(anew=True), *replay(20)[1:])
        assert "switched branches" in "".join(rows)


async def test_a_revert_within_history_is_shown_as_one(stage: OpenStage) -> None:
    async with stage(60, 24) as s:
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
        assert "↶ went back to checkpoint 2 ▸ 4 blocks undone" in text
        assert "second" not in text
        assert "third" not in text
        assert "fourth" in text

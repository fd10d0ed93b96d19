"""The conversation follows the timeline: dimmed after a checkpoint, unfolded where it was undone, rebuilt."""

from kimi_tui.base.content import TextPart
from kimi_tui.tui.markdown.line import ink
from kimi_tui.tui.transcript.chronicle import MOST_UNDONE
from kimi_tui.wire.events import ReplayBegin, ReplayEnd, StepBegin, TurnBegin, TurnEnd
from kimi_tui.wire.timeline import CheckpointCreated, Reverted
from tests.tui.transcript.conftest import OpenStage, Stage


def turn(number: int, words: str, answer: str) -> tuple[object, ...]:
    return (
        TurnBegin(words),
        CheckpointCreated(number, f"u{number}", "user", words),
        StepBegin(1),
        CheckpointCreated(number + 1, f"u{number + 1}", "step", "step 1"),
        TextPart(answer),
        TurnEnd(),
    )


def dimmed(s: Stage) -> list[str]:
    """The rows in sight whose words are all in the colour of what is undone."""
    colour = s.transcript._colours().style(ink("undone")).color
    found = []
    for y in range(s.transcript.size.height):
        strip = s.transcript.render_line(y)
        words = [part for part in strip if part.text.strip()]
        if words and all(part.style is not None and part.style.color == colour for part in words):
            found.append(strip.text.strip())
    return found


async def test_what_comes_after_the_checkpoint_is_dimmed_and_in_sight(stage: OpenStage) -> None:
    async with stage(60, 12) as s:
        for number in range(0, 40, 2):
            await s.feed(*turn(number, f"prompt {number}", f"answer {number}"))
        s.transcript.look_back(20)
        await s.pilot.pause()
        assert "prompt 18" in s.text()
        assert dimmed(s)[:2] == ["▌ you", "▌ prompt 20"]
        s.transcript.look_back(21)
        assert dimmed(s)[0] == "answer 20"
        s.transcript.look_back(None)
        await s.pilot.pause()
        assert "answer 38" in s.text()
        assert dimmed(s) == []


async def test_it_goes_back_to_what_was_being_read(stage: OpenStage) -> None:
    async with stage(60, 12) as s:
        for number in range(0, 40, 2):
            await s.feed(*turn(number, f"prompt {number}", f"answer {number}"))
        s.transcript.action_scroll_home()
        before = s.text()
        s.transcript.look_back(30)
        assert s.text() != before
        s.transcript.look_back(None)
        await s.pilot.pause()
        assert s.text() == before


async def test_a_replayed_conversation_is_followed_as_well(stage: OpenStage) -> None:
    async with stage(60, 12) as s:
        turns = [message for number in range(0, 40, 2) for message in turn(number, f"p {number}", "a")]
        await s.feed(ReplayBegin(), *turns, ReplayEnd())
        s.transcript.look_back(10)
        await s.pilot.pause()
        assert dimmed(s)[:2] == ["▌ you", "▌ p 10"]


async def test_what_arrives_while_one_looks_back_is_dimmed_too(stage: OpenStage) -> None:
    async with stage(60, 20) as s:
        await s.feed(*turn(0, "one", "first"))
        s.transcript.look_back(1)
        await s.feed(*turn(2, "two", "second"))
        assert dimmed(s) == ["first", "▌ you", "▌ two", "second"]


async def test_a_checkpoint_that_was_undone_is_shown_within_its_marker(stage: OpenStage) -> None:
    async with stage(70, 12) as s:
        await s.feed(*turn(0, "one", "first"), *turn(2, "two", "second"))
        await s.feed(Reverted(2, 4, "user", 1))
        assert "second" not in s.text()
        s.transcript.look_back(3)
        await s.pilot.pause()
        assert "second" in s.text()
        s.transcript.look_back(None)
        await s.pilot.pause()
        assert "second" not in s.text()


async def test_each_clear_takes_away_what_was_said_since_the_one_before(stage: OpenStage) -> None:
    async with stage(70, 16) as s:
        await s.feed(*turn(0, "one", "first"), Reverted(0, 2, "clear", 0))
        await s.feed(*turn(3, "two", "second"), *turn(5, "three", "third"), Reverted(0, 7, "clear", 1))
        rows = [row for row in s.text().splitlines() if row.strip()]
        assert [row.strip(" ─") for row in rows] == [
            "↶ cleared the conversation ▸ 2 blocks undone",
            "↶ cleared the conversation ▸ 4 blocks undone",
            "/undo takes it back, and so does u in the timeline",
        ]


async def test_only_what_was_undone_lately_is_kept_to_be_unfolded(stage: OpenStage) -> None:
    async with stage(90, 12) as s:
        await s.feed(*turn(0, "old", "first"), Reverted(0, 2, "clear", 0))
        assert "▸ 2 blocks undone" in s.text()
        many = [
            message for at in range(MOST_UNDONE // 2) for message in turn(3 + 2 * at, "again", "once more")
        ]
        await s.feed(*many, Reverted(3, 3 + len(many), "clear", 1))
        assert "· 2 blocks undone" in s.text()
        assert f"▸ {MOST_UNDONE:,} blocks undone" in s.text()


async def test_a_replay_that_begins_anew_takes_the_place_of_what_was_shown(stage: OpenStage) -> None:
    async with stage(90, 20) as s:
        await s.feed(*turn(0, "one", "first"), *turn(2, "two", "second"))
        await s.feed(Reverted(2, 4, "user", 1), *turn(5, "three", "third"))
        await s.feed(
            Reverted(4, 7, "undo", 2),
            ReplayBegin(anew=True),
            *turn(0, "one", "first"),
            *turn(2, "two", "second"),
            ReplayEnd(),
        )
        text = s.text()
        assert "third" not in text
        assert text.count("first") == text.count("second") == 1
        assert text.index("second") < text.index("undid the jump: back at checkpoint 4")
        await s.feed(*turn(8, "four", "fourth"))
        assert "fourth" in s.text()


async def test_only_the_latest_marker_says_how_to_take_it_back(stage: OpenStage) -> None:
    async with stage(90, 24) as s:
        await s.feed(*turn(0, "one", "first"), Reverted(0, 2, "user", 1), *turn(3, "two", "second"))
        assert s.text().count("/undo") == 1
        await s.feed(Reverted(3, 5, "user", 2, scope="files"))
        assert s.text().count("/undo") == 1
        assert "the conversation stays" in s.text()
        assert "second" in s.text()


async def test_a_click_on_the_hint_asks_for_an_undo_and_so_does_u(stage: OpenStage) -> None:
    async with stage(90, 12) as s:
        await s.feed(*turn(0, "one", "first"), Reverted(0, 2, "user", 1))
        rows = s.rows()
        y = next(y for y, row in enumerate(rows) if "/undo" in row)
        await s.pilot.click(s.transcript, offset=(rows[y].index("takes it back"), y))
        await s.press("u")
        assert [message.name for message in s.host.commands] == ["undo", "undo"]

"""The conversation pane shows what the wire tells."""

import pytest

from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.wire.events import (
    BtwBegin,
    BtwEnd,
    CheckpointCreated,
    CompactionBegin,
    CompactionEnd,
    HookResolved,
    Notification,
    PlanDisplay,
    Reverted,
    SteerInput,
    StepBegin,
    StepInterrupted,
    StepRetry,
    TurnBegin,
    TurnEnd,
    TurnFailure,
)
from tests.tui.transcript.conftest import OpenStage


def seen(rows: list[str]) -> list[str]:
    return [row.strip() for row in rows if row.strip()]


async def test_a_prompt_and_its_answer_stand_below_each_other(stage: OpenStage) -> None:
    async with stage() as s:
        rows = await s.feed(TurnBegin("hello"), StepBegin(1), TextPart("Hi **there**."), TurnEnd())
        assert seen(rows) == ["▌ you", "▌ hello", "Hi there."]


async def test_a_prompt_keeps_its_lines_and_names_its_images(stage: OpenStage) -> None:
    async with stage() as s:
        image = ImageURLPart(MediaURL("data:image/png;base64," + "A" * 4096, "1"))
        rows = await s.feed(TurnBegin((TextPart("one\n  two"), image, TextPart("<system>note</system>"))))
        assert seen(rows) == ["▌ you", "▌ one", "▌   two", "▌ [image #1 png 3 kB]"]


async def test_what_is_said_during_a_turn_is_marked(stage: OpenStage) -> None:
    async with stage() as s:
        rows = await s.feed(TurnBegin("go"), SteerInput("faster"))
        assert seen(rows)[2:] == ["▌ you, meanwhile", "▌ faster"]


async def test_thinking_is_folded_to_its_duration_and_unfolds(stage: OpenStage) -> None:
    async with stage() as s:
        rows = await s.feed(ThinkPart("First this. Then"), ThinkPart(" that."))
        assert seen(rows) == ["▸ thinking  Then that."]
        s.clock.now += 3
        rows = await s.feed(TextPart("Done."))
        assert seen(rows) == ["▸ thought for 3.0 s", "Done."]
        s.transcript.select_block(s.transcript.block_at(1))
        assert seen(await s.press("enter")) == [
            "▎ ▾ thought for 3.0 s",
            "▎   First this. Then that.",
            "Done.",
        ]


async def test_a_retry_drops_what_the_failed_attempt_said(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(TurnBegin("go"), StepBegin(1), TextPart("First step."))
        await s.feed(
            StepBegin(2), ThinkPart("hm"), TextPart("half an ans"), ToolCall("c", FunctionCall("LS"))
        )
        rows = await s.feed(StepRetry(2, 2, 3, 1.5, "APIStatusError", 429))
        assert " ".join(seen(rows)[2:]) == (
            "First step. ⚠ The model's server failed (status 429); trying again in 1.5 s. Attempt 2 of 3."
        )
        rows = await s.feed(StepRetry(2, 3, 3, 0.0, "APITimeoutError"), TextPart("whole answer"))
        assert " ".join(seen(rows)[3:]) == (
            "⚠ The model's server failed (it fell silent); trying again. Attempt 3 of 3. whole answer"
        )


async def test_of_a_connection_that_is_tried_again_and_again_only_the_last_word_stays(
    stage: OpenStage,
) -> None:
    async with stage() as s:
        await s.feed(TurnBegin("go"), StepBegin(1))
        retries = (StepRetry(1, n, 8, 2.0 ** (n - 2), "APIConnectionError") for n in range(2, 6))
        rows = await s.feed(*retries)
        assert " ".join(seen(rows)[2:]) == (
            "⚠ The connection to the model's server failed; trying again in 8.0 s. Attempt 5 of 8."
        )


async def test_the_end_of_a_turn_says_why_it_ended_early(stage: OpenStage) -> None:
    async with stage() as s:
        failure = TurnFailure("The server refused the key.", "Check it with /setup.")
        rows = await s.feed(TurnBegin("a"), TurnEnd("failed", failure=failure))
        assert seen(rows)[2:] == ["✗ The server refused the key.", "Check it with /setup."]
        rows = await s.feed(TurnBegin("b"), TextPart("so"), StepInterrupted(), TurnEnd("cancelled"))
        assert seen(rows)[-2:] == ["so", "⚠ Interrupted."]
        rows = await s.feed(TurnBegin("c"), TurnEnd("max_steps", steps=50))
        assert seen(rows)[-2] == "⚠ The turn stopped after 50 steps."


async def test_a_compaction_tells_what_it_saved(stage: OpenStage) -> None:
    async with stage() as s:
        assert "compacting the context …" in (await s.feed(CompactionBegin()))[1]
        assert "context compacted · 120k → 14.2k tokens" in (await s.feed(CompactionEnd(120_000, 14_210)))[1]
        rows = await s.feed(CompactionBegin(), CompactionEnd())
        assert "ended without a result" in seen(rows)[-1]


async def test_notifications_hooks_and_plans_have_their_place_and_side_questions_another(
    stage: OpenStage,
) -> None:
    async with stage(70, 24) as s:
        rows = await s.feed(
            Notification("n", "", "", "", "", "github failed to start.", "Try /mcp.", "warning"),
            HookResolved("PostToolUse", "Bash", "block", "no shell today", 3),
            HookResolved("PostToolUse", "Bash", "allow", "", 3),
            PlanDisplay("# Plan\n\n1. look", "plan.md"),
            BtwBegin("q", "why?"),
            BtwEnd("q", "because"),
        )
        assert seen(rows) == [
            "⚠ github failed to start.",
            "Try /mcp.",
            "⚠ A hook objects to what Bash did.",
            "no shell today",
            "▎ plan plan.md",
            "▎ Plan",
            "▎",
            "▎ 1. look",
        ]


async def test_a_hook_that_says_no_is_told_in_the_words_of_its_event(stage: OpenStage) -> None:
    async with stage(70, 24) as s:
        events = ("PostToolUse", "Stop", "PreCompact")
        rows = await s.feed(*(HookResolved(event, "it", "block", f"why {event}", 3) for event in events))
        assert seen(rows)[::2] == [
            "⚠ A hook objects to what it did.",
            "⚠ A hook makes the agent go on.",
            "⚠ A hook keeps the conversation as it is.",
        ]


async def test_what_a_result_or_the_turns_end_says_anyway_is_not_said_twice(stage: OpenStage) -> None:
    async with stage(70, 24) as s:
        events = ("PreToolUse", "UserPromptSubmit", "SubagentStart")
        rows = await s.feed(*(HookResolved(event, "it", "block", f"why {event}", 3) for event in events))
        assert seen(rows) == []


async def test_what_a_revert_undid_stays_behind_a_marker(stage: OpenStage) -> None:
    async with stage(80, 24) as s:
        await s.feed(TurnBegin("one"), CheckpointCreated(1, "u1", "user", ""), TextPart("first"), TurnEnd())
        await s.feed(TurnBegin("two"), CheckpointCreated(2, "u2", "user", ""), TextPart("second"), TurnEnd())
        rows = await s.feed(Reverted(2, 3, "user", files=("a.py",)))
        assert seen(rows)[:3] == ["▌ you", "▌ one", "first"]
        assert "↶ went back to checkpoint 2, 1 file changed" in rows[6]
        assert "▸ 2 blocks undone" in rows[6]
        assert "second" not in s.text()
        s.transcript.select_block(s.transcript.block_at(6))
        assert seen(await s.press("enter"))[-1] == "▎ ┆ second"


@pytest.mark.parametrize(
    ("changed", "kept", "words"),
    [
        ((), ("mine.txt",), "1 file left as it is"),
        ((), ("mine.txt", "b"), "2 files left as they are"),
        (("a",), ("mine.txt",), "1 file changed, 1 left as it is"),
    ],
)
async def test_a_marker_says_what_a_revert_left(
    stage: OpenStage, changed: tuple[str, ...], kept: tuple[str, ...], words: str
) -> None:
    async with stage(100, 24) as s:
        await s.feed(TurnBegin("one"), CheckpointCreated(1, "u1", "user", ""), TurnEnd())
        await s.feed(Reverted(1, 3, "user", files=changed, kept=kept))
        assert f"↶ went back to checkpoint 1, {words}" in s.text()


async def test_a_marker_is_read_whole_in_a_narrow_conversation_and_unfolds_by_a_click(
    stage: OpenStage,
) -> None:
    async with stage(30, 24) as s:
        await s.feed(TurnBegin("one"), CheckpointCreated(1, "u1", "user", ""), TextPart("first"), TurnEnd())
        rows = seen(await s.feed(Reverted(1, 3, "user", files=("a.py",))))
        assert "…" not in "".join(rows)
        told = " ".join(row.replace("───", "").strip() for row in rows)
        assert "↶ went back to checkpoint 1, 1 file changed ▸ 2 blocks undone" in told
        assert "/undo takes it back, and so does u in the timeline" in told
        fold = next(y for y, row in enumerate(s.rows()) if "▸" in row)
        await s.pilot.click(s.transcript, offset=(8, fold))
        assert "first" in s.text()


async def test_a_revert_into_a_turn_keeps_its_beginning(stage: OpenStage) -> None:
    async with stage(70, 24) as s:
        await s.feed(TurnBegin("one"), TextPart("kept"), StepBegin(2), CheckpointCreated(7, "u", "step", ""))
        await s.feed(TextPart("undone"), Reverted(7, 8, "dmail"), TextPart("after"))
        rows = seen(s.rows())
        assert rows[2] == "kept"
        assert "D-Mail back to checkpoint 7" in rows[3]
        assert rows[4] == "after"


async def test_a_compaction_hides_nothing(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(CheckpointCreated(1, "u", "user", ""), TurnBegin("one"), TextPart("said"))
        assert "said" in "".join(await s.feed(Reverted(1, 2, "compaction")))


async def test_clearing_empties_the_pane(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(TurnBegin("one"), TextPart("said"))
        s.transcript.clear()
        assert seen(s.rows()) == []
        assert seen(await s.feed(TextPart("again"))) == ["again"]

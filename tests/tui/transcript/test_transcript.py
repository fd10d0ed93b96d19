"""The conversation pane shows the messages of the wire."""

import pytest

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
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
from tests.tui.transcript.conftest import OpenTranscript


def non_blank_rows(rows: list[str]) -> list[str]:
    return [row.strip() for row in rows if row.strip()]


async def test_a_prompt_is_followed_by_its_response(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        rows = await s.feed(TurnBegin("hello"), StepBegin(1), TextPart("Hi **there**."), TurnEnd())
        assert non_blank_rows(rows) == ["▌ you", "▌ hello", "Hi there."]


async def test_a_prompt_keeps_its_lines_and_names_its_images(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        image = ImageURLPart(MediaURL("data:image/png;base64," + "A" * 4096, "1"))
        rows = await s.feed(TurnBegin((TextPart("one\n  two"), image, TextPart("<system>note</system>"))))
        assert non_blank_rows(rows) == ["▌ you", "▌ one", "▌   two", "▌ [image #1 png 3 kB]"]


async def test_steering_messages_are_marked(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        rows = await s.feed(TurnBegin("go"), SteerInput("faster"))
        assert non_blank_rows(rows)[2:] == ["▌ you (steering)", "▌ faster"]


async def test_thinking_is_folded_to_its_duration_and_unfolds(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        rows = await s.feed(ThinkPart("First this. Then"), ThinkPart(" that."))
        assert non_blank_rows(rows) == ["▸ thinking  Then that."]
        s.clock.now += 3
        rows = await s.feed(TextPart("Done."))
        assert non_blank_rows(rows) == ["▸ thought for 3.0 s", "Done."]
        s.transcript.select_block(s.transcript.block_at(1))
        assert non_blank_rows(await s.press("enter")) == [
            "▎ ▾ thought for 3.0 s",
            "▎   First this. Then that.",
            "Done.",
        ]


async def test_a_retry_drops_the_failed_response(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(TurnBegin("go"), StepBegin(1), TextPart("First step."))
        await s.feed(
            StepBegin(2), ThinkPart("hm"), TextPart("half an ans"), ToolCall("c", FunctionCall("LS"))
        )
        rows = await s.feed(StepRetry(2, 2, 3, 1.5, "APIStatusError", 429))
        assert " ".join(non_blank_rows(rows)[2:]) == (
            "First step. ⚠ Model provider error (status 429). Retrying in 1.5 s. Attempt 2 of 3."
        )
        rows = await s.feed(StepRetry(2, 3, 3, 0.0, "APITimeoutError"), TextPart("whole answer"))
        assert " ".join(non_blank_rows(rows)[3:]) == (
            "⚠ Model provider error (timed out). Retrying. Attempt 3 of 3. whole answer"
        )


async def test_repeated_retries_leave_only_the_last_notice(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript() as s:
        await s.feed(TurnBegin("go"), StepBegin(1))
        retries = (StepRetry(1, n, 8, 2.0 ** (n - 2), "APIConnectionError") for n in range(2, 6))
        rows = await s.feed(*retries)
        assert " ".join(non_blank_rows(rows)[2:]) == (
            "⚠ Can't connect to the model provider. Retrying in 8.0 s. Attempt 5 of 8."
        )


async def test_a_notice_during_a_response_does_not_split_it(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(TurnBegin("go"), StepBegin(1), TextPart("The first half"))
        await s.feed(Notification("n", "", "", "", "", "kimi-tui 1.0", ""))
        rows = await s.feed(TextPart(" and the second."))
        assert non_blank_rows(rows)[2:] == ["The first half and the second.", "ℹ kimi-tui 1.0"]
        rows = await s.feed(ToolCall("c", FunctionCall("LS")), TextPart("Next."), TurnEnd())
        assert non_blank_rows(rows)[-1] == "Next."
        assert non_blank_rows(rows)[3] == "ℹ kimi-tui 1.0"


async def test_the_end_of_a_turn_shows_why_it_ended_early(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        failure = TurnFailure("The server refused the key.", "Check it with /setup.")
        rows = await s.feed(TurnBegin("a"), TurnEnd("failed", failure=failure))
        assert non_blank_rows(rows)[2:] == ["✗ The server refused the key.", "Check it with /setup."]
        rows = await s.feed(TurnBegin("b"), TextPart("so"), StepInterrupted(), TurnEnd("cancelled"))
        assert non_blank_rows(rows)[-2:] == ["so", "⚠ Interrupted."]
        rows = await s.feed(TurnBegin("c"), TurnEnd("max_steps", steps=50))
        assert non_blank_rows(rows)[-2] == "⚠ The turn stopped after 50 steps."


async def test_a_compaction_shows_how_much_it_saved(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        assert "Compacting the conversation …" in (await s.feed(CompactionBegin()))[1]
        assert (
            "Conversation compacted · 120k → 14.2k tokens"
            in (await s.feed(CompactionEnd(120_000, 14_210)))[1]
        )
        rows = await s.feed(CompactionBegin(), CompactionEnd())
        assert "Compaction didn't complete" in non_blank_rows(rows)[-1]


async def test_notifications_hooks_and_plans_are_shown_but_not_side_questions(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(70, 24) as s:
        rows = await s.feed(
            Notification("n", "", "", "", "", "github failed to start.", "Try /mcp.", "warning"),
            HookResolved("PostToolUse", "Bash", "block", "no shell today", 3),
            HookResolved("PostToolUse", "Bash", "allow", "", 3),
            PlanDisplay("# Plan\n\n1. look", "plan.md"),
            BtwBegin("q", "why?"),
            BtwEnd("q", "because"),
        )
        assert non_blank_rows(rows) == [
            "⚠ github failed to start.",
            "Try /mcp.",
            "⚠ A hook rejected the result of Bash.",
            "no shell today",
            "▎ plan plan.md",
            "▎ Plan",
            "▎",
            "▎ 1. look",
        ]


async def test_the_notice_of_a_blocking_hook_depends_on_its_event(open_transcript: OpenTranscript) -> None:
    async with open_transcript(70, 24) as s:
        events = ("PostToolUse", "Stop", "PreCompact")
        rows = await s.feed(*(HookResolved(event, "it", "block", f"why {event}", 3) for event in events))
        assert non_blank_rows(rows)[::2] == [
            "⚠ A hook rejected the result of it.",
            "⚠ A hook made the agent continue.",
            "⚠ A hook blocked the compaction.",
        ]


async def test_blocking_hooks_shown_elsewhere_have_no_notice(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(70, 24) as s:
        events = ("PreToolUse", "UserPromptSubmit", "SubagentStart")
        rows = await s.feed(*(HookResolved(event, "it", "block", f"why {event}", 3) for event in events))
        assert non_blank_rows(rows) == []


async def test_reverted_blocks_are_kept_in_a_marker(open_transcript: OpenTranscript) -> None:
    async with open_transcript(80, 24) as s:
        await s.feed(TurnBegin("one"), CheckpointCreated(1, "u1", "user", ""), TextPart("first"), TurnEnd())
        await s.feed(TurnBegin("two"), CheckpointCreated(2, "u2", "user", ""), TextPart("second"), TurnEnd())
        rows = await s.feed(Reverted(2, 3, "user", files=("a.py",)))
        assert non_blank_rows(rows)[:3] == ["▌ you", "▌ one", "first"]
        assert "↶ Reverted to checkpoint 2, 1 file changed" in rows[6]
        assert "▸ 2 blocks removed" in rows[6]
        assert "second" not in s.text()
        s.transcript.select_block(s.transcript.block_at(6))
        assert non_blank_rows(await s.press("enter"))[-1] == "▎ ┆ second"


@pytest.mark.parametrize(
    ("changed", "kept", "summary"),
    [
        ((), ("mine.txt",), "1 file kept"),
        ((), ("mine.txt", "b"), "2 files kept"),
        (("a",), ("mine.txt",), "1 file changed, 1 kept"),
    ],
)
async def test_a_marker_counts_the_files_a_revert_kept(
    open_transcript: OpenTranscript, changed: tuple[str, ...], kept: tuple[str, ...], summary: str
) -> None:
    async with open_transcript(100, 24) as s:
        await s.feed(TurnBegin("one"), CheckpointCreated(1, "u1", "user", ""), TurnEnd())
        await s.feed(Reverted(1, 3, "user", files=changed, kept=kept))
        assert f"↶ Reverted to checkpoint 1, {summary}" in s.text()


async def test_a_marker_names_where_a_replaced_version_is_and_a_click_restores_it(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(80, 24) as s:
        await s.feed(TurnBegin("one"), CheckpointCreated(1, "u1", "user", ""), TurnEnd())
        await s.feed(Reverted(1, 3, "user", files=("a b.py",), saved=("a b.py",)))
        text = " ".join(row.strip() for row in s.rows())
        command = "/revert 3 files --only 'a b.py'"
        assert f"Your version is saved in checkpoint 3: a b.py. To restore it: {command}" in text


async def test_a_marker_wraps_in_a_narrow_pane_and_unfolds_on_click(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(30, 24) as s:
        await s.feed(TurnBegin("one"), CheckpointCreated(1, "u1", "user", ""), TextPart("first"), TurnEnd())
        rows = non_blank_rows(await s.feed(Reverted(1, 3, "user", files=("a.py",))))
        assert "…" not in "".join(rows)
        text = " ".join(row.replace("───", "").strip() for row in rows)
        assert "↶ Reverted to checkpoint 1, 1 file changed ▸ 2 blocks removed" in text
        assert "Undo with /undo, or with u in the timeline" in text
        fold_row = next(y for y, row in enumerate(s.rows()) if "▸" in row)
        await s.driver.click(s.transcript, offset=(8, fold_row))
        assert "first" in s.text()


async def test_a_marker_that_does_not_fit_has_the_undone_blocks_on_their_own_line(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(60, 24) as s:
        await s.feed(TurnBegin("one"), CheckpointCreated(1, "u1", "user", ""), TextPart("first"), TurnEnd())
        rows = non_blank_rows(await s.feed(Reverted(1, 3, "user", files=("a.py", "b.py"))))
        assert [row.strip() for row in rows if "removed" in row] == ["▸ 2 blocks removed"]


async def test_a_revert_into_a_turn_keeps_its_beginning(open_transcript: OpenTranscript) -> None:
    async with open_transcript(70, 24) as s:
        await s.feed(TurnBegin("one"), TextPart("kept"), StepBegin(2), CheckpointCreated(7, "u", "step", ""))
        await s.feed(TextPart("undone"), Reverted(7, 8, "dmail"), TextPart("after"))
        rows = non_blank_rows(s.rows())
        assert rows[2] == "kept"
        assert "D-Mail: reverted to checkpoint 7" in rows[3]
        assert rows[4] == "after"


async def test_a_compaction_hides_nothing(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(CheckpointCreated(1, "u", "user", ""), TurnBegin("one"), TextPart("said"))
        assert "said" in "".join(await s.feed(Reverted(1, 2, "compaction")))


async def test_clearing_empties_the_pane(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(TurnBegin("one"), TextPart("said"))
        s.transcript.clear()
        assert non_blank_rows(s.rows()) == []
        assert non_blank_rows(await s.feed(TextPart("again"))) == ["again"]

"""The panel with the context, the cost and the checkpoints of the session."""

from dataclasses import replace
from typing import Any

import pytest

from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.tui.timeline.changes_dialog import ChangesDialog
from kimi_tui.tui.timeline.plan_dialog import PlanDialog
from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.wire.commands import Compare, Interrupt, PlanRevert, RunSlash, ShowTimeline
from kimi_tui.wire.context_usage import ContextUsagePart, WindowFilling
from kimi_tui.wire.events import StatusUpdate, StepBegin, TurnBegin
from kimi_tui.wire.session import CacheMiss, SlashCommandInfo
from kimi_tui.wire.usage import ModelUsage, UsageReport
from tests.tui.conftest import SESSION, AppHarness
from tests.tui.timeline.sample_timeline import TIMELINE

WITH_COMMANDS = replace(
    SESSION, slash_commands=(SlashCommandInfo("context", "Context"), SlashCommandInfo("cost", "Cost"))
)
CONTEXT = WindowFilling(
    (ContextUsagePart("system prompt", 300, 1), ContextUsagePart("tool results", 49_700, 12)),
    50_000,
    200_000,
    150_000,
    is_measured=True,
)
USAGE = UsageReport(
    (
        ModelUsage("kimi-k2", TokenUsage(40_000, 3_000, 9_000), 0.25),
        ModelUsage("local", TokenUsage(5_000, 200)),
    ),
    TokenUsage(45_000, 3_200, 9_000),
    0.25,
)


async def open_page(harness: AppHarness, command: str) -> None:
    await harness.type_text(f"/{command}")
    await harness.driver.press("enter")
    await harness.wait_until(lambda: "Checkpoints" in harness.screen_text())


def row_of(harness: AppHarness, text: str) -> int:
    return next(y for y, line in enumerate(harness.screen_text().split("\n")) if text in line)


async def click_text(harness: AppHarness, text: str) -> None:
    row = row_of(harness, text)
    await harness.driver.click(offset=(harness.screen_text().split("\n")[row].index(text) + 1, row))


async def test_the_context_is_shown_by_kind_with_the_threshold_that_applies(open_app: Any) -> None:
    async with open_app(session=WITH_COMMANDS, size=(80, 24)) as harness:
        await open_page(harness, "context")
        assert harness.commands_of(RunSlash) == [RunSlash("context")]
        harness.engine.send(CONTEXT)
        await harness.wait_until(lambda: "50k of 200k tokens (25%)" in harness.screen_text())
        assert "compacts at 150k (75%)" in harness.screen_text()
        lines = harness.screen_text().split("\n")
        assert "system prompt, AGENTS.md   300  <1%" in lines[row_of(harness, "system prompt")]
        assert "tool results (12)        49.7k  25%" in lines[row_of(harness, "tool results")]
        assert "150k  75%" in lines[row_of(harness, "free")]
        bar = lines[row_of(harness, "░░░")].strip("│ ")
        assert bar.index("│") == round(len(bar) * 0.75)


async def test_the_conversation_does_not_contain_the_context(open_app: Any) -> None:
    async with open_app(session=WITH_COMMANDS) as harness:
        await open_page(harness, "context")
        harness.engine.send(CONTEXT)
        await harness.wait_until(lambda: "tool results (12)" in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "tool results" not in harness.screen_text())
        assert harness.app.focused is harness.screen.prompt.editor


async def test_the_cost_is_shown_by_model_with_the_cache_misses(open_app: Any) -> None:
    async with open_app(session=WITH_COMMANDS, size=(80, 24)) as harness:
        await harness.send(StatusUpdate(cache_miss=CacheMiss(68_000, "model")))
        await open_page(harness, "cost")
        harness.engine.send(USAGE)
        await harness.wait_until(lambda: "$0.25" in harness.screen_text())
        lines = [" ".join(line.strip("│ ").split()) for line in harness.screen_text().split("\n")]
        assert "model input cache reads cache writes output cost" in lines
        assert "kimi-k2 40k 9k 0 3k $0.25" in lines
        assert "local 5k 0 0 200 no price" in lines
        assert "total 45k 9k 0 3.2k $0.25" in lines
        assert "68k the model changed" in lines


async def test_usage_from_before_it_was_counted_by_model_has_its_own_line(open_app: Any) -> None:
    async with open_app(session=WITH_COMMANDS, size=(80, 24)) as harness:
        await open_page(harness, "cost")
        harness.engine.send(replace(USAGE, usage=TokenUsage(145_000, 4_200, 9_000), cost_usd=0.75))
        await harness.wait_until(lambda: "earlier, all models" in harness.screen_text())
        line = harness.screen_text().split("\n")[row_of(harness, "earlier")]
        assert " ".join(line.strip("│ ").split()) == "earlier, all models 100k 0 0 1k $0.50"


async def test_values_are_requested_again_when_they_change(open_app: Any) -> None:
    async with open_app(session=WITH_COMMANDS) as harness:
        await open_page(harness, "context")
        await harness.send(TurnBegin("go"), StepBegin(1), StatusUpdate(context_tokens=60_000))
        await harness.wait_until(lambda: len(harness.commands_of(RunSlash)) > 1)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_checkpoints_have_the_keys_of_the_timeline(open_app: Any, size: tuple[int, int]) -> None:
    async with open_app(size=size) as harness:
        await open_page(harness, "checkpoints")
        await harness.wait_until(lambda: harness.commands_of(ShowTimeline))
        harness.engine.send(TIMELINE)
        await harness.wait_until(lambda: "12 · All tests pass" in harness.screen_text())
        await harness.driver.press("down", "space")
        await harness.wait_until(lambda: harness.commands_of(Compare) == [Compare(11, None)])
        await harness.wait_until(lambda: isinstance(harness.app.screen, ChangesDialog))
        await harness.driver.press("escape", "enter")
        await harness.wait_until(lambda: harness.commands_of(PlanRevert) == [PlanRevert(11)])
        await harness.driver.press("escape", "t")
        await harness.wait_until(lambda: isinstance(harness.app.focused, TimelineView))
        await harness.wait_until(lambda: "Checkpoints" not in harness.screen_text())
        assert "EditFile src/auth.py" in harness.screen_text()


async def test_the_files_that_are_not_covered_are_printed(open_app: Any) -> None:
    async with open_app() as harness:
        await open_page(harness, "checkpoints")
        harness.engine.send(TIMELINE)
        await harness.wait_until(lambda: "12 · All tests pass" in harness.screen_text())
        await harness.driver.press("u")
        await harness.wait_until(lambda: harness.commands_of(RunSlash) == [RunSlash("checkpoints")])
        assert harness.app.focused is harness.screen.prompt.editor


async def test_the_mouse_opens_pages_and_checkpoints_and_closes_the_panel(open_app: Any) -> None:
    async with open_app(session=WITH_COMMANDS, size=(80, 24)) as harness:
        await harness.send(StatusUpdate(context_tokens=50_000))
        await click_text(harness, "50k/200k")
        await harness.wait_until(lambda: "Counting" in harness.screen_text())
        await click_text(harness, " Cost ")
        await harness.wait_until(lambda: "no price" in harness.screen_text())
        await click_text(harness, " Checkpoints ")
        harness.engine.send(TIMELINE)
        await harness.wait_until(lambda: "11 · EditFile" in harness.screen_text())
        await click_text(harness, "11 · EditFile")
        await harness.driver.pause()
        assert harness.commands_of(PlanRevert) == []
        await click_text(harness, "11 · EditFile")
        await harness.wait_until(lambda: isinstance(harness.app.screen, PlanDialog))
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.app.screen is harness.screen)
        await click_text(harness, "✕")
        await harness.wait_until(lambda: "Checkpoints" not in harness.screen_text())
        assert harness.app.focused is harness.screen.prompt.editor


async def test_escape_closes_the_panel_before_it_interrupts(open_app: Any) -> None:
    async with open_app(session=WITH_COMMANDS) as harness:
        await harness.send(TurnBegin("go"), StepBegin(1))
        await open_page(harness, "cost")
        await harness.driver.press("ctrl+g", "escape")
        await harness.wait_until(lambda: "Checkpoints" not in harness.screen_text())
        assert harness.commands_of(Interrupt) == []


async def test_compaction_starts_from_the_panel(open_app: Any) -> None:
    async with open_app(session=WITH_COMMANDS) as harness:
        await open_page(harness, "context")
        await harness.driver.press("c")
        await harness.wait_until(lambda: harness.commands_of(RunSlash)[-1] == RunSlash("compact"))
        assert "Checkpoints" not in harness.screen_text()


async def test_a_page_is_copied_as_text(open_app: Any) -> None:
    async with open_app(session=WITH_COMMANDS) as harness:
        await open_page(harness, "cost")
        harness.engine.send(USAGE)
        await harness.wait_until(lambda: "$0.25" in harness.screen_text())
        await harness.driver.press("y")
        await harness.wait_until(lambda: "kimi-k2" in (harness.clipboard.text or ""))

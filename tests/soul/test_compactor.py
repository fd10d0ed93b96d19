"""Compaction of conversations that outgrow the context window."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from kimi_tui.base.compaction_markers import SUMMARY_REQUEST, is_summary
from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import APIConnectionError, APIStatusError, ContextTooLong
from kimi_tui.base.message import FunctionCall, Message, ToolCall
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.compaction.fallback import FallbackCompaction
from kimi_tui.compaction.hide_tool_results import ToolResultHidingCompaction
from kimi_tui.compaction.hiding_then_summary import HidingThenSummaryCompaction
from kimi_tui.compaction.llm_summary import LLMSummaryCompaction
from kimi_tui.compaction.strategy import CompactionContext, CompactionStrategy
from kimi_tui.compaction.trigger import CompactionTrigger
from kimi_tui.history.context import Context
from kimi_tui.history.message_history import complete_tool_results
from kimi_tui.history.token_estimate import estimate_tokens
from kimi_tui.llm.provider import LLM, StreamPart, ToolSchema
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.compactor import CompactionConfig
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.soul import Soul
from kimi_tui.soul.usage_totals import UsageTotals
from kimi_tui.tools.dmail import DMailbox, SendDMail
from kimi_tui.tools.tool import CallContext, Tool, build_json_schema, success
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.event_sender import EventList
from kimi_tui.wire.events import (
    CheckpointCreated,
    CompactionBegin,
    CompactionEnd,
    Notification,
    Reverted,
    StepBegin,
    StepInterrupted,
    StepRetry,
    ToolReturn,
)
from tests.soul.fake_model import FakeModel

LONG_STEPS = int(os.environ.get("KIMI_TUI_LONG_STEPS", "0"))
"""Number of steps of the long turn, with a context window of 100,000 tokens; `make faults` sets 2,000."""
TOO_LONG = ContextTooLong("prompt is too long", status_code=400)
TODO = TodoItem("find the leak", "in_progress")


class WorkingModel(FakeModel):
    """Takes `steps` steps of two calls each, then ends its turn. Answers requests for a summary.

    Like a server, it rejects requests that exceed its context window; invalid requests fail the test.
    """

    model_name = "worker"

    def __init__(
        self, *, window: int, steps: int, failures: Sequence[Exception] = (), dmail_at: int = 0
    ) -> None:
        super().__init__()
        self.window = window
        self.steps = steps
        self.dmail_at = dmail_at
        """The step in which it sends a D-Mail to the oldest checkpoint it can see; 0 for none."""
        self.failures = list(failures)
        """Errors raised for requests for a summary."""
        self.summaries: list[str] = []
        self.before_summary: Callable[[], Any] | None = None

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        assert complete_tool_results(history) == list(history)
        assert history[-1].role != "assistant"
        weight = estimate_tokens(history)
        if weight > self.window:
            raise TOO_LONG
        if history[0].text.startswith(SUMMARY_REQUEST):
            if self.before_summary is not None:
                await self.before_summary()
            if self.failures:
                raise self.failures.pop(0)
            self.summaries.append(history[0].text)
            yield TextPart(f"summary {len(self.summaries)}")
            return
        self.requests.append(tuple(history))
        number = len(self.requests)
        yield TextPart(f"step {number}")
        if number == self.dmail_at:
            notes = [it.text.removeprefix("<system>CHECKPOINT ") for it in history if "CHECKPOINT" in it.text]
            checkpoint = notes[0].removesuffix("</system>")
            yield ToolCall(
                "m", FunctionCall("SendDMail", f'{{"message": "use tabs", "checkpoint_id": {checkpoint}}}')
            )
        elif number % self.steps:
            for name in "ab":
                yield ToolCall(
                    f"{name}{number}", FunctionCall("Look", f'{{"path": "{number % 7}{name}.py"}}')
                )
        yield TokenUsage(weight, 10)


class LookParams(BaseModel):
    path: str = ""


class Look(Tool[LookParams]):
    """Returns `size` letters."""

    name = "Look"
    Params = LookParams

    def __init__(self, size: int) -> None:
        self._size = size

    @property
    def schema(self) -> ToolSchema:
        return ToolSchema("Look", "", build_json_schema(LookParams))

    async def run(self, params: LookParams, call: CallContext) -> ToolReturn:
        return success("x" * self._size)


class Mail(SendDMail):
    @property
    def schema(self) -> ToolSchema:
        return ToolSchema("SendDMail", "", build_json_schema(self.Params))


class FixedTodos:
    """A todo list that stays as it is."""

    items = (TODO,)

    async def set(self, items: tuple[TodoItem, ...]) -> None:
        raise AssertionError("nothing changes the list")


class SoulHarness:
    def __init__(
        self,
        folder: Path,
        *,
        strategy: CompactionStrategy | None = None,
        window: int = 4000,
        server_window: int | None = None,
        steps: int = 300,
        size: int = 250,
        failures: Sequence[Exception] = (),
        max_attempts: int = 1,
        dmail_at: int = 0,
    ) -> None:
        self.model = WorkingModel(
            window=server_window or window, steps=steps, failures=failures, dmail_at=dmail_at
        )
        mailbox = DMailbox()
        tools: dict[str, Tool[Any]] = {"Look": Look(size)}
        if dmail_at:
            tools["SendDMail"] = Mail(mailbox)
        self.context = Context(folder / "context.jsonl")
        self.events = EventList()
        self.soul = Soul(
            agent=Agent(name="a", system_prompt="Be good.", toolset=Toolset(tools)),
            context=self.context,
            runtime_settings=RuntimeSettings(
                LLM(chat_provider=self.model, kind="scripted", name="m", max_context_size=window)
            ),
            limits=Limits(max_attempts=max_attempts, max_steps=steps + 1),
            dmailbox=mailbox,
            usage_totals=UsageTotals(),
            sender=self.events,
            compaction=CompactionConfig(
                strategy=strategy or LLMSummaryCompaction(),
                trigger=CompactionTrigger(reserved_context_size=500),
                todos=FixedTodos(),
            ),
        )

    async def run_turn(self, prompt: str, *, timeout_s: int = 60) -> None:
        async with asyncio.timeout(timeout_s):
            await self.soul.run(prompt)

    def of(self, *kinds: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kinds)]

    @property
    def compactions(self) -> list[CompactionEnd]:
        """The compactions that shortened the conversation."""
        return [end for end in self.of(CompactionEnd) if end.tokens_after is not None]

    def texts(self) -> list[str]:
        return [message.text for message in self.context.history]


STRATEGIES = [
    LLMSummaryCompaction(),
    ToolResultHidingCompaction(),
    HidingThenSummaryCompaction(),
    FallbackCompaction(),
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda it: type(it).__name__)
async def test_a_long_turn_continues_and_keeps_the_request_and_the_todos(
    tmp_path: Path, strategy: CompactionStrategy
) -> None:
    steps, window, size = (LONG_STEPS, 100_000, 5000) if LONG_STEPS else (300, 4000, 250)
    session = SoulHarness(tmp_path, strategy=strategy, steps=steps, window=window, size=size)
    await session.run_turn("find out why it leaks", timeout_s=max(60, steps))

    assert len(session.model.requests) == steps
    assert len(session.compactions) >= 10
    assert len(session.of(CompactionBegin)) == len(session.of(CompactionEnd))
    for number, sent in enumerate(session.model.requests):
        texts = [message.text for message in sent]
        assert texts.count("find out why it leaks") == 1, f"request {number}"
    shortened = [sent for sent in session.model.requests if any("was compacted" in it.text for it in sent)]
    assert len(shortened) > steps // 2
    assert all(any("find the leak" in it.text for it in sent) for sent in shortened)

    restored = Context(tmp_path / "context.jsonl")
    await restored.restore()
    assert list(restored.history) == list(session.context.history)
    assert not restored.repairs


async def test_most_steps_need_no_compaction(tmp_path: Path) -> None:
    for name, strategy in enumerate(STRATEGIES):
        folder = tmp_path / str(name)
        folder.mkdir()
        session = SoulHarness(folder, strategy=strategy, steps=200)
        await session.run_turn("go")
        assert len(session.of(CompactionBegin)) < 60, type(strategy).__name__


async def test_a_compaction_creates_a_branch_and_a_checkpoint_and_reports_tokens(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, steps=30)
    await session.run_turn("go")

    kinds = [type(event).__name__ for event in session.events]
    begin = kinds.index("CompactionBegin")
    assert kinds[begin : begin + 4] == ["CompactionBegin", "Reverted", "CheckpointCreated", "CompactionEnd"]
    reverted, checkpoint, end = session.events[begin + 1 : begin + 4]
    assert (reverted.to, reverted.reason, reverted.branch) == (0, "compaction", 1)
    assert checkpoint.kind == "compaction"
    assert end.tokens_before >= 3400 > end.tokens_after > 0
    branch = await session.context.read_branch(1)
    assert branch.history[0].text == "go"
    assert len(branch.history) > 20


async def test_touched_files_are_carried_over_several_compactions(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, steps=200)
    await session.run_turn("go")
    assert len(session.compactions) > 3
    (note,) = [text for text in session.texts() if "Files in play" in text]
    assert all(f"- {n}{name}.py" in note for n in range(7) for name in "ab")


async def test_an_earlier_turn_is_summarized_and_the_current_request_kept(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, steps=25)
    await session.run_turn("the first request")
    await session.run_turn("the second request")
    assert len(session.compactions) >= 2
    assert "the second request" in session.texts()
    assert "the first request" not in session.texts()
    assert any("the first request" in question for question in session.model.summaries)


async def test_a_context_too_long_error_triggers_a_compaction(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, window=100_000, server_window=3000, steps=40)
    await session.run_turn("go")
    assert len(session.model.requests) == 40
    assert session.compactions
    assert [event.n for event in session.of(StepBegin)] == list(range(1, 41))
    assert not session.of(StepInterrupted)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda it: type(it).__name__)
async def test_a_result_larger_than_the_context_window_does_not_end_the_turn(
    tmp_path: Path, strategy: CompactionStrategy
) -> None:
    session = SoulHarness(tmp_path, strategy=strategy, window=3000, steps=5, size=9000)
    await session.run_turn("go")
    assert len(session.model.requests) == 5


async def test_a_request_longer_than_the_context_window_fails_with_a_hint(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, window=3000, steps=5)
    with pytest.raises(ContextTooLong, match="too long") as raised:
        await session.run_turn("x" * 20_000)
    assert "larger context" in raised.value.hint
    assert session.texts()[0] == "x" * 20_000
    assert len(session.of(CompactionBegin)) == len(session.of(CompactionEnd)) <= 2


async def test_if_the_summary_fails_older_messages_are_dropped(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, steps=30, failures=[APIStatusError("no credit", status_code=402)])
    await session.run_turn("go")
    assert len(session.model.requests) == 30
    (warning,) = session.of(Notification)
    assert "no credit" in warning.body
    assert warning.severity == "warning"
    assert "go" in session.texts()


async def test_a_failed_summary_is_retried_first(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, steps=30, failures=[APIConnectionError("gone")], max_attempts=2)
    await session.run_turn("go")
    assert [retry.error_type for retry in session.of(StepRetry)] == ["APIConnectionError"]
    assert not session.of(Notification)
    assert any(is_summary(message) for message in session.context.history)


class FailingStrategy:
    """Custom strategy that raises an error."""

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        raise KeyError("oops")


class InvalidStrategy:
    """Custom strategy that drops almost everything."""

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        return context.history[-1:]


async def test_a_failing_strategy_causes_a_warning(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, strategy=FailingStrategy(), steps=30)
    await session.run_turn("go")
    assert len(session.model.requests) == 30
    assert session.of(Notification)


async def test_a_request_that_a_strategy_drops_is_restored(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, strategy=InvalidStrategy(), steps=30)
    await session.run_turn("the request")
    assert session.compactions
    assert session.texts().count("the request") == 1


async def test_canceling_leaves_the_conversation_unchanged(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, steps=30)
    reached = asyncio.Event()

    async def hang() -> None:
        reached.set()
        await asyncio.Event().wait()

    session.model.before_summary = hang
    running = asyncio.ensure_future(session.run_turn("go"))
    await reached.wait()
    before = list(session.context.history)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert list(session.context.history) == before
    assert [type(event).__name__ for event in session.events[-3:]] == [
        "CompactionBegin",
        "CompactionEnd",
        "StepInterrupted",
    ]
    assert not session.of(Reverted)
    assert not any(event.kind == "compaction" for event in session.of(CheckpointCreated))

    session.model.before_summary = None
    await session.run_turn("go on")
    assert "go on" in session.texts()


async def test_compaction_on_demand_uses_the_focus(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, steps=6)
    await session.run_turn("go")
    session.events.clear()
    assert await session.soul.compact("the tests")
    assert "the tests" in session.model.summaries[0]
    assert is_summary(session.context.history[0])
    assert "still in progress" not in session.texts()[-1]
    assert len(session.compactions) == 1

    await session.run_turn("and now?")
    assert session.model.requests[-1][0].text.startswith("Previous context has been compacted.")


async def test_compaction_on_demand_may_have_nothing_to_do(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, steps=1)
    assert not await session.soul.compact()
    await session.run_turn("hello")
    assert not await session.soul.compact()
    assert session.texts() == ["hello", "step 1"]


async def test_compaction_on_demand_raises_if_there_is_nothing_to_drop(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, steps=3, failures=[APIConnectionError("gone")])
    await session.run_turn("hello")
    before = list(session.context.history)
    with pytest.raises(APIConnectionError):
        await session.soul.compact()
    assert list(session.context.history) == before


async def test_reverting_to_a_compaction_checkpoint_keeps_the_request(
    tmp_path: Path,
) -> None:
    session = SoulHarness(tmp_path, steps=30)
    await session.run_turn("the request")
    last = [event for event in session.of(CheckpointCreated) if event.kind == "compaction"][-1]
    await session.context.revert_to(last.id)
    assert "the request" in session.texts()
    assert is_summary(session.context.history[0])
    assert "Continue where you were" in session.texts()[-1]


async def test_a_dmail_after_a_compaction_keeps_the_request(tmp_path: Path) -> None:
    session = SoulHarness(tmp_path, steps=40, dmail_at=25)
    await session.run_turn("the request")
    reasons = [event.reason for event in session.of(Reverted)]
    assert "compaction" in reasons[: reasons.index("dmail")]
    sent = [message.text for message in session.model.requests[25]]
    assert sent.count("the request") == 1
    assert any("use tabs" in text for text in sent)

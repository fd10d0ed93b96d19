"""Conversations that outgrow the model's window: when they are compacted, and what is never lost."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from kimi_tui.base.compacted import SUMMARY_REQUEST, is_summary
from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import APIConnectionError, APIStatusError, ContextTooLong
from kimi_tui.base.message import FunctionCall, Message, ToolCall
from kimi_tui.base.usage import TokenUsage
from kimi_tui.compaction.fallback import FallbackCompaction
from kimi_tui.compaction.hiding import ToolResultHidingCompaction
from kimi_tui.compaction.hiding_then_summary import HidingThenSummaryCompaction
from kimi_tui.compaction.strategy import CompactionContext, CompactionStrategy
from kimi_tui.compaction.summary import LLMSummaryCompaction
from kimi_tui.compaction.trigger import Trigger
from kimi_tui.history.context import Context
from kimi_tui.history.conversation import sendable
from kimi_tui.history.estimate import estimated_tokens
from kimi_tui.llm.provider import LLM, StreamPart, ToolSchema
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.compacting import Compaction
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.soul import Soul
from kimi_tui.soul.spending import Spending
from kimi_tui.tools.dmail import DMailbox, SendDMail
from kimi_tui.tools.tool import RunningCall, Tool, json_schema, ok
from kimi_tui.tools.toolset import Toolset
from kimi_tui.wire.display import TodoItem
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
from tests.soul.model import Model

LONG_STEPS = int(os.environ.get("KIMI_TUI_LONG_STEPS", "0"))
"""How many steps the long work takes, with a window of 100,000 tokens; `make faults` says 2,000."""
TOO_LONG = ContextTooLong("prompt is too long", status_code=400)
TODO = TodoItem("find the leak", "in_progress")


class Worker(Model):
    """Works for `steps` steps, two calls each, then ends its turn; summarises when it is asked to.

    Refuses what does not fit into its window, as a server does, and requests that no server would take.
    """

    model_name = "worker"

    def __init__(
        self, *, window: int, steps: int, failures: Sequence[Exception] = (), dmail_at: int = 0
    ) -> None:
        super().__init__()
        self.window = window
        self.steps = steps
        self.dmail_at = dmail_at
        """The step in which it sends a D-Mail to the oldest checkpoint that it knows of; 0 for none."""
        self.failures = list(failures)
        """What requests for a summary fail with."""
        self.summaries: list[str] = []
        self.before_summary: Callable[[], Any] | None = None

    async def generate(
        self, system_prompt: str, tools: Sequence[ToolSchema], history: Sequence[Message]
    ) -> AsyncGenerator[StreamPart, None]:
        assert sendable(history) == list(history)
        assert history[-1].role != "assistant"
        weight = estimated_tokens(history)
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
        self.sent.append(tuple(history))
        number = len(self.sent)
        yield TextPart(f"step {number}")
        if number == self.dmail_at:
            told = [it.text.removeprefix("<system>CHECKPOINT ") for it in history if "CHECKPOINT" in it.text]
            checkpoint = told[0].removesuffix("</system>")
            yield ToolCall(
                "m", FunctionCall("SendDMail", f'{{"message": "use tabs", "checkpoint_id": {checkpoint}}}')
            )
        elif number % self.steps:
            for name in "ab":
                yield ToolCall(
                    f"{name}{number}", FunctionCall("Look", f'{{"path": "{number % 7}{name}.py"}}')
                )
        yield TokenUsage(weight, 10)


class Where(BaseModel):
    path: str = ""


class Look(Tool[Where]):
    """Answers with `size` letters."""

    name = "Look"
    Params = Where

    def __init__(self, size: int) -> None:
        self._size = size

    @property
    def schema(self) -> ToolSchema:
        return ToolSchema("Look", "", json_schema(Where))

    async def run(self, params: Where, call: RunningCall) -> ToolReturn:
        return ok("x" * self._size)


class Mail(SendDMail):
    @property
    def schema(self) -> ToolSchema:
        return ToolSchema("SendDMail", "", json_schema(self.Params))


class Session:
    def __init__(
        self,
        folder: Path,
        *,
        strategy: CompactionStrategy | None = None,
        window: int = 4000,
        servers_window: int | None = None,
        steps: int = 300,
        size: int = 250,
        failures: Sequence[Exception] = (),
        max_attempts: int = 1,
        dmail_at: int = 0,
    ) -> None:
        self.model = Worker(
            window=servers_window or window, steps=steps, failures=failures, dmail_at=dmail_at
        )
        mailbox = DMailbox()
        tools: dict[str, Tool[Any]] = {"Look": Look(size)}
        if dmail_at:
            tools["SendDMail"] = Mail(mailbox)
        self.context = Context(folder / "context.jsonl")
        self.events: list[Any] = []
        self.soul = Soul(
            agent=Agent(name="a", system_prompt="Be good.", toolset=Toolset(tools)),
            context=self.context,
            behaviour=Behaviour(
                LLM(chat_provider=self.model, kind="scripted", name="m", max_context_size=window)
            ),
            limits=Limits(max_attempts=max_attempts, max_steps=steps + 1),
            dmailbox=mailbox,
            spending=Spending(),
            send=self.events.append,
            compaction=Compaction(
                strategy=strategy or LLMSummaryCompaction(),
                trigger=Trigger(reserved_context_size=500),
                todos=lambda: (TODO,),
            ),
        )

    async def say(self, prompt: str, *, patience_s: int = 60) -> None:
        async with asyncio.timeout(patience_s):
            await self.soul.run(prompt)

    def of(self, *kinds: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kinds)]

    @property
    def compactions(self) -> list[CompactionEnd]:
        """Those that made the conversation shorter."""
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
async def test_long_work_goes_on_and_neither_request_nor_todos_are_lost(
    tmp_path: Path, strategy: CompactionStrategy
) -> None:
    steps, window, size = (LONG_STEPS, 100_000, 5000) if LONG_STEPS else (300, 4000, 250)
    session = Session(tmp_path, strategy=strategy, steps=steps, window=window, size=size)
    await session.say("find out why it leaks", patience_s=max(60, steps))

    assert len(session.model.sent) == steps
    assert len(session.compactions) >= 10
    assert len(session.of(CompactionBegin)) == len(session.of(CompactionEnd))
    for number, sent in enumerate(session.model.sent):
        texts = [message.text for message in sent]
        assert texts.count("find out why it leaks") == 1, f"request {number}"
    shortened = [sent for sent in session.model.sent if any("was compacted" in it.text for it in sent)]
    assert len(shortened) > steps // 2
    assert all(any("find the leak" in it.text for it in sent) for sent in shortened)

    again = Context(tmp_path / "context.jsonl")
    await again.restore()
    assert list(again.history) == list(session.context.history)
    assert not again.repairs


async def test_most_steps_take_no_compaction(tmp_path: Path) -> None:
    for name, strategy in enumerate(STRATEGIES):
        folder = tmp_path / str(name)
        folder.mkdir()
        session = Session(folder, strategy=strategy, steps=200)
        await session.say("go")
        assert len(session.of(CompactionBegin)) < 60, type(strategy).__name__


async def test_it_is_one_replacement_with_a_branch_a_checkpoint_and_counts(tmp_path: Path) -> None:
    session = Session(tmp_path, steps=30)
    await session.say("go")

    kinds = [type(event).__name__ for event in session.events]
    begin = kinds.index("CompactionBegin")
    assert kinds[begin : begin + 4] == ["CompactionBegin", "Reverted", "CheckpointCreated", "CompactionEnd"]
    reverted, checkpoint, end = session.events[begin + 1 : begin + 4]
    assert (reverted.to, reverted.reason, reverted.branch) == (0, "compaction", 1)
    assert checkpoint.kind == "compaction"
    assert end.tokens_before >= 3400 > end.tokens_after > 0
    left = await session.context.read_branch(1)
    assert left.history[0].text == "go"
    assert len(left.history) > 20


async def test_the_files_in_play_are_restated_over_several_compactions(tmp_path: Path) -> None:
    session = Session(tmp_path, steps=200)
    await session.say("go")
    assert len(session.compactions) > 3
    (stated,) = [text for text in session.texts() if "Files in play" in text]
    assert all(f"- {n}{name}.py" in stated for n in range(7) for name in "ab")


async def test_an_earlier_turn_is_summarised_and_the_present_request_kept(tmp_path: Path) -> None:
    session = Session(tmp_path, steps=25)
    await session.say("the first request")
    await session.say("the second request")
    assert len(session.compactions) >= 2
    assert "the second request" in session.texts()
    assert "the first request" not in session.texts()
    assert any("the first request" in asked for asked in session.model.summaries)


async def test_a_model_that_finds_it_too_long_gets_a_shorter_conversation(tmp_path: Path) -> None:
    session = Session(tmp_path, window=100_000, servers_window=3000, steps=40)
    await session.say("go")
    assert len(session.model.sent) == 40
    assert session.compactions
    assert [event.n for event in session.of(StepBegin)] == list(range(1, 41))
    assert not session.of(StepInterrupted)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda it: type(it).__name__)
async def test_one_result_that_is_larger_than_the_window_does_not_end_the_work(
    tmp_path: Path, strategy: CompactionStrategy
) -> None:
    session = Session(tmp_path, strategy=strategy, window=3000, steps=5, size=9000)
    await session.say("go")
    assert len(session.model.sent) == 5


async def test_a_request_that_is_too_long_by_itself_fails_clearly(tmp_path: Path) -> None:
    session = Session(tmp_path, window=3000, steps=5)
    with pytest.raises(ContextTooLong, match="too long") as raised:
        await session.say("x" * 20_000)
    assert "larger context" in raised.value.hint
    assert session.texts()[0] == "x" * 20_000
    assert len(session.of(CompactionBegin)) == len(session.of(CompactionEnd)) <= 2


async def test_when_the_summary_fails_older_messages_are_dropped_and_the_work_goes_on(tmp_path: Path) -> None:
    session = Session(tmp_path, steps=30, failures=[APIStatusError("no credit", status_code=402)])
    await session.say("go")
    assert len(session.model.sent) == 30
    (warning,) = session.of(Notification)
    assert "no credit" in warning.body
    assert warning.severity == "warning"
    assert "go" in session.texts()


async def test_a_summary_is_tried_again_before_that(tmp_path: Path) -> None:
    session = Session(tmp_path, steps=30, failures=[APIConnectionError("gone")], max_attempts=2)
    await session.say("go")
    assert [retry.error_type for retry in session.of(StepRetry)] == ["APIConnectionError"]
    assert not session.of(Notification)
    assert any(is_summary(message) for message in session.context.history)


class Broken:
    """A user's own strategy, which has a mistake."""

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        raise KeyError("oops")


class Careless:
    """A user's own strategy, which forgets almost everything."""

    async def compact(self, context: CompactionContext, /) -> Sequence[Message] | None:
        return context.history[-1:]


async def test_a_strategy_with_a_mistake_costs_a_warning(tmp_path: Path) -> None:
    session = Session(tmp_path, strategy=Broken(), steps=30)
    await session.say("go")
    assert len(session.model.sent) == 30
    assert session.of(Notification)


async def test_a_strategy_that_forgets_the_request_cannot_lose_it(tmp_path: Path) -> None:
    session = Session(tmp_path, strategy=Careless(), steps=30)
    await session.say("the request")
    assert session.compactions
    assert session.texts().count("the request") == 1


async def test_a_cancel_leaves_the_conversation_as_it_was(tmp_path: Path) -> None:
    session = Session(tmp_path, steps=30)
    reached = asyncio.Event()

    async def hang() -> None:
        reached.set()
        await asyncio.Event().wait()

    session.model.before_summary = hang
    running = asyncio.ensure_future(session.say("go"))
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
    await session.say("go on")
    assert "go on" in session.texts()


async def test_outside_of_a_turn_it_is_compacted_on_demand_with_a_focus(tmp_path: Path) -> None:
    session = Session(tmp_path, steps=6)
    await session.say("go")
    session.events.clear()
    assert await session.soul.compact("the tests")
    assert "the tests" in session.model.summaries[0]
    assert is_summary(session.context.history[0])
    assert "still holds" not in session.texts()[-1]
    assert len(session.compactions) == 1

    await session.say("and now?")
    assert session.model.sent[-1][0].text.startswith("Previous context has been compacted.")


async def test_on_demand_there_may_be_nothing_to_do(tmp_path: Path) -> None:
    session = Session(tmp_path, steps=1)
    assert not await session.soul.compact()
    await session.say("hello")
    assert not await session.soul.compact()
    assert session.texts() == ["hello", "step 1"]


async def test_on_demand_a_failure_with_nothing_to_drop_is_told(tmp_path: Path) -> None:
    session = Session(tmp_path, steps=3, failures=[APIConnectionError("gone")])
    await session.say("hello")
    before = list(session.context.history)
    with pytest.raises(APIConnectionError):
        await session.soul.compact()
    assert list(session.context.history) == before


async def test_the_checkpoint_of_a_compaction_can_be_gone_back_to_and_the_request_stays(
    tmp_path: Path,
) -> None:
    session = Session(tmp_path, steps=30)
    await session.say("the request")
    last = [event for event in session.of(CheckpointCreated) if event.kind == "compaction"][-1]
    await session.context.revert_to(last.id)
    assert "the request" in session.texts()
    assert is_summary(session.context.history[0])
    assert "go on where you were" in session.texts()[-1]


async def test_a_dmail_after_a_compaction_loses_no_request(tmp_path: Path) -> None:
    session = Session(tmp_path, steps=40, dmail_at=25)
    await session.say("the request")
    reasons = [event.reason for event in session.of(Reverted)]
    assert "compaction" in reasons[: reasons.index("dmail")]
    sent = [message.text for message in session.model.sent[25]]
    assert sent.count("the request") == 1
    assert any("use tabs" in text for text in sent)

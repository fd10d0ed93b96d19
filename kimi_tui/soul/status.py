"""How an agent stands: how full its context is, and what the session has used."""

from kimi_tui.history.context import Context
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.model_call import Answer
from kimi_tui.soul.send import Send
from kimi_tui.soul.spending import Spending
from kimi_tui.wire.events import CostUpdate, StatusUpdate


class Status:
    """Tells how one agent stands."""

    def __init__(self, *, context: Context, behaviour: Behaviour, spending: Spending, send: Send) -> None:
        self._context = context
        self._behaviour = behaviour
        self._spending = spending
        self._send = send

    def tell(self, answer: Answer | None = None) -> None:
        """Tell it, after `answer` when a step ended with one."""
        llm = self._behaviour.llm
        tokens = self._context.token_count_with_pending
        self._send(
            StatusUpdate(
                context_usage=tokens / llm.max_context_size if llm is not None else None,
                context_tokens=tokens,
                max_context_tokens=llm.max_context_size if llm is not None else None,
                token_usage=answer.usage if answer is not None else None,
                message_id=answer.message_id if answer is not None else None,
                session_usage=self._spending.usage,
            )
        )
        if self._spending.cost_usd is not None:
            self._send(CostUpdate(self._spending.cost_usd))

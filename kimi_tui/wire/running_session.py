"""A session that is open in some process of this user, as lists of running sessions show it."""

from dataclasses import replace
from typing import Any, Literal, assert_never

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import add_texts, restore_texts
from kimi_tui.wire.codec import UnknownWireMessage, decode, encode
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest, UserRequest
from kimi_tui.wire.turn import TurnOutcome

RunningState = Literal["working", "awaiting approval", "done", "interrupted", "failed", "idle", "open"]
"""`idle` means that no turn has run yet, `open` that the state is known to another process only."""


@frozen(kw_only=True)
class RunningSession:
    """An open session."""

    id: str
    title: str
    work_dir: str
    state: RunningState
    since_s: float = 0.0
    """Seconds that it has been in this state."""
    cost_usd: float | None = None
    """Cost of the session, earlier runs included; None if the model has no price."""
    cost_today_usd: float | None = None
    """Cost since midnight; None if the model has no price."""
    last_line: str = ""
    """Last line of the conversation."""
    clients: int = 0
    """Number of clients that are attached."""
    is_resident: bool = True
    """Whether the resident engine runs the session, so that others can attach, answer and stop it."""
    requests: tuple[dict[str, Any], ...] = ()
    """Open requests of the user, as Wire messages with their translatable texts."""

    @property
    def is_awaiting(self) -> bool:
        """Whether the session waits for an answer of the user."""
        return self.state == "awaiting approval"

    def with_state(
        self, *, is_working: bool, is_awaiting: bool, last_outcome: TurnOutcome
    ) -> "RunningSession":
        """Return this session in another state. `last_outcome` is how its last turn ended."""
        if is_awaiting:
            return replace(self, state="awaiting approval")
        return replace(self, state="working" if is_working else state_after(last_outcome))

    @property
    def open_requests(self) -> tuple[UserRequest, ...]:
        """The requests, oldest first. Those of unknown types are left out."""
        return tuple(request for data in self.requests if (request := _decode_request(data)) is not None)


@frozen(kw_only=True)
class RunningSessionList:
    """The open sessions of this user."""

    sessions: tuple[RunningSession, ...] = ()
    is_engine_running: bool = False
    """Whether the resident engine is running. If not, nothing can be done to sessions of other processes."""


def state_after(outcome: TurnOutcome) -> RunningState:
    """Return the state of a session whose last turn ended that way."""
    match outcome:
        case "finished":
            return "done"
        case "cancelled" | "rejected":
            return "interrupted"
        case "failed" | "max_steps" | "limit":
            return "failed"
        case _:
            assert_never(outcome)


def encode_request(request: UserRequest) -> dict[str, Any]:
    """Return `request` for `RunningSession.requests`."""
    encoded = encode(request)
    return add_texts(encoded, encoded["payload"])


def cost_on(today: str, *, day: str, day_cost_usd: float, cost_usd: float | None) -> float | None:
    """Return the cost of a session on `today`, an ISO date. `day` and `day_cost_usd` are its last day's.

    None if the session has no cost at all.
    """
    if cost_usd is None:
        return None
    return day_cost_usd if day == today else 0.0


def _decode_request(data: dict[str, Any]) -> UserRequest | None:
    try:
        request = restore_texts(decode(data), data.get("texts"))
    except UnknownWireMessage:
        return None
    return request if isinstance(request, ApprovalRequest | QuestionRequest) else None

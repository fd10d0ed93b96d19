"""Sessions that are open in any process of this user, for lists of running sessions."""

from dataclasses import replace
from typing import Any, Literal, assert_never

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import add_texts, restore_texts
from kimi_tui.wire.codec import UnknownWireMessage, decode, encode
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest, UserRequest
from kimi_tui.wire.turn import TurnOutcome

RunningState = Literal["working", "awaiting approval", "done", "interrupted", "failed", "idle", "open"]
"""`idle`: no turn has run yet. `open`: the session is open in another process, and its state is unknown."""


@frozen(kw_only=True)
class RunningSession:
    """An open session."""

    id: str
    title: str
    work_dir: str
    state: RunningState
    since_s: float = 0.0
    """Time in this state, in seconds."""
    cost_usd: float | None = None
    """Cost of the session in US dollars, including earlier runs; None if the model has no price."""
    cost_today_usd: float | None = None
    """Cost since midnight in US dollars; None if the model has no price."""
    last_line: str = ""
    """Last line of the conversation."""
    clients: int = 0
    """Number of attached clients."""
    is_resident: bool = True
    """Whether the resident engine runs the session. Then other clients can attach, answer requests and stop
    the session.
    """
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
        """The open requests, oldest first. Requests of unknown types are left out."""
        return tuple(request for data in self.requests if (request := _decode_request(data)) is not None)


@frozen(kw_only=True)
class RunningSessionList:
    """The open sessions of this user."""

    sessions: tuple[RunningSession, ...] = ()
    is_engine_running: bool = False
    """Whether the resident engine is running. If not, sessions of other processes can't be controlled."""


def state_after(outcome: TurnOutcome) -> RunningState:
    """Return the state of a session after a turn with this outcome."""
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
    """Return the cost of a session on `today` in US dollars; None if the session has no cost.

    `day` is the last day with a cost, `day_cost_usd` the cost on that day. Days are ISO dates.
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

"""How a turn's end is told to the client that prompted it."""

from collections.abc import Iterator
from typing import Any, assert_never

from kimi_tui.base.errors import ChatProviderError, HookBlocked, ModelNotSet, ModelNotSupported
from kimi_tui.wire.events import TurnEnd, TurnFailure
from kimi_tui.wireserver.jsonrpc import ErrorCode, RpcError


def result_of(turn: TurnEnd) -> dict[str, Any]:
    """The result of the prompt. Raises RpcError for a turn that failed."""
    match turn.outcome:
        case "finished" | "rejected":
            return {"status": "finished"}
        case "cancelled":
            return {"status": "cancelled"}
        case "max_steps":
            return {"status": "max_steps_reached", "steps": turn.steps}
        case "limit":
            raise RpcError(ErrorCode.LIMIT, _sentences(turn.failure))
        case "failed":
            kind = turn.failure.kind if turn.failure is not None else ""
            if kind == HookBlocked.__name__:  # no fault: the HookResolved before it says why
                return {"status": "finished"}
            raise RpcError(code_of(kind), _sentences(turn.failure))
        case _:
            assert_never(turn.outcome)


def code_of(kind: str) -> ErrorCode:
    """The code for an error of that class (`base.errors`)."""
    if kind == ModelNotSet.__name__:
        return ErrorCode.MODEL_NOT_SET
    if kind == ModelNotSupported.__name__:
        return ErrorCode.MODEL_NOT_SUPPORTED
    if kind in {cls.__name__ for cls in _family(ChatProviderError)}:
        return ErrorCode.PROVIDER
    return ErrorCode.INTERNAL


def _family(cls: type[Any]) -> Iterator[type[Any]]:
    yield cls
    children: list[type[Any]] = cls.__subclasses__()
    for child in children:
        yield from _family(child)


def _sentences(failure: TurnFailure | None) -> str:
    if failure is None:
        return "The turn failed."
    return f"{failure.what} {failure.hint}".strip()

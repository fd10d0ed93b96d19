"""Conversion of a turn's outcome to the result of its prompt."""

from collections.abc import Iterator
from typing import Any, assert_never

from kimi_tui.base.errors import ChatProviderError, HookBlocked, ModelNotSet, ModelNotSupported
from kimi_tui.wire.events import TurnEnd, TurnFailure
from kimi_tui.wireserver.jsonrpc import ErrorCode, RpcError


def build_turn_result(turn: TurnEnd) -> dict[str, Any]:
    """Return the result of the prompt. Raises RpcError if the turn failed."""
    match turn.outcome:
        case "finished" | "rejected":
            return {"status": "finished"}
        case "cancelled":
            return {"status": "cancelled"}
        case "max_steps":
            return {"status": "max_steps_reached", "steps": turn.steps}
        case "limit":
            raise RpcError(ErrorCode.LIMIT, _failure_text(turn.failure))
        case "failed":
            kind = turn.failure.kind if turn.failure is not None else ""
            if kind == HookBlocked.__name__:  # not a failure: the preceding HookResolved has the reason
                return {"status": "finished"}
            raise RpcError(error_code(kind), _failure_text(turn.failure))
        case _:
            assert_never(turn.outcome)


def error_code(kind: str) -> ErrorCode:
    """Return the error code for the name of an error class of `base.errors`."""
    if kind in {cls.__name__ for cls in _error_classes(ModelNotSet)}:
        return ErrorCode.MODEL_NOT_SET
    if kind == ModelNotSupported.__name__:
        return ErrorCode.MODEL_NOT_SUPPORTED
    if kind in {cls.__name__ for cls in _error_classes(ChatProviderError)}:
        return ErrorCode.PROVIDER
    return ErrorCode.INTERNAL


def _error_classes(cls: type[Any]) -> Iterator[type[Any]]:
    yield cls
    children: list[type[Any]] = cls.__subclasses__()
    for child in children:
        yield from _error_classes(child)


def _failure_text(failure: TurnFailure | None) -> str:
    if failure is None:
        return "The turn failed."
    return f"{failure.what} {failure.hint}".strip()

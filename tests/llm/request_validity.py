"""Assertions on requests: valid for their API, and an extension of the previous request."""

import re
from typing import Any

_ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")
_MAX_CACHE_MARKS = 4


def assert_valid_request(body: dict[str, Any]) -> None:
    """Check that every tool call has exactly one result, in order and right after it, and that roles are in
    order.
    """
    if "max_tokens" in body and ("system" in body or _has_blocks(body)):
        _assert_valid_for_anthropic(body)
    else:
        _assert_valid_for_openai(body["messages"])


def assert_prefix_extension(previous: dict[str, Any], following: dict[str, Any]) -> None:
    """Check that `following` repeats `previous` and only adds to it. Cache markers are ignored."""
    for name in ("system", "tools"):
        assert _without_cache_marks(previous.get(name)) == _without_cache_marks(following.get(name)), (
            f"{name} changed"
        )
    before, after = _without_cache_marks(previous["messages"]), _without_cache_marks(following["messages"])
    assert len(after) >= len(before), "messages are missing"
    assert after[: len(before) - 1] == before[:-1], "an earlier message changed"
    last, repeated = before[-1], after[len(before) - 1]
    if last != repeated:
        assert isinstance(last["content"], list), "the last message changed"
        assert last["role"] == repeated["role"], "the last message changed its role"
        assert repeated["content"][: len(last["content"])] == last["content"], "the last message changed"


def _assert_valid_for_openai(messages: list[dict[str, Any]]) -> None:
    assert messages, "no messages"
    waiting: list[str] = []
    for message in messages:
        role = message["role"]
        if role == "tool":
            assert waiting, f"a result without a call: {message}"
            assert message["tool_call_id"] == waiting.pop(0), f"a result out of order: {message}"
            assert isinstance(message["content"], str), "a result that isn't text"
            assert message["content"], "an empty result"
            continue
        assert not waiting, f"calls without a result: {waiting}"
        assert message.get("content") or message.get("tool_calls"), f"an empty message: {message}"
        if role == "assistant":
            waiting = [call["id"] for call in message.get("tool_calls", ())]
            assert len(set(waiting)) == len(waiting), "ids that are not unique"
    assert not waiting, f"calls without a result: {waiting}"


def _assert_valid_for_anthropic(body: dict[str, Any]) -> None:
    messages = body["messages"]
    assert messages, "no messages"
    assert [message["role"] for message in messages] == [
        "assistant" if at % 2 else "user" for at in range(len(messages))
    ], "roles don't alternate"
    assert messages[-1]["role"] == "user", "the last message isn't a user's"
    waiting: list[str] = []
    used: set[str] = set()
    for message in messages:
        blocks = message["content"]
        assert blocks, "an empty message"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == waiting, f"calls {waiting} have results for {results}"
        assert all(block["type"] == "tool_result" for block in blocks[: len(results)]), (
            "results don't come first"
        )
        for block in blocks:
            if block["type"] == "text":
                assert block["text"].strip(), "an empty text"
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert all(_ANTHROPIC_ID.fullmatch(call_id) for call_id in waiting), f"invalid ids: {waiting}"
        assert not used & set(waiting), "an id is used twice"
        assert len(set(waiting)) == len(waiting), "an id is used twice"
        used |= set(waiting)
        if message["role"] == "assistant":
            assert blocks[-1]["type"] not in {"thinking", "redacted_thinking"}, (
                "a response ends with thinking"
            )
    assert _count_marks(body) <= _MAX_CACHE_MARKS, "too many cache marks"


def _has_blocks(body: dict[str, Any]) -> bool:
    return not any(message["role"] in {"system", "tool"} for message in body["messages"]) and all(
        isinstance(message["content"], list) for message in body["messages"]
    )


def _without_cache_marks(value: Any) -> Any:
    match value:
        case dict():
            return {
                name: _without_cache_marks(item) for name, item in value.items() if name != "cache_control"
            }
        case list():
            return [_without_cache_marks(item) for item in value]
        case _:
            return value


def _count_marks(value: Any) -> int:
    match value:
        case dict():
            return ("cache_control" in value) + sum(map(_count_marks, value.values()))
        case list():
            return sum(map(_count_marks, value))
        case _:
            return 0

"""Parser for the event stream of the Chat Completions API, including the variants of many servers."""

from collections.abc import Sequence
from typing import Any

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.llm.lenient_json import as_count
from kimi_tui.llm.openai.tool_calls import ToolCallAssembler
from kimi_tui.llm.provider import MessageStart, OutputLimitReached, StreamPart
from kimi_tui.llm.transport import errors
from kimi_tui.llm.transport.endpoint import Endpoint
from kimi_tui.llm.transport.http_errors import stream_error

_NOTHING: tuple[StreamPart, ...] = ()


class ChatStream:
    """Parses one response.

    A response is complete with a finish reason or `[DONE]`. A response with tool calls is also complete if
    all their arguments are complete, because some servers send neither.
    """

    def __init__(self, endpoint: Endpoint, *, reasoning_key: str = "reasoning_content") -> None:
        """`reasoning_key`: the field of a delta that contains thinking."""
        self._endpoint = endpoint
        self._reasoning_key = reasoning_key
        self._calls = ToolCallAssembler()
        self._is_named = False
        self._has_output = False
        self._finish_reason = ""
        self._usage: TokenUsage | None = None

    @property
    def is_complete(self) -> bool:
        """Whether a finish reason arrived."""
        return bool(self._finish_reason)

    @property
    def is_over(self) -> bool:
        """Always False: the end marker of this API isn't a JSON object."""
        return False

    def parse_event(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """Return the parts of a chunk."""
        parts: list[StreamPart] = []
        if not self._is_named and (message_id := payload.get("id")):
            self._is_named = True
            parts.append(MessageStart(str(message_id)))
        if usage := payload.get("usage"):
            self._record_usage(usage)
        choices = payload.get("choices")
        if isinstance(choices, list) and choices and isinstance(choice := choices[0], dict):
            self._add_choice(choice, parts)
        return parts

    def parse_document(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """Return the parts of a `chat.completion` object."""
        if not isinstance(payload.get("choices"), list):
            raise errors.malformed_response(self._endpoint, str(payload))
        parts = self.parse_event(payload)
        self._finish_reason = self._finish_reason or "stop"
        return parts

    def usage_parts(self) -> Sequence[StreamPart]:
        """Implement `ResponseParser.usage_parts`."""
        return _NOTHING if self._usage is None else (self._usage,)

    def finish(self, *, was_ended: bool) -> Sequence[StreamPart]:
        """Return OutputLimitReached if the response was cut off.

        Raises ChatProviderError if the response is empty, declined or incomplete.
        """
        if self._calls.has_unnamed:
            raise errors.malformed_response(self._endpoint, "a tool call without a name")
        if self._finish_reason == "content_filter":
            raise errors.response_declined(self._endpoint)
        if not self._has_output:
            raise errors.empty_response(self._endpoint, at_limit=self._finish_reason == "length")
        if not (was_ended or self.is_complete or self._calls.is_complete):
            raise errors.truncated_response(self._endpoint)
        return (OutputLimitReached(),) if self._finish_reason == "length" else _NOTHING

    def _add_choice(self, choice: dict[str, Any], parts: list[StreamPart]) -> None:
        delta = choice.get("delta")
        if delta is None and not self._has_output:
            delta = _as_delta(choice.get("message"))
        if delta and isinstance(delta, dict):
            self._add_delta(delta, parts)
        if (reason := choice.get("finish_reason")) and isinstance(reason, str) and reason != "null":
            self._finish_reason = reason
        if usage := choice.get("usage"):
            self._record_usage(usage)
        if error := choice.get("error"):
            raise stream_error(self._endpoint, {"error": error})

    def _add_delta(self, delta: dict[str, Any], parts: list[StreamPart]) -> None:
        before = len(parts)
        thought = delta.get(self._reasoning_key) or delta.get("reasoning_content") or delta.get("reasoning")
        if thought and isinstance(thought, str):
            parts.append(ThinkPart(thought))
        if content := delta.get("content") or delta.get("refusal"):
            parts += (TextPart(content),) if isinstance(content, str) else _content_parts(content)
        if calls := delta.get("tool_calls"):
            for fragment in calls if isinstance(calls, list) else (calls,):
                if isinstance(fragment, dict) and (part := self._calls.add_fragment(fragment)) is not None:
                    parts.append(part)
        if len(parts) > before:
            self._has_output = True

    def _record_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self._usage = parse_usage(usage)


def parse_usage(usage: dict[str, Any]) -> TokenUsage:
    """Return the token counts of a `usage` object.

    Supports OpenAI's fields, Moonshot's `cached_tokens` and DeepSeek's `prompt_cache_hit_tokens`.
    """
    details = usage.get("prompt_tokens_details")
    cached = as_count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    cached = cached or as_count(usage.get("cached_tokens")) or as_count(usage.get("prompt_cache_hit_tokens"))
    prompt = as_count(usage.get("prompt_tokens"))
    cached = min(cached, prompt)
    return TokenUsage(
        input_other=prompt - cached, output=as_count(usage.get("completion_tokens")), input_cache_read=cached
    )


def _as_delta(message: Any) -> dict[str, Any]:
    """Return a complete message as one delta, with its tool calls numbered."""
    if not isinstance(message, dict):
        return {}
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    numbered = [{**call, "index": index} for index, call in enumerate(calls) if isinstance(call, dict)]
    return {**message, "tool_calls": numbered}


def _content_parts(content: Any) -> list[StreamPart]:
    """Return the parts of content that is a list of typed parts, as from Mistral's thinking models."""
    parts: list[StreamPart] = []
    for item in content if isinstance(content, list) else ():
        match item:
            case {"type": "text", "text": str(text)} if text:
                parts.append(TextPart(text))
            case {"type": "thinking", "thinking": str(text)} if text:
                parts.append(ThinkPart(text))
            case {"type": "thinking", "thinking": list(thoughts)}:
                texts = [thought.get("text") for thought in thoughts if isinstance(thought, dict)]
                parts += [ThinkPart(text) for text in texts if isinstance(text, str) and text]
    return parts

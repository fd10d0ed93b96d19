"""The chat completions stream: events of OpenAI's dialect, as many servers speak it, turned into parts."""

from collections.abc import Sequence
from typing import Any

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.usage import TokenUsage
from kimi_tui.llm import failures
from kimi_tui.llm.chat_calls import ChatCalls
from kimi_tui.llm.endpoint import Endpoint
from kimi_tui.llm.json_text import count_of
from kimi_tui.llm.provider import MessageStart, StreamPart
from kimi_tui.llm.statuses import stream_failure

_NOTHING: tuple[StreamPart, ...] = ()


class ChatStream:
    """Parses one answer. An answer counts as whole when its finish reason or `[DONE]` came, or when all it
    holds beside text are tool calls whose arguments are whole: some servers end such answers with neither."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._calls = ChatCalls()
        self._is_named = False
        self._has_spoken = False
        self._finish_reason = ""
        self._usage: TokenUsage | None = None

    @property
    def is_complete(self) -> bool:
        """Whether a finish reason came."""
        return bool(self._finish_reason)

    @property
    def is_over(self) -> bool:
        """Never: the end mark of this dialect is no JSON object."""
        return False

    def event(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """The parts of a chunk."""
        parts: list[StreamPart] = []
        if not self._is_named and (message_id := payload.get("id")):
            self._is_named = True
            parts.append(MessageStart(str(message_id)))
        if usage := payload.get("usage"):
            self._note_usage(usage)
        choices = payload.get("choices")
        if isinstance(choices, list) and choices and isinstance(choice := choices[0], dict):
            self._add_choice(choice, parts)
        return parts

    def document(self, payload: dict[str, Any]) -> Sequence[StreamPart]:
        """The parts of a `chat.completion` object."""
        if not isinstance(payload.get("choices"), list):
            raise failures.garbled(self._endpoint, str(payload))
        parts = self.event(payload)
        self._finish_reason = self._finish_reason or "stop"
        return parts

    def end(self, *, was_ended: bool) -> Sequence[StreamPart]:
        """The usage. Raises for an answer that is empty, declined or not whole."""
        if self._calls.has_nameless:
            raise failures.garbled(self._endpoint, "a tool call without a name")
        if self._finish_reason == "content_filter":
            raise failures.declined(self._endpoint)
        if not self._has_spoken:
            raise failures.empty_answer(self._endpoint, at_limit=self._finish_reason == "length")
        if not (was_ended or self.is_complete or self._calls.are_whole):
            raise failures.broken_off(self._endpoint)
        return _NOTHING if self._usage is None else (self._usage,)

    def _add_choice(self, choice: dict[str, Any], parts: list[StreamPart]) -> None:
        delta = choice.get("delta")
        if delta is None and not self._has_spoken:
            delta = _numbered(choice.get("message"))
        if delta and isinstance(delta, dict):
            self._add_delta(delta, parts)
        if (reason := choice.get("finish_reason")) and isinstance(reason, str) and reason != "null":
            self._finish_reason = reason
        if usage := choice.get("usage"):
            self._note_usage(usage)
        if error := choice.get("error"):
            raise stream_failure(self._endpoint, {"error": error})

    def _add_delta(self, delta: dict[str, Any], parts: list[StreamPart]) -> None:
        before = len(parts)
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if thought and isinstance(thought, str):
            parts.append(ThinkPart(thought))
        if content := delta.get("content") or delta.get("refusal"):
            parts += (TextPart(content),) if isinstance(content, str) else _content_parts(content)
        if calls := delta.get("tool_calls"):
            for fragment in calls if isinstance(calls, list) else (calls,):
                if isinstance(fragment, dict) and (part := self._calls.take(fragment)) is not None:
                    parts.append(part)
        if len(parts) > before:
            self._has_spoken = True

    def _note_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self._usage = usage_of(usage)


def usage_of(usage: dict[str, Any]) -> TokenUsage:
    """The token counts of a `usage` object: OpenAI's, Moonshot's `cached_tokens`, DeepSeek's
    `prompt_cache_hit_tokens`."""
    details = usage.get("prompt_tokens_details")
    cached = count_of(details.get("cached_tokens")) if isinstance(details, dict) else 0
    cached = cached or count_of(usage.get("cached_tokens")) or count_of(usage.get("prompt_cache_hit_tokens"))
    sent = count_of(usage.get("prompt_tokens"))
    cached = min(cached, sent)
    return TokenUsage(
        input_other=sent - cached, output=count_of(usage.get("completion_tokens")), input_cache_read=cached
    )


def _numbered(message: Any) -> dict[str, Any]:
    """A whole message as one delta: each of its tool calls is a call of its own."""
    if not isinstance(message, dict):
        return {}
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    numbered = [{**call, "index": at} for at, call in enumerate(calls) if isinstance(call, dict)]
    return {**message, "tool_calls": numbered}


def _content_parts(content: Any) -> list[StreamPart]:
    """Content that comes as a list of typed parts, as Mistral's thinking models send it."""
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

"""Benchmark of the cost per delta, from the socket to the part: `python -m tests.llm.delta_cost`.

Measures the CPU time of the reading thread, in microseconds, for a bare reader (httpx and json, without
checks), for each provider, and for the SDKs' own typed streams, with the same responses in one run. Responses
arrive as fast as they're read, so many deltas share a read of the socket.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from kimi_tui.base.message import user_message
from kimi_tui.llm.provider import ChatProvider
from tests.llm.conversations import provider_for
from tests.llm.servers import ScriptedResponse, ScriptedServer, serving

DELTAS = 10_000
RESPONSE = ScriptedResponse(text="lorem ip" * DELTAS, piece=8)
ROUNDS = 5

Reader = Callable[[], Awaitable[int]]


def bare_reader(url: str, client: httpx.AsyncClient, pick: Callable[[Any], str | None]) -> Reader:
    """Return a reader of lines and JSON, like a script of twenty lines."""

    async def read() -> int:
        deltas = 0
        async with client.stream(
            "POST", url, json={"messages": [], "model": "x", "stream": True}
        ) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: ") and line != "data: [DONE]" and pick(json.loads(line[6:])):
                    deltas += 1
        return deltas

    return read


def provider_reader(provider: ChatProvider) -> Reader:
    """Return a reader of a provider's parts."""

    async def read() -> int:
        deltas = 0
        async for _ in provider.generate("", (), (user_message("go"),)):
            deltas += 1
        return deltas

    return read


async def cost(read: Reader) -> float:
    """Return the CPU time of this thread per delta, in microseconds."""
    before = time.thread_time()
    deltas = await read()
    assert deltas >= DELTAS
    return (time.thread_time() - before) / deltas * 1e6


def _openai_text(event: Any) -> str | None:
    choices = event["choices"]
    return choices[0]["delta"].get("content") if choices else None


def _anthropic_text(event: Any) -> str | None:
    return event["delta"].get("text") if event["type"] == "content_block_delta" else None


async def _openai_sdk(url: str) -> Reader:
    import openai

    client = openai.AsyncOpenAI(api_key="x", base_url=url)

    async def read() -> int:
        stream = await client.chat.completions.create(
            model="x", messages=[{"role": "user", "content": "go"}], stream=True
        )
        return len([chunk async for chunk in stream])

    return read


async def _anthropic_sdk(url: str) -> Reader:
    import anthropic

    client = anthropic.AsyncAnthropic(api_key="x", base_url=url)

    async def read() -> int:
        stream = await client.messages.create(
            model="x", max_tokens=9, messages=[{"role": "user", "content": "go"}], stream=True
        )
        return len([event async for event in stream])

    return read


async def measure(openai: ScriptedServer, anthropic: ScriptedServer) -> dict[str, float]:
    """Return the lowest cost of each reader over several rounds. Readers take turns, so load affects all
    alike.
    """
    async with httpx.AsyncClient() as client:
        chat, messages = f"{openai.base_url}/chat/completions", f"{anthropic.base_url}/v1/messages"
        readers: dict[str, Reader] = {
            "openai: bare httpx + json": bare_reader(chat, client, _openai_text),
            "openai: our provider": provider_reader(provider_for("openai", openai.base_url)),
            "kimi: our provider": provider_reader(provider_for("kimi", openai.base_url)),
            "openai: the SDK's typed stream": await _openai_sdk(openai.base_url),
            "anthropic: bare httpx + json": bare_reader(messages, client, _anthropic_text),
            "anthropic: our provider": provider_reader(provider_for("anthropic", anthropic.base_url)),
            "anthropic: the SDK's typed stream": await _anthropic_sdk(anthropic.base_url),
        }
        rounds = [{name: await cost(read) for name, read in readers.items()} for _ in range(1 + ROUNDS)]
    return {name: min(costs[name] for costs in rounds[1:]) for name in readers}


def main() -> None:
    """Print the costs and their ratios to the bare reader's."""
    script = [RESPONSE] * (ROUNDS + 1) * 4
    with serving("openai", script) as openai, serving("anthropic", script) as anthropic:
        costs = asyncio.run(measure(openai, anthropic))
    for name, microseconds in costs.items():
        bare = costs[f"{'anthropic' if name.startswith('anthropic') else 'openai'}: bare httpx + json"]
        print(f"{name:36} {microseconds:6.1f} µs per delta   {microseconds / bare:5.2f} x bare")


if __name__ == "__main__":
    main()

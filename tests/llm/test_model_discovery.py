"""Discovery of local servers, their models and context sizes."""

import pytest

from kimi_tui.llm.model_discovery import (
    AvailableModel,
    DiscoveredServer,
    KnownServer,
    discover_servers,
    fetch_models,
    known_servers,
)
from tests.llm.local_server import model_list, serve_json
from tests.ports import unused_port

OLLAMA = {
    "/v1/models": model_list("llama3.2:3b", "nomic-embed-text"),
    "/api/show": {"llama3.2:3b": {"model_info": {"llama.context_length": 131072}}},
}


async def test_responding_servers_are_found_without_their_non_chat_models() -> None:
    vllm = {"/v1/models": model_list("Qwen/Qwen3-8B", max_model_len=40960)}
    with (
        serve_json(OLLAMA) as ollama,
        serve_json(vllm) as vllm_address,
        serve_json({}) as other_address,
        unused_port() as port,
    ):
        found = await discover_servers(
            [
                KnownServer("Ollama", ollama),
                KnownServer("LM Studio", f"http://127.0.0.1:{port}"),
                KnownServer("vLLM", vllm_address),
                KnownServer("llama.cpp", other_address),
            ]
        )
    assert found == (
        DiscoveredServer("Ollama", f"{ollama}/v1", (AvailableModel("llama3.2:3b", 131072),)),
        DiscoveredServer("vLLM", f"{vllm_address}/v1", (AvailableModel("Qwen/Qwen3-8B", 40960),)),
    )


async def test_ollama_s_configured_context_size_overrides_the_maximum() -> None:
    shown = {
        "parameters": "stop x\nnum_ctx                8192",
        "model_info": {"llama.context_length": 131072},
    }
    with serve_json({"/v1/models": model_list("m"), "/api/show": {"m": shown}}) as address:
        (server,) = await discover_servers([KnownServer("Ollama", address)])
    assert server.models == (AvailableModel("m", 8192),)


async def test_lm_studio_reports_the_loaded_context_size() -> None:
    sizes = {"data": [{"id": "m", "max_context_length": 131072, "loaded_context_length": 4096}]}
    with serve_json({"/v1/models": model_list("m"), "/api/v0/models": sizes}) as address:
        (server,) = await discover_servers([KnownServer("LM Studio", address)])
    assert server.models == (AvailableModel("m", 4096),)


@pytest.mark.parametrize("nonsense", [[], {"data": 7}, {"data": [1, {"id": None}]}, "text", {"data": [{}]}])
async def test_an_invalid_model_list_is_empty(nonsense: object) -> None:
    with serve_json({"/v1/models": nonsense}) as address:
        assert await fetch_models(f"{address}/v1") == ()


async def test_the_api_key_is_sent() -> None:
    keys: list[str] = []
    with serve_json({"/v1/models": model_list("m")}, keys=keys) as address:
        await fetch_models(f"{address}/v1/", api_key="secret-key")
    assert keys == ["Bearer secret-key"]


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("box:1234", "http://box:1234"),
        ("https://box", "https://box:443"),
        ("http://box:7/", "http://box:7"),
        ("box:none", "http://127.0.0.1:11434"),
    ],
)
def test_ollama_host_sets_the_address_of_ollama(host: str, address: str) -> None:
    assert known_servers({"OLLAMA_HOST": host})[0].address == address

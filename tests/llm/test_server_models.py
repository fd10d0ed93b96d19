"""The servers of this machine are found, with their models and what these hold."""

import pytest

from kimi_tui.llm.server_models import (
    FoundServer,
    OfferedModel,
    UsualServer,
    found_servers,
    offered_models,
    usual_servers,
)
from tests.llm.local_server import answering, listed
from tests.ports import dead_port

OLLAMA = {
    "/v1/models": listed("llama3.2:3b", "nomic-embed-text"),
    "/api/show": {"llama3.2:3b": {"model_info": {"llama.context_length": 131072}}},
}


async def test_those_that_answer_are_found_and_what_is_no_model_to_talk_with_is_left_out() -> None:
    vllm = {"/v1/models": listed("Qwen/Qwen3-8B", max_model_len=40960)}
    with (
        answering(OLLAMA) as ollama,
        answering(vllm) as here,
        answering({}) as something_else,
        dead_port() as dead,
    ):
        found = await found_servers(
            [
                UsualServer("Ollama", ollama),
                UsualServer("LM Studio", f"http://127.0.0.1:{dead}"),
                UsualServer("vLLM", here),
                UsualServer("llama.cpp", something_else),
            ]
        )
    assert found == (
        FoundServer("Ollama", f"{ollama}/v1", (OfferedModel("llama3.2:3b", 131072),)),
        FoundServer("vLLM", f"{here}/v1", (OfferedModel("Qwen/Qwen3-8B", 40960),)),
    )


async def test_what_is_set_for_a_model_of_ollama_goes_before_what_it_was_made_for() -> None:
    shown = {
        "parameters": "stop x\nnum_ctx                8192",
        "model_info": {"llama.context_length": 131072},
    }
    with answering({"/v1/models": listed("m"), "/api/show": {"m": shown}}) as address:
        (server,) = await found_servers([UsualServer("Ollama", address)])
    assert server.models == (OfferedModel("m", 8192),)


async def test_lm_studio_says_with_how_much_a_model_is_loaded() -> None:
    sizes = {"data": [{"id": "m", "max_context_length": 131072, "loaded_context_length": 4096}]}
    with answering({"/v1/models": listed("m"), "/api/v0/models": sizes}) as address:
        (server,) = await found_servers([UsualServer("LM Studio", address)])
    assert server.models == (OfferedModel("m", 4096),)


@pytest.mark.parametrize("nonsense", [[], {"data": 7}, {"data": [1, {"id": None}]}, "text", {"data": [{}]}])
async def test_nonsense_is_no_list_of_models(nonsense: object) -> None:
    with answering({"/v1/models": nonsense}) as address:
        assert await offered_models(f"{address}/v1") == ()


async def test_a_key_goes_along() -> None:
    keys: list[str] = []
    with answering({"/v1/models": listed("m")}, keys=keys) as address:
        await offered_models(f"{address}/v1/", api_key="secret-key")
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
def test_ollama_is_looked_for_where_it_is_told_to_be(host: str, address: str) -> None:
    assert usual_servers({"OLLAMA_HOST": host})[0].address == address

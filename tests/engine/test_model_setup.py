"""Model setup within a session: discovery, connection test, and selection of the model."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.logging import start_logging
from kimi_tui.config.compatible_services import COMPATIBLE_SERVICES
from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.config.settings import Settings
from kimi_tui.wire.events import Notification, SessionInfo
from kimi_tui.wire.model_setup import (
    CancelConnection,
    ConnectModel,
    FindModels,
    ModelConnected,
    ModelSources,
)
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv
from tests.llm.local_server import model_list, serve_json
from tests.llm.servers import Fault, OpenAIServer, ScriptedResponse
from tests.ports import unused_port
from tests.timeouts import TEST_TIMEOUT_S

KEY = "test-0123456789abcdef"


@pytest.fixture(autouse=True)
def no_api_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for service in COMPATIBLE_SERVICES:
        monkeypatch.delenv(service.key_variable, raising=False)
    for name in ("KIMI", "OPENAI", "ANTHROPIC"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)


async def connect(front: FakeFrontEnd, **fields: Any) -> ModelConnected:
    front.send(ConnectModel("c1", **fields))
    return await front.wait_for(ModelConnected)


async def wait_for_model(front: FakeFrontEnd) -> SessionInfo:
    return await front.wait_for(SessionInfo, where=lambda info: info.model_kind != "demo")


def read_all_files(folder: Path) -> str:
    return "".join(
        path.read_text(errors="replace")
        for path in folder.rglob("*")
        if path.is_file() and path.name != "credentials.json"
    )


async def test_a_valid_key_is_saved_and_its_model_is_selected(
    home: SessionEnv,
) -> None:
    start_logging(home.data_dir, level="debug")
    async with OpenAIServer([ScriptedResponse(text="ok"), ScriptedResponse(text="hello")]) as server:
        async with home.open_session(settings=Settings()) as front:
            done = await connect(
                front, provider="kimi", model="m-1", api_key=f" {KEY}\n", base_url=server.base_url
            )
            assert done.model == "m-1", done
            assert (await wait_for_model(front)).models == ("kimi", "m-1")
            logging.getLogger("kimi_tui").warning("the key is %s", KEY)
            assert (await front.turn("hi")).outcome == "finished"
        address = server.base_url
        assert len(server.requests) == 2
        assert server.bodies[-1]["model"] == "m-1"
        assert "[hidden]" in read_all_files(home.data_dir / "logs")
    stored = json.loads((home.data_dir / "credentials.json").read_text())
    assert stored == {"kimi": {"api_key": KEY, "base_url": address}}
    assert KEY not in read_all_files(home.path)
    assert KEY not in repr(ConnectModel("c1", provider="kimi", model="m-1", api_key=KEY))


async def test_an_invalid_key_is_reported_and_nothing_is_saved(home: SessionEnv) -> None:
    async with (
        OpenAIServer([Fault.status_is(401)]) as server,
        home.open_session(settings=Settings()) as front,
    ):
        done = await connect(front, provider="openai", model="", api_key=KEY, base_url=server.base_url)
    assert done.model == ""
    assert "rejected the API key" in done.what
    assert done.hint
    assert not (home.data_dir / "credentials.json").exists()
    assert not (home.data_dir / "config.toml").exists()


async def test_a_canceled_attempt_saves_nothing_and_the_next_one_works(home: SessionEnv) -> None:
    async with (
        OpenAIServer([Fault.stall_after(0), ScriptedResponse(text="ok")]) as server,
        home.open_session(settings=Settings()) as front,
    ):
        fields = {"provider": "kimi", "model": "m-1", "api_key": KEY, "base_url": server.base_url}
        front.send(ConnectModel("c1", **fields))
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while not server.requests:
                await asyncio.sleep(0.01)
        front.send(CancelConnection("c1"))
        front.send(CancelConnection("unknown"))
        front.send(ConnectModel("c2", **{**fields, "model": "m-2"}))
        done = await front.wait_for(ModelConnected)
        assert (done.id, done.model) == ("c2", "m-2")
        assert (await wait_for_model(front)).models == ("kimi", "m-2")
    assert "m-1" not in (home.data_dir / "config.toml").read_text()


@pytest.mark.parametrize("service", ["mine", "openrouter"])
async def test_a_list_of_models_that_cannot_be_read_names_the_reason(home: SessionEnv, service: str) -> None:
    fields = {"provider": service, "model": "", "api_key": KEY}
    gemini = {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}
    with (
        unused_port() as port,
        serve_json({"/v1/models": {"error": {"message": "no"}}}, status=401) as denying,
        serve_json({"/v1/models": [gemini]}, status=400) as invalid,
        serve_json({}) as without_list,
    ):
        async with home.open_session(settings=Settings()) as front:
            for address in (denying, invalid):
                done = await connect(front, base_url=f"{address}/v1", **fields)
                assert "The server rejected the API key" in done.what
            done = await connect(front, base_url=f"http://127.0.0.1:{port}/v1", **fields)
            assert "connection refused" in done.what
            done = await connect(front, base_url=f"{without_list}/v1", **fields)
            assert done.what == "The server lists no models."
    assert not (home.data_dir / "config.toml").exists()
    assert not (home.data_dir / "credentials.json").exists()


async def test_a_local_server_needs_no_key_and_reports_the_context_size(home: SessionEnv) -> None:
    responses = {"/v1/models": model_list("qwen3:8b", max_model_len=40960)}
    with serve_json(responses, text="here I am") as address:
        async with home.open_session(settings=Settings()) as front:
            done = await connect(front, provider="Ollama", model="qwen3:8b", base_url=address)
            assert done.model == "qwen3-8b", done
            assert (await wait_for_model(front)).models == ("qwen3-8b",)
            assert (await front.turn("hi")).outcome == "finished"
    assert (home.data_dir / "config.toml").read_text() == (
        'default_model = "qwen3-8b"\n\n'
        f'[providers.ollama]\ntype = "openai"\nbase_url = "{address}/v1"\n\n'
        '[models.qwen3-8b]\nprovider = "ollama"\nmodel = "qwen3:8b"\nmax_context_size = 40960\n'
    )


async def test_the_only_model_of_a_server_is_selected_and_several_are_offered(home: SessionEnv) -> None:
    with (
        serve_json({"/v1/models": model_list("one", "two")}) as several,
        serve_json({"/v1/models": model_list("only")}) as single,
    ):
        async with home.open_session(settings=Settings()) as front:
            undecided = await connect(front, provider="mine", model="", base_url=several)
            assert undecided.model == ""
            assert undecided.choices == ("one", "two")
            unknown = await connect(front, provider="mine", model="three", base_url=several)
            assert "three" in unknown.what
            assert unknown.choices == ("one", "two")
            assert (await connect(front, provider="mine", model="", base_url=single)).model == "only"


async def test_the_key_of_a_custom_server_isnt_written_to_the_config(home: SessionEnv) -> None:
    keys: list[str] = []
    with serve_json({"/v1/models": model_list("m")}, keys=keys) as address:
        async with home.open_session(settings=Settings()) as front:
            done = await connect(front, provider="mine", model="m", base_url=address, api_key=KEY)
            assert done.model == "m"
            assert (await front.turn("hi")).outcome == "finished"
    assert KEY not in (home.data_dir / "config.toml").read_text()
    assert json.loads((home.data_dir / "credentials.json").read_text()) == {"mine": {"api_key": KEY}}
    assert keys == [f"Bearer {KEY}"]


async def test_connecting_a_second_model_keeps_the_first(home: SessionEnv) -> None:
    async with OpenAIServer([ScriptedResponse(text="ok")]) as server:
        with serve_json({"/v1/models": model_list("local")}) as address:
            async with home.open_session(settings=Settings()) as front:
                await connect(front, provider="kimi", model="", api_key=KEY, base_url=server.base_url)
                done = await connect(front, provider="mine", model="", base_url=address)
                assert done.model == "local"
                info = await front.wait_for(SessionInfo, where=lambda info: info.model == "local")
                assert info.models == ("kimi", "local")


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"provider": "kimi", "model": ""}, "No API key."),
        ({"provider": "kimi", "model": "", "api_key": "two words"}, "The API key contains spaces"),
        ({"provider": "mine", "model": "m", "base_url": "localhost:1"}, "Invalid address."),
        ({"provider": "mine", "model": "m"}, "The address is missing."),
    ],
)
async def test_invalid_fields_are_reported(home: SessionEnv, fields: dict[str, str], what: str) -> None:
    async with home.open_session(settings=Settings()) as front:
        done = await connect(front, **fields)
    assert done.what.startswith(what)
    assert done.hint


async def test_a_configured_provider_without_a_key_can_be_connected(
    home: SessionEnv,
) -> None:
    async with OpenAIServer([ScriptedResponse(text="ok"), ScriptedResponse(text="hello")]) as server:
        home.data_dir.mkdir()
        (home.data_dir / "config.toml").write_text(
            f'[providers.code]\ntype = "kimi"\nbase_url = "{server.base_url}"\napi_key = ""\n'
            '[models.coding]\nprovider = "code"\nmodel = "for-coding"\nmax_context_size = 9999\n'
        )
        settings = settings_of(read_config(data_dir=home.data_dir, work_dir=home.work_dir, environ={}))
        async with home.open_session(settings=settings, allow_no_model=True) as front:
            assert "no API key" in front.of(Notification)[0].title
            front.send(FindModels())
            kimi = (await front.wait_for(ModelSources)).services[0]
            assert (kimi.base_url, kimi.model) == (server.base_url, "for-coding")
            done = await connect(
                front, provider="kimi", model=kimi.model, api_key=KEY, base_url=kimi.base_url
            )
            assert done.model == "coding", done
            await front.wait_for(SessionInfo, where=lambda info: info.model == "coding")
            assert (await front.turn("hi")).outcome == "finished"


async def test_model_sources_contain_no_keys(home: SessionEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serve_json({"/v1/models": model_list("m")}) as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        async with home.open_session(settings=Settings()) as front:
            front.send(FindModels())
            preliminary = await front.wait_for(ModelSources)
            sources = await front.wait_for(ModelSources, where=lambda it: not it.looking)
    assert preliminary.services == sources.services
    assert [(it.name, it.key) for it in sources.services[:4]] == [
        ("kimi", ""),
        ("openai", "environment"),
        ("anthropic", ""),
        ("openrouter", ""),
    ]
    assert ("Ollama", f"{address}/v1") in [(it.name, it.base_url) for it in sources.servers]
    assert KEY not in repr(sources)


OPENROUTER_MODEL = {
    "context_length": 200_000,
    "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"},
    "architecture": {"input_modalities": ["text", "image"]},
    "supported_parameters": ["tools", "reasoning"],
}


async def test_a_compatible_service_is_connected_by_name_with_what_it_reports(home: SessionEnv) -> None:
    responses = {"/v1/models": model_list("anthropic/claude-next", **OPENROUTER_MODEL)}
    with serve_json(responses, text="here I am") as address:
        async with home.open_session(settings=Settings()) as front:
            done = await connect(
                front, provider="openrouter", model="", base_url=f"{address}/v1", api_key=KEY
            )
            assert done.model == "anthropic-claude-next", done
            info = await wait_for_model(front)
    (details,) = info.model_details
    assert (details.provider, details.max_context_size) == ("openrouter", 200_000)
    assert (details.input_price, details.output_price) == (3, 15)
    assert details.capabilities == ("image_in", "thinking")
    assert KEY not in read_all_files(home.data_dir)


async def test_a_services_key_in_the_environment_is_used_and_not_stored(
    home: SessionEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    keys: list[str] = []
    with serve_json({"/v1/models": model_list("llama-9")}, keys=keys) as address:
        async with home.open_session(settings=Settings()) as front:
            done = await connect(front, provider="groq", model="", base_url=f"{address}/v1")
            assert done.model == "llama-9", done
            assert (await front.turn("hi")).outcome == "finished"
    assert 'api_key = "env:GROQ_API_KEY"' in (home.data_dir / "config.toml").read_text()
    assert not (home.data_dir / "credentials.json").exists()
    assert set(keys) == {f"Bearer {KEY}"}


async def test_a_service_without_a_key_is_not_connected(home: SessionEnv) -> None:
    async with home.open_session(settings=Settings()) as front:
        done = await connect(front, provider="gemini", model="gemini-3-pro")
    assert (done.model, done.what) == ("", "No API key.")

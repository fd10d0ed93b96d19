"""Connecting a model from within a session: what there is, the attempt, and the model in use at once."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.logging import start_logging
from kimi_tui.config.loading import read_config, settings_of
from kimi_tui.config.settings import Settings
from kimi_tui.wire.events import Notification, SessionInfo
from kimi_tui.wire.setup import ConnectModel, LookForModels, ModelConnected, ModelSources
from tests.engine.front import Front, Home
from tests.llm.local_server import answering, listed
from tests.llm.servers import Answer, Fault, OpenAIServer

KEY = "test-0123456789abcdef"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KIMI", "OPENAI", "ANTHROPIC"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)


async def connected(front: Front, **wanted: Any) -> ModelConnected:
    front.give(ConnectModel("c1", **wanted))
    return await front.until(ModelConnected)


async def used(front: Front) -> SessionInfo:
    return await front.until(SessionInfo, where=lambda info: info.model_kind != "demo")


def everything_in(folder: Path) -> str:
    return "".join(
        path.read_text(errors="replace")
        for path in folder.rglob("*")
        if path.is_file() and path.name != "credentials.json"
    )


async def test_a_key_that_works_is_kept_and_its_model_answers_at_once(
    home: Home,
) -> None:
    start_logging(home.share_dir, level="debug")
    async with OpenAIServer([Answer(text="ok"), Answer(text="hello")]) as there:
        async with home.opened(settings=Settings()) as front:
            done = await connected(
                front, provider="kimi", model="m-1", api_key=f" {KEY}\n", base_url=there.base_url
            )
            assert done.model == "m-1", done
            assert (await used(front)).models == ("kimi", "m-1")
            logging.getLogger("kimi_tui").warning("the key is %s", KEY)
            assert (await front.turn("hi")).outcome == "finished"
        address = there.base_url
        assert len(there.requests) == 2
        assert there.bodies[-1]["model"] == "m-1"
        assert "[hidden]" in everything_in(home.share_dir / "logs")
    stored = json.loads((home.share_dir / "credentials.json").read_text())
    assert stored == {"kimi": {"api_key": KEY, "base_url": address}}
    assert KEY not in everything_in(home.path)
    assert KEY not in repr(ConnectModel("c1", provider="kimi", model="m-1", api_key=KEY))


async def test_a_refused_key_is_told_and_nothing_is_kept(home: Home) -> None:
    async with OpenAIServer([Fault.status_is(401)]) as there, home.opened(settings=Settings()) as front:
        done = await connected(front, provider="openai", model="", api_key=KEY, base_url=there.base_url)
    assert done.model == ""
    assert "refused the key" in done.what
    assert done.hint
    assert not (home.share_dir / "credentials.json").exists()
    assert not (home.share_dir / "config.toml").exists()


async def test_a_server_of_this_machine_needs_no_key_and_its_size_is_asked_for(home: Home) -> None:
    offers = {"/v1/models": listed("qwen3:8b", max_model_len=40960)}
    with answering(offers, words="here I am") as address:
        async with home.opened(settings=Settings()) as front:
            done = await connected(front, provider="Ollama", model="qwen3:8b", base_url=address)
            assert done.model == "qwen3-8b", done
            assert (await used(front)).models == ("qwen3-8b",)
            assert (await front.turn("hi")).outcome == "finished"
    assert (home.share_dir / "config.toml").read_text() == (
        'default_model = "qwen3-8b"\n\n'
        f'[providers.ollama]\ntype = "openai"\nbase_url = "{address}/v1"\n\n'
        '[models.qwen3-8b]\nprovider = "ollama"\nmodel = "qwen3:8b"\nmax_context_size = 40960\n'
    )


async def test_the_only_model_of_a_server_is_taken_and_of_several_one_is_asked_for(home: Home) -> None:
    with (
        answering({"/v1/models": listed("one", "two")}) as several,
        answering({"/v1/models": listed("only")}) as single,
    ):
        async with home.opened(settings=Settings()) as front:
            asked = await connected(front, provider="mine", model="", base_url=several)
            assert asked.model == ""
            assert asked.choices == ("one", "two")
            unknown = await connected(front, provider="mine", model="three", base_url=several)
            assert "three" in unknown.what
            assert unknown.choices == ("one", "two")
            assert (await connected(front, provider="mine", model="", base_url=single)).model == "only"


async def test_a_key_for_a_server_of_ones_own_stays_out_of_the_config(home: Home) -> None:
    keys: list[str] = []
    with answering({"/v1/models": listed("m")}, keys=keys) as address:
        async with home.opened(settings=Settings()) as front:
            done = await connected(front, provider="mine", model="m", base_url=address, api_key=KEY)
            assert done.model == "m"
            assert (await front.turn("hi")).outcome == "finished"
    assert KEY not in (home.share_dir / "config.toml").read_text()
    assert json.loads((home.share_dir / "credentials.json").read_text()) == {"mine": {"api_key": KEY}}
    assert keys == [f"Bearer {KEY}"]


async def test_models_of_keys_stay_when_another_is_written_down(home: Home) -> None:
    async with OpenAIServer([Answer(text="ok")]) as there:
        with answering({"/v1/models": listed("local")}) as address:
            async with home.opened(settings=Settings()) as front:
                await connected(front, provider="kimi", model="", api_key=KEY, base_url=there.base_url)
                done = await connected(front, provider="mine", model="", base_url=address)
                assert done.model == "local"
                info = await front.until(SessionInfo, where=lambda info: info.model == "local")
                assert info.models == ("kimi", "local")


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"provider": "kimi", "model": ""}, "There is no key."),
        ({"provider": "kimi", "model": "", "api_key": "two words"}, "That is no key"),
        ({"provider": "mine", "model": "m", "base_url": "localhost:1"}, "That is no address."),
        ({"provider": "mine", "model": "m"}, "The address is missing."),
    ],
)
async def test_nonsense_is_told(home: Home, wanted: dict[str, str], told: str) -> None:
    async with home.opened(settings=Settings()) as front:
        done = await connected(front, **wanted)
    assert done.what.startswith(told)
    assert done.hint


async def test_a_provider_of_the_config_that_lacks_only_a_key_is_offered_and_gets_it(home: Home) -> None:
    async with OpenAIServer([Answer(text="ok"), Answer(text="hello")]) as there:
        home.share_dir.mkdir()
        (home.share_dir / "config.toml").write_text(
            f'[providers.code]\ntype = "kimi"\nbase_url = "{there.base_url}"\napi_key = ""\n'
            '[models.coding]\nprovider = "code"\nmodel = "for-coding"\nmax_context_size = 9999\n'
        )
        settings = settings_of(read_config(share_dir=home.share_dir, work_dir=home.work_dir, environ={}))
        async with home.opened(settings=settings, may_lack_model=True) as front:
            assert "no key" in front.of(Notification)[0].title
            front.give(LookForModels())
            kimi = (await front.until(ModelSources)).services[0]
            assert (kimi.base_url, kimi.model) == (there.base_url, "for-coding")
            done = await connected(
                front, provider="kimi", model=kimi.model, api_key=KEY, base_url=kimi.base_url
            )
            assert done.model == "coding", done
            await front.until(SessionInfo, where=lambda info: info.model == "coding")
            assert (await front.turn("hi")).outcome == "finished"


async def test_what_there_is_to_connect_names_no_key(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with answering({"/v1/models": listed("m")}) as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        async with home.opened(settings=Settings()) as front:
            front.give(LookForModels())
            at_once = await front.until(ModelSources)
            sources = await front.until(ModelSources, where=lambda it: not it.looking)
    assert at_once.services == sources.services
    assert [(it.name, it.key) for it in sources.services] == [
        ("kimi", ""),
        ("openai", "environment"),
        ("anthropic", ""),
    ]
    assert ("Ollama", f"{address}/v1") in [(it.name, it.base_url) for it in sources.servers]
    assert KEY not in repr(sources)

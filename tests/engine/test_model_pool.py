"""Model pool: initial model, lookup and caching."""

from typing import Any

import pytest

from kimi_tui.base.errors import ConfigError, ModelNotSet
from kimi_tui.config.settings import Settings
from kimi_tui.engine.models.model_pool import ModelPool, ModelSelection


def settings(**more: Any) -> Settings:
    model = {"provider": "p", "model": "m", "max_context_size": 1000}
    return Settings.model_validate(
        {
            "providers": {"p": {"type": "scripted", "scripts": "scripts.json"}},
            "models": {"a": model, "b": {**model, "price": {"input": 2.0}}},
            **more,
        }
    )


def pool(configured: Settings) -> ModelPool:
    return ModelPool(configured, session_id="s1")


@pytest.mark.parametrize(
    ("selection", "name"),
    [
        (ModelSelection(requested="b", last_used="a", agent_default="a"), "b"),
        (ModelSelection(last_used="b", agent_default="a"), "b"),
        (ModelSelection(last_used="no longer configured", agent_default="b"), "b"),
        (ModelSelection(agent_default="b"), "b"),
        (ModelSelection(), "a"),
        (ModelSelection(demo=True, requested="b"), "demo"),
    ],
)
def test_the_initial_model_follows_precedence(selection: ModelSelection, name: str) -> None:
    assert pool(settings(default_model="a")).resolve_initial(selection).name == name


def test_the_demo_is_the_default_only_if_allowed() -> None:
    empty = pool(Settings())
    assert empty.resolve_initial(ModelSelection(demo_if_unconfigured=True)).kind == "demo"
    with pytest.raises(ModelNotSet):
        empty.resolve_initial(ModelSelection())
    with pytest.raises(ConfigError, match="requested"):
        empty.resolve_initial(ModelSelection(requested="requested", demo_if_unconfigured=True))


def test_a_session_can_start_without_a_model() -> None:
    models = pool(settings(default_model="a", providers={"p": {"type": "kimi"}}))
    assert models.resolve_initial_if_any(ModelSelection()) is None
    assert "no API key" in str(models.problems[0])


def test_a_model_is_built_once() -> None:
    models = pool(settings(default_model="a"))
    assert models.get("a") is models.resolve_initial(ModelSelection())
    assert models.get("a") is not models.get("b")
    assert models.names == ("a", "b")


def test_the_error_for_an_unknown_model_lists_the_configured_ones() -> None:
    with pytest.raises(ConfigError) as error:
        pool(settings()).get("c")
    assert "c" in error.value.what
    assert "a, b" in error.value.hint


def test_each_model_has_its_own_price() -> None:
    models = pool(settings())
    price = models.get("b").price
    assert price is not None
    assert price.input == 2.0
    assert models.get("a").price is None

"""The models of a session: which one it starts with, and switching."""

from typing import Any

import pytest

from kimi_tui.base.errors import ConfigError, ModelNotSet
from kimi_tui.config.settings import Settings
from kimi_tui.engine.models import Models, ModelWish


def settings(**more: Any) -> Settings:
    model = {"provider": "p", "model": "m", "max_context_size": 1000}
    return Settings.model_validate(
        {
            "providers": {"p": {"type": "scripted", "scripts": "scripts.json"}},
            "models": {"a": model, "b": {**model, "price": {"input": 2.0}}},
            **more,
        }
    )


def models(configured: Settings) -> Models:
    return Models(configured, session_id="s1")


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        (ModelWish(asked_for="b", last_used="a", of_agent="a"), "b"),
        (ModelWish(last_used="b", of_agent="a"), "b"),
        (ModelWish(last_used="configured no more", of_agent="b"), "b"),
        (ModelWish(of_agent="b"), "b"),
        (ModelWish(), "a"),
        (ModelWish(demo=True, asked_for="b"), "demo"),
    ],
)
def test_the_first_that_is_named_counts(wish: ModelWish, name: str) -> None:
    assert models(settings(default_model="a")).starting(wish).name == name


def test_without_any_the_demo_answers_where_somebody_sees_it() -> None:
    nothing = models(Settings())
    assert nothing.starting(ModelWish(demo_when_nothing_is_configured=True)).kind == "demo"
    with pytest.raises(ModelNotSet):
        nothing.starting(ModelWish())
    with pytest.raises(ConfigError, match="asked"):
        nothing.starting(ModelWish(asked_for="asked", demo_when_nothing_is_configured=True))


def test_where_one_can_be_connected_later_a_session_begins_without_a_model() -> None:
    known = models(settings(default_model="a", providers={"p": {"type": "kimi"}}))
    assert known.starting_if_any(ModelWish()) is None
    assert "no key" in str(known.problems[0])


def test_a_model_is_built_once() -> None:
    known = models(settings(default_model="a"))
    assert known.named("a") is known.starting(ModelWish())
    assert known.named("a") is not known.named("b")
    assert known.names == ("a", "b")


def test_a_model_that_is_not_configured_is_an_error_that_names_the_others() -> None:
    with pytest.raises(ConfigError) as error:
        models(settings()).named("c")
    assert "c" in error.value.what
    assert "a, b" in error.value.hint


def test_what_a_model_costs_comes_from_its_own_price() -> None:
    known = models(settings())
    price = known.named("b").price
    assert price is not None
    assert price.input == 2.0
    assert known.named("a").price is None

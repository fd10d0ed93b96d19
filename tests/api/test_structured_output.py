"""Responses as values of the program's own types."""

from dataclasses import dataclass
from typing import Annotated

import pytest
from pydantic import Field

from kimi_tui import OutputValidationError
from kimi_tui.base.errors import UsageError

from .conftest import ApiHome


@dataclass
class Place:
    name: Annotated[str, Field(min_length=2)]
    people: int


async def test_a_response_becomes_a_value_of_the_type(home: ApiHome) -> None:
    home.script('text: "{\\"name\\": \\"Oslo\\", \\"people\\": 700000}"')
    async with home.create() as agent:
        assert await agent.ask("where?", output=Place) == Place("Oslo", 700_000)


async def test_a_schema_returns_plain_json(home: ApiHome) -> None:
    home.script("text: [1, 2]")
    async with home.create() as agent:
        schema = {"type": "array", "items": {"type": "integer"}}
        assert await agent.ask("numbers?", output=schema) == [1, 2]


async def test_a_mismatch_is_retried_with_the_reason(home: ApiHome) -> None:
    home.script('text: {"name": "O", "people": 1}', 'text: {"name": "Oslo", "people": 1}')
    async with home.create() as agent:
        assert (await agent.ask("where?", output=Place)).name == "Oslo"
    assert "$.name" in home.journal


async def test_the_error_after_the_last_attempt_has_the_last_response(home: ApiHome) -> None:
    home.script("text: no", "text: still no", "text: never")
    async with home.create() as agent:
        with pytest.raises(OutputValidationError) as caught:
            await agent.ask("where?", output=Place)
    assert caught.value.text == "never"


async def test_an_invalid_schema_is_rejected_before_the_model_is_called(home: ApiHome) -> None:
    home.script("text: unused")
    async with home.create() as agent:
        with pytest.raises(UsageError, match="output"):
            await agent.ask("where?", output=ApiHome.__init__.__class__)
        with pytest.raises(UsageError, match="schema"):
            await agent.ask("where?", output={"type": "nonsense"})

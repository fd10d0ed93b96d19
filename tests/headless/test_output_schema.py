"""--output-schema: the answer is JSON of a given shape, or the run says that it isn't."""

import json
from typing import Any

import pytest

from kimi_tui.base.content import ImageURLPart, MediaURL, TextPart
from kimi_tui.base.errors import UsageError
from kimi_tui.base.output_schema import ATTEMPTS, Misfit, OutputSchema
from kimi_tui.wire.events import StepBegin, TurnEnd, TurnFailure

from .conftest import Run

SHAPE = {
    "type": "object",
    "properties": {"bugs": {"type": "array", "items": {"$ref": "#/$defs/bug"}}},
    "required": ["bugs"],
    "additionalProperties": False,
    "$defs": {"bug": {"type": "string", "minLength": 2}},
}
FITS = '{"bugs": ["off by one"]}'


def schema(shape: Any = SHAPE) -> OutputSchema:
    return OutputSchema(json.dumps(shape), name="shape.json")


def said(text: str) -> list[Any]:
    return [StepBegin(1), TextPart(text)]


async def played(*answers: str, **options: Any) -> Run:
    return await Run().play(*map(said, answers), schema=schema(), **options)


async def test_an_answer_that_fits_is_all_that_text_output_prints() -> None:
    run = Run()
    await run.play(
        [StepBegin(1), TextPart("I look around."), StepBegin(2), TextPart(f"\n{FITS}\n")], schema=schema()
    )
    assert json.loads(run.stdout.text) == {"bugs": ["off by one"]}
    assert run.stdout.text.count("\n") == 1
    assert run.exit_code == 0


@pytest.mark.parametrize("output_format", ["json", "stream-json"])
async def test_the_value_stands_in_the_result(output_format: Any) -> None:
    run = await played(FITS, output_format=output_format)
    assert run.result["structured_output"] == {"bugs": ["off by one"]}
    assert run.result["turns"] == 1


async def test_the_model_is_told_the_schema_with_the_prompt() -> None:
    run = await played(FITS, prompt="find bugs")
    (prompt,) = run.sent
    assert prompt.startswith("find bugs\n\n")
    assert json.dumps(SHAPE) in prompt


def test_pictures_stay_in_a_prompt_with_a_schema() -> None:
    picture = ImageURLPart(MediaURL("data:image/png;base64,AAAA"))
    asked = schema().asked_along_with((picture,))
    assert asked[0] is picture
    assert isinstance(asked[1], TextPart)


async def test_a_misfit_is_sent_back_with_what_is_wrong_and_the_next_answer_counts() -> None:
    run = await played('{"bugs": [1]}', FITS, output_format="json")
    assert run.result["structured_output"] == {"bugs": ["off by one"]}
    assert run.result["turns"] == 2
    assert "$.bugs[0]: 1 is not of type 'string'" in run.sent[1]


async def test_after_a_few_misfits_the_run_fails() -> None:
    run = await played(*["not at all"] * (ATTEMPTS + 1), output_format="json")
    assert len(run.sent) == ATTEMPTS
    assert (run.exit_code, run.result["outcome"]) == (1, "failed")
    assert "It is not JSON." in run.result["error"]["what"]
    assert "structured_output" not in run.result


async def test_text_output_prints_nothing_that_does_not_fit() -> None:
    run = await played(*["nonsense"] * ATTEMPTS)
    assert (run.stdout.text, run.exit_code) == ("", 1)
    assert "doesn't fit the output schema" in run.stderr.text


async def test_a_turn_that_fails_is_not_asked_again() -> None:
    failed = TurnEnd("failed", 1, TurnFailure("No.", retryable=True))
    run = await Run().play([failed], schema=schema(), output_format="json")
    assert (len(run.sent), run.exit_code) == (1, 75)


async def test_every_message_of_a_stream_is_held_against_it() -> None:
    lines = b'{"role":"user","content":"a"}\n{"role":"user","content":"b"}\n'
    run = Run()
    await run.play(
        said(FITS), said("x"), said(FITS), schema=schema(), input_format="stream-json", stdin=lines
    )
    assert len(run.sent) == 3
    assert run.exit_code == 0


@pytest.mark.parametrize("text", [FITS, f"```json\n{FITS}\n```", f"Here it is:\n```\n{FITS}\n```\n"])
def test_a_code_fence_around_the_answer_does_not_matter(text: str) -> None:
    assert schema().read(text).value == {"bugs": ["off by one"]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "It is empty."),
        ("sorry", "It is not JSON."),
        ("NaN", "It is not JSON."),
        ("{}", "'bugs' is a required property"),
        ('{"bugs": [], "more": 1}', "Additional properties are not allowed"),
        ('{"bugs": [1, 2, 3, 4, 5, 6, 7]}', "and 2 more"),
        (f"```\n{FITS}\n```\nor\n```\n{FITS}\n```", "It is not JSON."),
    ],
)
def test_a_misfit_says_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(Misfit, match=problem):
        schema().read(text)


def test_null_fits_where_null_is_asked_for() -> None:
    assert schema({"type": "null"}).read("null").value is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "holds no JSON schema"),
        ('{"type": "strnig"}', "is no valid JSON schema"),
        ('{"$ref": "https://example.com/s.json"}', "isn't in it"),
        ('{"items": [{"$ref": "#/$defs/none"}]}', "is no valid|isn't in it"),
        ('{"allOf": [{"$ref": "#/$defs/none"}]}', "isn't in it"),
    ],
)
def test_what_is_no_schema_is_told_beforehand(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        OutputSchema(text, name="shape.json")


def test_a_schema_may_refer_to_itself() -> None:
    tree = {"type": "object", "properties": {"a/b": {"type": "string"}, "in": {"$ref": "#"}}}
    pointing = {
        "allOf": [{"$ref": "#/$defs/x~1y/properties/a~1b"}],
        "$defs": {"x/y": tree | {"properties": {"a/b": {}}}},
    }
    assert schema(tree).read('{"in": {"a/b": "x"}}').value
    assert schema(pointing).read('"anything"').value == "anything"

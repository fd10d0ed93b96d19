"""--output-schema: the response is JSON that matches a schema, or the run fails."""

import json
from typing import Any

import pytest

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart
from kimi_tui.base.errors import UsageError
from kimi_tui.base.output_schema import ATTEMPTS, OutputSchema, SchemaMismatch
from kimi_tui.wire.events import StepBegin, TurnEnd, TurnFailure

from .conftest import PrintRun

SCHEMA = {
    "type": "object",
    "properties": {"bugs": {"type": "array", "items": {"$ref": "#/$defs/bug"}}},
    "required": ["bugs"],
    "additionalProperties": False,
    "$defs": {"bug": {"type": "string", "minLength": 2}},
}
VALID = '{"bugs": ["off by one"]}'


def schema(definition: Any = SCHEMA) -> OutputSchema:
    return OutputSchema(json.dumps(definition), name="schema.json")


def text_turn(text: str) -> list[Any]:
    return [StepBegin(1), TextPart(text)]


async def run_with_responses(*responses: str, **options: Any) -> PrintRun:
    return await PrintRun().play(*map(text_turn, responses), schema=schema(), **options)


async def test_text_output_prints_only_the_valid_response() -> None:
    run = PrintRun()
    await run.play(
        [StepBegin(1), TextPart("I look around."), StepBegin(2), TextPart(f"\n{VALID}\n")], schema=schema()
    )
    assert json.loads(run.stdout.text) == {"bugs": ["off by one"]}
    assert run.stdout.text.count("\n") == 1
    assert run.exit_code == 0


@pytest.mark.parametrize("output_format", ["json", "stream-json"])
async def test_the_result_contains_the_value(output_format: Any) -> None:
    run = await run_with_responses(VALID, output_format=output_format)
    assert run.result["structured_output"] == {"bugs": ["off by one"]}
    assert run.result["turns"] == 1


async def test_the_schema_is_sent_with_the_prompt() -> None:
    run = await run_with_responses(VALID, prompt="find bugs")
    (prompt,) = run.sent
    assert prompt.startswith("find bugs\n\n")
    assert json.dumps(SCHEMA) in prompt


def test_images_are_kept_in_a_prompt_with_a_schema() -> None:
    image = ImageURLPart(MediaURL("data:image/png;base64,AAAA"))
    prompt = schema().append_instructions((image,))
    assert prompt[0] is image
    assert isinstance(prompt[1], TextPart)


async def test_a_mismatch_is_sent_back_and_the_next_response_counts() -> None:
    run = await run_with_responses('{"bugs": [1]}', VALID, output_format="json")
    assert run.result["structured_output"] == {"bugs": ["off by one"]}
    assert run.result["turns"] == 2
    assert "$.bugs[0]: 1 is not of type 'string'" in run.sent[1]


async def test_the_run_fails_after_several_mismatches() -> None:
    run = await run_with_responses(*["not at all"] * (ATTEMPTS + 1), output_format="json")
    assert len(run.sent) == ATTEMPTS
    assert (run.exit_code, run.result["outcome"]) == (1, "failed")
    assert "It isn't valid JSON." in run.result["error"]["what"]
    assert "structured_output" not in run.result


async def test_text_output_prints_no_invalid_response() -> None:
    run = await run_with_responses(*["nonsense"] * ATTEMPTS)
    assert (run.stdout.text, run.exit_code) == ("", 1)
    assert "doesn't match the output schema" in run.stderr.text


async def test_a_failed_turn_is_not_repeated() -> None:
    failed = TurnEnd("failed", 1, TurnFailure("No.", retryable=True))
    run = await PrintRun().play([failed], schema=schema(), output_format="json")
    assert (len(run.sent), run.exit_code) == (1, 75)


async def test_every_message_of_a_stream_is_validated() -> None:
    lines = b'{"role":"user","content":"a"}\n{"role":"user","content":"b"}\n'
    run = PrintRun()
    await run.play(
        text_turn(VALID),
        text_turn("x"),
        text_turn(VALID),
        schema=schema(),
        input_format="stream-json",
        stdin=lines,
    )
    assert len(run.sent) == 3
    assert run.exit_code == 0


@pytest.mark.parametrize("text", [VALID, f"```json\n{VALID}\n```", f"Here it is:\n```\n{VALID}\n```\n"])
def test_a_code_fence_around_the_response_is_ignored(text: str) -> None:
    assert schema().parse(text).value == {"bugs": ["off by one"]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "It is empty."),
        ("sorry", "It isn't valid JSON."),
        ("NaN", "It isn't valid JSON."),
        ("{}", "'bugs' is a required property"),
        ('{"bugs": [], "more": 1}', "Additional properties are not allowed"),
        ('{"bugs": [1, 2, 3, 4, 5, 6, 7]}', "and 2 more"),
        (f"```\n{VALID}\n```\nor\n```\n{VALID}\n```", "It isn't valid JSON."),
    ],
)
def test_a_mismatch_describes_the_problem(text: str, problem: str) -> None:
    with pytest.raises(SchemaMismatch, match=problem):
        schema().parse(text)


def test_null_is_valid_if_the_schema_allows_it() -> None:
    assert schema({"type": "null"}).parse("null").value is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "isn't valid JSON"),
        ("[]", "isn't a JSON schema"),
        ('{"type": "strnig"}', "isn't a valid JSON schema"),
        ('{"$ref": "https://example.com/s.json"}', "can't be resolved"),
        ('{"items": [{"$ref": "#/$defs/none"}]}', "isn't a valid|can't be resolved"),
        ('{"allOf": [{"$ref": "#/$defs/none"}]}', "can't be resolved"),
    ],
)
def test_an_invalid_schema_is_rejected_before_the_run(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        OutputSchema(text, name="schema.json")


def test_a_schema_can_be_recursive() -> None:
    tree = {"type": "object", "properties": {"a/b": {"type": "string"}, "in": {"$ref": "#"}}}
    with_pointer = {
        "allOf": [{"$ref": "#/$defs/x~1y/properties/a~1b"}],
        "$defs": {"x/y": tree | {"properties": {"a/b": {}}}},
    }
    assert schema(tree).parse('{"in": {"a/b": "x"}}').value
    assert schema(with_pointer).parse('"anything"').value == "anything"

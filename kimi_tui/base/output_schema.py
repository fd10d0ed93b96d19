"""JSON schema of the final response: instructions for the model and validation."""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from kimi_tui.base.content_parts import TextPart, UserInput
from kimi_tui.base.errors import UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

ATTEMPTS = 3
"""Maximum number of attempts by the model."""
_MAX_PROBLEMS = 5
_MAX_PROBLEM_CHARS = 300
_CODE_FENCE = re.compile(r"```[\w-]*\n(?P<inside>.*?)\n?```", re.DOTALL)


@frozen
class StructuredOutput:
    """A JSON value that matches the schema, possibly null."""

    value: Any


class SchemaMismatch(Exception):
    """A response doesn't match the schema. The message is the reason, as sentences for the user."""

    @property
    def correction(self) -> str:
        """Message that asks the model to correct its response."""
        return (
            f"Your last message doesn't match the JSON schema: {self} Respond again with only one JSON value"
            " that matches the schema, without a code fence and without any other text."
        )


class OutputSchema:
    """A JSON schema in draft 2020-12, or in the draft that its `$schema` names.

    Raises UsageError if the text isn't a valid JSON schema.
    """

    def __init__(self, text: str, *, name: str) -> None:
        self._validator = _build_validator(text, name)

    def append_instructions(self, user_input: UserInput) -> UserInput:
        """Return `user_input` with instructions to respond with a value that matches the schema."""
        schema = json.dumps(self._validator.schema, ensure_ascii=False)
        instructions = (
            "When you are done, your last message must be only one JSON value that matches this JSON schema,"
            f" without a code fence and without any other text:\n{schema}"
        )
        if isinstance(user_input, str):
            return f"{user_input}\n\n{instructions}"
        return (*user_input, TextPart(instructions))

    def parse(self, text: str) -> StructuredOutput:
        """Return the JSON value in `text` or in its only code fence. Raises SchemaMismatch."""
        value = _parse_json(text)
        problems = [
            f"{error.json_path}: {error.message[:_MAX_PROBLEM_CHARS]}"
            for error in sorted(self._validator.iter_errors(value), key=lambda it: it.json_path)
        ]
        if problems:
            more = len(problems) - _MAX_PROBLEMS
            rest = f"; and {more} more" if more > 0 else ""
            raise SchemaMismatch(f"{'; '.join(problems[:_MAX_PROBLEMS])}{rest}.")
        return StructuredOutput(value)


def _build_validator(text: str, name: str) -> "Validator":
    from jsonschema import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for

    try:
        schema = json.loads(text)
    except ValueError as error:
        raise UsageError(
            msg("{source} isn't valid JSON: {problem}.", source=name, problem=error),
            hint="It must contain a JSON schema.",
        ) from None
    if not isinstance(schema, dict):
        raise UsageError(
            msg("{source} isn't a JSON schema.", source=name), hint='A schema is an object: {"type": …}.'
        )
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        what = msg(
            "{source} isn't a valid JSON schema: {path}: {problem}.",
            source=name,
            path=error.json_path,
            problem=error.message[:_MAX_PROBLEM_CHARS],
        )
        raise UsageError(what, hint="See json-schema.org for the syntax of schemas.") from None
    for reference in _find_references(schema):
        if not _is_resolvable(reference, schema):
            raise UsageError(
                msg(
                    "{source} has a reference “{reference}” that can't be resolved.",
                    source=name,
                    reference=sanitize_line(reference),
                ),
                hint="Only references within the file are supported, such as #/$defs/name.",
            )
    validator: Validator = kind(schema)
    return validator


def _find_references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("$ref", "$dynamicRef") and isinstance(inner, str):
                yield inner
            yield from _find_references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _find_references(inner)


def _is_resolvable(reference: str, schema: Any) -> bool:
    """Return whether `reference` is a JSON pointer (RFC 6901) to an existing value in `schema`."""
    if reference == "#":
        return True
    if not reference.startswith("#/"):
        return False
    node = schema
    for step in unquote(reference[2:]).split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return False
    return True


def _parse_json(text: str) -> Any:
    fenced = _CODE_FENCE.findall(text)
    for candidate in (text, *(fenced if len(fenced) == 1 else ())):
        try:
            return json.loads(candidate, parse_constant=_reject_constant)
        except ValueError:
            continue
    raise SchemaMismatch("It isn't valid JSON." if text.strip() else "It is empty.")


def _reject_constant(constant: str) -> Any:
    raise ValueError(constant)

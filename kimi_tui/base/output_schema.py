"""The shape that answers must have: a JSON schema, told to the model and held against what it says."""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from kimi_tui.base.content import TextPart, UserInput
from kimi_tui.base.errors import UsageError
from kimi_tui.base.terminal import plain_line
from kimi_tui.base.value import value

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

ATTEMPTS = 3
"""How often the model may try."""
_MOST_PROBLEMS = 5
_LONGEST_PROBLEM = 300
_FENCED = re.compile(r"```[\w-]*\n(?P<inside>.*?)\n?```", re.DOTALL)


@value
class Structured:
    """A JSON value that fits; null is one, too."""

    value: Any


class Misfit(Exception):
    """Says how an answer doesn't fit, in a sentence for a user."""

    @property
    def correction(self) -> str:
        """What to say to the model."""
        return (
            f"Your last message is not what was asked for: {self} Answer again with nothing but one JSON"
            " value that fits the schema, without a code fence and without words around it."
        )


class OutputSchema:
    """A schema in JSON Schema's draft 2020-12, or in the one that its `$schema` names.

    Raises UsageError for a text that is no JSON schema.
    """

    def __init__(self, text: str, *, name: str) -> None:
        self._validator = _validator(text, name)

    def asked_along_with(self, user_input: UserInput) -> UserInput:
        """`user_input`, and that its answer has to fit."""
        schema = json.dumps(self._validator.schema, ensure_ascii=False)
        wish = (
            "When you are done, let your last message be nothing but one JSON value that fits this JSON"
            f" schema, without a code fence and without words around it:\n{schema}"
        )
        if isinstance(user_input, str):
            return f"{user_input}\n\n{wish}"
        return (*user_input, TextPart(wish))

    def read(self, text: str) -> Structured:
        """The value that `text` is, or that stands in its only code fence. Raises Misfit."""
        value = _json_in(text)
        problems = [
            f"{error.json_path}: {error.message[:_LONGEST_PROBLEM]}"
            for error in sorted(self._validator.iter_errors(value), key=lambda it: it.json_path)
        ]
        if problems:
            more = len(problems) - _MOST_PROBLEMS
            rest = f"; and {more} more" if more > 0 else ""
            raise Misfit(f"{'; '.join(problems[:_MOST_PROBLEMS])}{rest}.")
        return Structured(value)


def _validator(text: str, name: str) -> "Validator":
    from jsonschema import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for

    try:
        schema = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{name} is not JSON: {error}.", hint="Write a JSON schema into it.") from None
    if not isinstance(schema, dict):
        raise UsageError(f"{name} holds no JSON schema.", hint='It should be an object: {"type": …}.')
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        what = f"{name} is no valid JSON schema: {error.json_path}: {error.message[:_LONGEST_PROBLEM]}."
        raise UsageError(what, hint="See json-schema.org for what a schema may hold.") from None
    for reference in _references(schema):
        if not _leads_somewhere(reference, schema):
            raise UsageError(
                f"{name} refers to “{plain_line(reference)}”, which isn't in it.",
                hint="Only references within the file are followed, such as #/$defs/name.",
            )
    validator: Validator = kind(schema)
    return validator


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("$ref", "$dynamicRef") and isinstance(inner, str):
                yield inner
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _leads_somewhere(reference: str, schema: Any) -> bool:
    """Whether `reference` is a JSON pointer (RFC 6901) to a place in `schema`."""
    if reference == "#":
        return True
    if not reference.startswith("#/"):
        return False
    place = schema
    for step in unquote(reference[2:]).split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict) and key in place:
            place = place[key]
        elif isinstance(place, list) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        else:
            return False
    return True


def _json_in(text: str) -> Any:
    fenced = _FENCED.findall(text)
    for candidate in (text, *(fenced if len(fenced) == 1 else ())):
        try:
            return json.loads(candidate, parse_constant=_refuse)
        except ValueError:
            continue
    raise Misfit("It is not JSON." if text.strip() else "It is empty.")


def _refuse(constant: str) -> Any:
    raise ValueError(constant)

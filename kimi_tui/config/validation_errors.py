"""Messages for invalid settings: location, key, value (never a secret) and a hint."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from types import UnionType
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.config.config_source import ConfigSource
from kimi_tui.config.key_location import KeyPath, line_of_key
from kimi_tui.config.settings import ProviderType, Settings

_SECRET_TABLES = frozenset({"custom_headers", "env"})
_SECRET_NAME = re.compile(r"key|token|secret|password|auth", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"(sk|key|tok)[-_]|:[^/\s]+@|(?=\S*\d)(?=\S*[A-Za-z])\S{20,}")
UNKNOWN_KEY = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
"""Types of pydantic's errors for a key that a table doesn't have."""


@frozen
class ConfigProblem:
    """A problem in the config."""

    what: str
    hint: str
    key: KeyPath = ()


def config_error(details: Sequence[ErrorDetails], sources: Sequence[ConfigSource]) -> ConfigError:
    """Return the first problem as an error, with the number of further ones."""
    problems = build_problems(details, sources)
    more = len(problems) - 1
    what = problems[0].what
    if more:
        what += f" (And {more} more; `kimi-tui config check` lists them.)"
    return ConfigError(what, hint=problems[0].hint)


def find_problems(error: ValidationError, sources: Sequence[ConfigSource]) -> list[ConfigProblem]:
    """Return all problems in the order of the settings."""
    return build_problems(error.errors(include_url=False), sources)


def build_problems(details: Sequence[ErrorDetails], sources: Sequence[ConfigSource]) -> list[ConfigProblem]:
    """Return the problems that pydantic's errors describe, in the same order."""
    return [_build_problem(one, sources) for one in details]


def suggestion(name: str, known: Sequence[str], *, what: str) -> str:
    """Return “Did you mean …?” with the closest of `known`, or the list of them."""
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    if near:
        return msg("Did you mean {name}?", name=near[0])
    return (
        msg("Valid {kind}: {names}.", kind=what, names=", ".join(known))
        if known
        else msg("It has no {kind}.", kind=what)
    )


def format_value(key: KeyPath, value: Any) -> str:
    """Return `value` for an error message: shortened, and hidden if it may be a secret."""
    if any(isinstance(part, str) and (part in _SECRET_TABLES or _SECRET_NAME.search(part)) for part in key):
        return "(hidden)"
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = sanitize_line(str(value))
    if _SECRET_VALUE.search(text):
        return "(hidden)"
    text = text if len(text) <= 60 else text[:59] + "…"
    return f'"{text}"' if isinstance(value, str) else text


def _build_problem(details: ErrorDetails, sources: Sequence[ConfigSource]) -> ConfigProblem:
    key: KeyPath = details["loc"]
    missing = details["type"] == "missing"
    source, source_key = source_of_key(key[:-1] if missing else key, sources)
    location = location_of(source, (*source_key, key[-1]) if missing else source_key)
    dotted = ".".join(str(part) for part in key)
    if missing:
        return ConfigProblem(
            msg("{location}: {key} is missing.", location=location, key=dotted),
            msg("Add `{key} = …` to that table.", key=key[-1]),
            key,
        )
    if details["type"] in UNKNOWN_KEY:
        return ConfigProblem(
            msg("{location}: unknown setting {key}.", location=location, key=sanitize_line(dotted)),
            _key_hint(key),
            key,
        )
    return ConfigProblem(
        msg(
            "{location}: {key} is {value}.",
            location=location,
            key=sanitize_line(dotted),
            value=format_value(key, details["input"]),
        ),
        _value_hint(key, details),
        key,
    )


def location_of(source: ConfigSource | None, key: KeyPath) -> str:
    """Return the location of `key` for the beginning of a message: the file, and the line if known."""
    if source is None:
        return msg("The settings")
    line = line_of_key(source, key)
    return msg("{file}, line {line}", file=source.name, line=line) if line else source.name


def source_of_key(key: KeyPath, sources: Sequence[ConfigSource]) -> tuple[ConfigSource | None, KeyPath]:
    """Return the source with the highest precedence that has `key`, and the key in that source.

    Hooks of all sources are combined, so their indexes count through all sources.
    """
    if key[:1] == ("hooks",) and len(key) > 1 and isinstance(key[1], int):
        position = key[1]
        for source in sources:
            hooks = source.data.get("hooks")
            n_hooks = len(hooks) if isinstance(hooks, list) else 0
            if position < n_hooks:
                return source, ("hooks", position, *key[2:])
            position -= n_hooks
    return next((source for source in reversed(sources) if _has_key(source.data, key)), None), key


def _has_key(data: Any, key: KeyPath) -> bool:
    for part in key:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _key_hint(key: KeyPath) -> str:
    name = str(key[-1])
    siblings = known_keys(key[:-1])
    if get_close_matches(name, siblings, n=1, cutoff=0.6):
        return suggestion(name, siblings, what=msg("keys"))
    elsewhere = [table for table, keys in _tables() if name in keys]
    if elsewhere:
        return (
            msg("It belongs in [{table}].", table=elsewhere[0])
            if elsewhere[0]
            else "It belongs above the first table."
        )
    return suggestion(name, siblings, what=msg("keys"))


def _value_hint(key: KeyPath, details: ErrorDetails) -> str:
    if key[-1] == "type":
        return suggestion(str(details["input"]), get_args(ProviderType), what=msg("values"))
    kind, context = details["type"], details.get("ctx", {})
    match kind:
        case "literal_error":
            allowed = re.findall(r"'([^']*)'", context["expected"])
            return suggestion(str(details["input"]), allowed, what=msg("values"))
        case "value_error":
            return f"{str(context['error'])[:1].upper()}{str(context['error'])[1:]}."
        case "model_type" | "dict_type" | "dataclass_type":
            return msg(
                "It should be a table: write [{table}] and its keys below.", table=".".join(map(str, key))
            )
        case "tuple_type" | "list_type" | "frozen_set_type":
            return 'It should be a list, such as ["a", "b"].'
        case "string_too_short":
            return "It must not be empty."
    expected_types = {
        "int": msg("a whole number"),
        "float": msg("a number"),
        "bool": msg("true or false"),
        "string": msg("text in quotes"),
    }
    expected = expected_types.get(kind.partition("_")[0])
    if expected:
        return msg("It should be {expected}.", expected=expected)
    return details["msg"].replace("Input should be", "It should be") + "."


def known_keys(table: KeyPath) -> list[str]:
    """Return the valid keys of the table at `table`; empty if it accepts any key or isn't a table."""
    shape: Any = Settings
    for part in table:
        shape = (
            _item_type(shape)
            if isinstance(part, int)
            else _field_types(shape).get(str(part), _value_type(shape))
        )
    return list(_field_types(shape))


def _tables() -> Iterator[tuple[str, list[str]]]:
    yield "", list(_field_types(Settings))
    for name, of in _field_types(Settings).items():
        if keys := list(_field_types(of)):
            yield name, keys
        elif keys := list(_field_types(_value_type(of))):
            yield f"{name}.NAME", keys


def _field_types(shape: Any) -> dict[str, Any]:
    if isinstance(shape, UnionType):
        shape = next(of for of in get_args(shape) if of is not None)
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return {name: info.annotation for name, info in shape.model_fields.items()}
    if is_dataclass(shape):
        return {item.name: item.type for item in fields(shape)}
    return {}


def _item_type(shape: Any) -> Any:
    """Return the item type of a `tuple[…, ...]`."""
    arguments = get_args(shape)
    return arguments[0] if arguments else None


def _value_type(shape: Any) -> Any:
    """Return the value type of a `dict[str, …]`."""
    arguments = get_args(shape)
    return arguments[1] if len(arguments) == 2 else None

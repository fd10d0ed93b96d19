"""What is wrong with a config, in sentences: place, key, value (never a secret) and what would be right."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from types import UnionType
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.terminal import plain_line
from kimi_tui.config.location import KeyPath, line_of
from kimi_tui.config.settings import ProviderType, Settings
from kimi_tui.config.source import Source

_SECRET_TABLES = frozenset({"custom_headers", "env"})
_SECRET_NAME = re.compile(r"key|token|secret|password|auth", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"(sk|key|tok)[-_]|:[^/\s]+@|(?=\S*\d)(?=\S*[A-Za-z])\S{20,}")
_UNKNOWN_KEY = frozenset({"extra_forbidden", "unexpected_keyword_argument"})


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    what: str
    hint: str


def config_error(error: ValidationError, sources: Sequence[Source]) -> ConfigError:
    """The first problem as an error, with the number of those that follow."""
    problems = problems_in(error, sources)
    more = len(problems) - 1
    what = problems[0].what
    if more:
        what += f" (And {more} more; `kimi-tui config check` lists them.)"
    return ConfigError(what, hint=problems[0].hint)


def problems_in(error: ValidationError, sources: Sequence[Source]) -> list[Problem]:
    """Everything that is wrong, in the order of the settings."""
    return [_problem(details, sources) for details in error.errors(include_url=False)]


def suggestion(name: str, known: Sequence[str], *, what: str) -> str:
    """“Did you mean …?” with the nearest of `known`, else the list of them."""
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    if near:
        return f"Did you mean {near[0]}?"
    return f"Its {what} are {', '.join(known)}." if known else f"It takes no {what}."


def shown_value(key: KeyPath, value: Any) -> str:
    """`value` as an error may show it: shortened, and hidden when it may be a secret."""
    if any(isinstance(part, str) and (part in _SECRET_TABLES or _SECRET_NAME.search(part)) for part in key):
        return "(not shown)"
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = plain_line(str(value))
    if _SECRET_VALUE.search(text):
        return "(not shown)"
    text = text if len(text) <= 60 else text[:59] + "…"
    return f'"{text}"' if isinstance(value, str) else text


def _problem(details: ErrorDetails, sources: Sequence[Source]) -> Problem:
    key: KeyPath = details["loc"]
    missing = details["type"] == "missing"
    source, key_there = _source_of(key[:-1] if missing else key, sources)
    place = place_of(source, (*key_there, key[-1]) if missing else key_there)
    dotted = ".".join(str(part) for part in key)
    if missing:
        return Problem(f"{place}: {dotted} is missing.", f"Add a line `{key[-1]} = …` to that table.")
    if details["type"] in _UNKNOWN_KEY:
        return Problem(f"{place}: there is no setting {plain_line(dotted)}.", _right_key(key))
    return Problem(
        f"{place}: {plain_line(dotted)} is {shown_value(key, details['input'])}.", _right_value(key, details)
    )


def place_of(source: Source | None, key: KeyPath) -> str:
    """Where `key` stands, for the beginning of a sentence: the file, and the line if it is known."""
    if source is None:
        return "The settings"
    line = line_of(source, key)
    return f"{source.name}, line {line}" if line else source.name


def _source_of(key: KeyPath, sources: Sequence[Source]) -> tuple[Source | None, KeyPath]:
    """The strongest source that has `key`, since its value is the one that was validated; and its key there.

    Hooks of all sources add up, so that theirs are counted through.
    """
    if key[:1] == ("hooks",) and len(key) > 1 and isinstance(key[1], int):
        position = key[1]
        for source in sources:
            hooks = source.data.get("hooks")
            n_hooks = len(hooks) if isinstance(hooks, list) else 0
            if position < n_hooks:
                return source, ("hooks", position, *key[2:])
            position -= n_hooks
    return next((source for source in reversed(sources) if _holds(source.data, key)), None), key


def _holds(data: Any, key: KeyPath) -> bool:
    for part in key:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _right_key(key: KeyPath) -> str:
    name = str(key[-1])
    siblings = known_keys(key[:-1])
    if get_close_matches(name, siblings, n=1, cutoff=0.6):
        return suggestion(name, siblings, what="keys")
    elsewhere = [table for table, keys in _tables() if name in keys]
    if elsewhere:
        return f"It belongs in [{elsewhere[0]}]." if elsewhere[0] else "It belongs above the first table."
    return suggestion(name, siblings, what="keys") if len(key) > 1 else f"Known are {', '.join(siblings)}."


def _right_value(key: KeyPath, details: ErrorDetails) -> str:
    if key[-1] == "type":
        return suggestion(str(details["input"]), get_args(ProviderType), what="values")
    kind, context = details["type"], details.get("ctx", {})
    match kind:
        case "literal_error":
            allowed = re.findall(r"'([^']*)'", context["expected"])
            return suggestion(str(details["input"]), allowed, what="values")
        case "value_error":
            return f"{str(context['error'])[:1].upper()}{str(context['error'])[1:]}."
        case "model_type" | "dict_type" | "dataclass_type":
            return f"It should be a table: write [{'.'.join(map(str, key))}] and its keys below."
        case "tuple_type" | "list_type" | "frozen_set_type":
            return 'It should be a list, such as ["a", "b"].'
        case "string_too_short":
            return "It must not be empty."
    words = {
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "string": "text in quotes",
    }
    expected = words.get(kind.partition("_")[0])
    if expected:
        return f"It should be {expected}."
    return details["msg"].replace("Input should be", "It should be") + "."


def known_keys(table: KeyPath) -> list[str]:
    """The keys that the table at `table` may have; empty when it takes any or isn't one."""
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
    """The items' type of a `tuple[…, ...]`."""
    arguments = get_args(shape)
    return arguments[0] if arguments else None


def _value_type(shape: Any) -> Any:
    """The values' type of a `dict[str, …]`."""
    arguments = get_args(shape)
    return arguments[1] if len(arguments) == 2 else None

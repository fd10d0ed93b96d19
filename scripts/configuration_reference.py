"""Writes the reference in `docs/configuration.md` from the settings' own models, between two marks.

With `--check` it writes nothing, and fails when the page is not current.
"""

import ast
import dataclasses
import inspect
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from kimi_tui.config.settings import Settings

PAGE = Path(__file__).parents[1] / "docs" / "configuration.md"
BEGIN = "<!-- The rest is made by scripts/configuration_reference.py from kimi_tui/config/settings.py. -->\n"
_NAMED = {"providers": "providers.NAME", "models": "models.NAME"}
_HIDDEN_CHOICES = {"google_genai", "gemini", "vertexai", "_echo", "_chaos", "scripted", "demo"}


@dataclasses.dataclass(frozen=True)
class Row:
    """A key of a table."""

    key: str
    kind: Any
    default: Any
    meaning: str


def reference() -> str:
    """The reference as Markdown: a section a table."""
    return "\n".join(_sections("", Settings)).rstrip() + "\n"


def current_page() -> str:
    """The page as it should be."""
    written = PAGE.read_text("utf-8").partition(BEGIN)[0]
    return f"{written}{BEGIN}\n{reference()}"


def _sections(name: str, table: type) -> Iterator[str]:
    rows = list(_rows(table))
    inner = [(row, model) for row in rows if (model := _table_of(row.kind)) is not None]
    plain = [row for row in rows if row.key not in {row.key for row, _ in inner}]
    if name:
        yield f"### `{name}`\n"
        yield f"{_sentence(inspect.getdoc(table) or '')}\n"
    else:
        yield "### Outside every table\n"
    if plain:
        yield "| key | | default | |\n|---|---|---|---|"
        yield from (f"| `{row.key}` | {_kind(row.kind)} | {_default(row)} | {row.meaning} |" for row in plain)
        yield ""
    for row, model in inner:
        path = f"{name}.{row.key}".lstrip(".")
        if get_origin(row.kind) is tuple:
            yield from _sections(f"[[{path}]]", model)
        else:
            yield from _sections(
                f"[{_NAMED.get(path, path).strip('[]')}]" if not name else _below(name, row.key), model
            )


def _below(name: str, key: str) -> str:
    return f"[{name.strip('[]')}.{key}]"


def _rows(table: type) -> Iterator[Row]:
    meanings = _meanings(table)
    if issubclass(table, BaseModel):
        for name, field in table.model_fields.items():
            yield Row(name, field.rebuild_annotation(), _value(field), meanings.get(name, ""))
    else:
        hints = inspect.get_annotations(table, eval_str=True)
        for item in dataclasses.fields(table):
            yield Row(item.name, hints[item.name], item.default, meanings.get(item.name, ""))


def _value(field: FieldInfo) -> Any:
    return field.get_default(call_default_factory=True)


def _meanings(table: type) -> dict[str, str]:
    """The docstrings that stand below the fields."""
    (body,) = ast.parse(inspect.getsource(table)).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            found[field.target.id] = _sentence(str(below.value.value))
    return found


def _sentence(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _bare(kind: Any) -> Any:
    """A type without what is annotated to it, and without None."""
    if get_origin(kind) is Annotated:
        return _bare(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        (only,) = [of for of in get_args(kind) if of is not type(None)]
        return _bare(only)
    return kind


def _table_of(kind: Any) -> type | None:
    """The model of a key that holds a table, tables by name, or a list of tables."""
    kind = _bare(kind)
    if get_origin(kind) in (dict, tuple):
        kind = _bare([of for of in get_args(kind) if of is not Ellipsis][-1])
    is_table = isinstance(kind, type) and (issubclass(kind, BaseModel) or dataclasses.is_dataclass(kind))
    return kind if is_table else None


def _kind(kind: Any) -> str:
    kind = _bare(kind)
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in _choices(kind) if choice not in _HIDDEN_CHOICES)
    if get_origin(kind) in (tuple, frozenset):
        inner = _bare(get_args(kind)[0])
        return f"list of {_kind(inner)}" if get_origin(inner) is Literal else "list"
    if get_origin(kind) is dict:
        return "table of texts"
    return {str: "text", SecretStr: "text", bool: "true, false", int: "whole number", float: "number"}[kind]


def _choices(kind: Any) -> Iterator[str]:
    for choice in get_args(kind):
        if get_origin(choice) is Literal:
            yield from _choices(choice)
        else:
            yield choice


def _default(row: Row) -> str:
    match row.default:
        case value if value is PydanticUndefined or value is dataclasses.MISSING:
            return "must be given"
        case None:
            return ""
        case SecretStr():
            return ""
        case tuple() | frozenset() | dict() as many:
            return "empty" if not many else f"`{json.dumps(list(many))}`"
        case "":
            return ""
        case float() as number if number.is_integer():
            return f"`{int(number)}`"
        case value:
            return f"`{json.dumps(value)}`"


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    page = current_page()
    if arguments == ["--check"]:
        if PAGE.read_text("utf-8") != page:
            sys.stderr.write(
                "docs/configuration.md is not current. Run scripts/configuration_reference.py.\n"
            )
            return 1
        return 0
    PAGE.write_text(page, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Settings described by their models: key, kind, choices, default and documentation of each.

The documentation of a field is the docstring below it, read from the source.
"""

import ast
import dataclasses
import inspect
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic_core import PydanticUndefined

from kimi_tui.config.key_location import KeyPath
from kimi_tui.config.settings import Settings

Kind = Literal["switch", "choice", "integer", "number", "text", "list", "secret", "table"]
NAMED_TABLES = ("providers", "models")
"""Tables that contain tables with user-defined names."""
_HIDDEN_CHOICES = frozenset({"google_genai", "gemini", "vertexai", "_echo", "_chaos", "scripted", "demo"})


@dataclass(frozen=True, slots=True)
class SettingField:
    """A key of a table."""

    key: str
    annotation: Any
    default: Any
    """PydanticUndefined if the key is required."""
    meaning: str

    @property
    def kind(self) -> Kind:
        """How a value is entered."""
        bare = bare_type(self.annotation)
        if get_origin(bare) is Literal:
            return "choice"
        if table_of(self.annotation) is not None or get_origin(bare) is dict:
            return "table"
        if get_origin(bare) in (tuple, frozenset):
            return "list"
        kinds: dict[Any, Kind] = {
            bool: "switch",
            int: "integer",
            float: "number",
            str: "text",
            SecretStr: "secret",
        }
        return kinds[bare]

    @property
    def choices(self) -> tuple[str, ...]:
        """Allowed values of a `choice`, or of the items of a list."""
        bare = bare_type(self.annotation)
        if get_origin(bare) in (tuple, frozenset):
            bare = bare_type(get_args(bare)[0])
        if get_origin(bare) is not Literal:
            return ()
        return tuple(choice for choice in _literals(bare) if choice not in _HIDDEN_CHOICES)


@dataclass(frozen=True, slots=True)
class SettingDoc:
    """A setting and its path."""

    path: KeyPath
    field: SettingField

    @property
    def group(self) -> str:
        """Dotted path of its table."""
        return dotted_key(self.path[:-1])


def setting_docs(data: Mapping[str, Any]) -> Iterator[SettingDoc]:
    """Yield every setting. Tables with user-defined names come from `data`."""
    yield from _build_docs((), Settings, data)


def fields_of(table: type) -> tuple[SettingField, ...]:
    """Return the keys of a table in the order of its model."""
    return _fields_of(table)


@lru_cache
def _fields_of(table: type) -> tuple[SettingField, ...]:
    meanings = _field_docs(table)
    if issubclass(table, BaseModel):
        return tuple(
            SettingField(
                name,
                field.rebuild_annotation(),
                field.get_default(call_default_factory=True),
                meanings.get(name, ""),
            )
            for name, field in table.model_fields.items()
        )
    assert dataclasses.is_dataclass(table)
    hints = inspect.get_annotations(table, eval_str=True)
    return tuple(
        SettingField(
            item.name,
            hints[item.name],
            PydanticUndefined if item.default is dataclasses.MISSING else item.default,
            meanings.get(item.name, ""),
        )
        for item in dataclasses.fields(table)
    )


def table_of(annotation: Any) -> type | None:
    """Return the model of a key that holds a table, named tables, or a list of tables. None for others."""
    bare = bare_type(annotation)
    if get_origin(bare) in (dict, tuple):
        bare = bare_type([of for of in get_args(bare) if of is not Ellipsis][-1])
    is_table = isinstance(bare, type) and (issubclass(bare, BaseModel) or dataclasses.is_dataclass(bare))
    return bare if is_table else None


def bare_type(annotation: Any) -> Any:
    """Return a type without annotations and without None."""
    if get_origin(annotation) is Annotated:
        return bare_type(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        (only,) = [of for of in get_args(annotation) if of is not type(None)]
        return bare_type(only)
    return annotation


def dotted_key(path: KeyPath) -> str:
    """Return `path` as TOML writes it, with quotes where needed."""
    return ".".join(_quote_key(str(part)) for part in path)


def _quote_key(part: str) -> str:
    is_bare = part.isascii() and part.replace("-", "").replace("_", "").isalnum()
    return part if is_bare else '"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _build_docs(path: KeyPath, table: type, data: Any) -> Iterator[SettingDoc]:
    for field in fields_of(table):
        here = (*path, field.key)
        inner = table_of(field.annotation)
        below = data.get(field.key) if isinstance(data, Mapping) else None
        if inner is None and field.kind == "table":
            names = below if isinstance(below, Mapping) else {}
            item = SettingField("", get_args(bare_type(field.annotation))[1], "", field.meaning)
            yield from (SettingDoc((*here, name), item) for name in names)
        elif inner is None or get_origin(bare_type(field.annotation)) is tuple:
            yield SettingDoc(here, field)
        elif field.key in NAMED_TABLES:
            for name in below if isinstance(below, Mapping) else ():
                yield from _build_docs(
                    (*here, name), inner, below[name] if isinstance(below, Mapping) else {}
                )
        else:
            yield from _build_docs(here, inner, below)


def _literals(kind: Any) -> Iterator[str]:
    for choice in get_args(kind):
        if get_origin(choice) is Literal:
            yield from _literals(choice)
        else:
            yield choice


def _field_docs(table: type) -> dict[str, str]:
    """Return the docstrings below the fields."""
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
            found[field.target.id] = " ".join(str(below.value.value).split())
    return found

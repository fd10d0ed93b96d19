"""The settings described by their own models: key, kind, choices, default and meaning of each.

What a field means is the docstring below it, read from the model's source.
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

from kimi_tui.config.location import KeyPath
from kimi_tui.config.settings import Settings

Kind = Literal["switch", "choice", "integer", "number", "text", "list", "secret", "table"]
NAMED_TABLES = ("providers", "models")
"""Tables of tables, by names that the user gives."""
_HIDDEN_CHOICES = frozenset({"google_genai", "gemini", "vertexai", "_echo", "_chaos", "scripted", "demo"})


@dataclass(frozen=True, slots=True)
class Field:
    """A key of a table, as its model has it."""

    key: str
    annotation: Any
    default: Any
    """PydanticUndefined when it must be given."""
    meaning: str

    @property
    def kind(self) -> Kind:
        """How a value of it is entered."""
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
        """What a `choice` may be, and what the items of a list may be."""
        bare = bare_type(self.annotation)
        if get_origin(bare) in (tuple, frozenset):
            bare = bare_type(get_args(bare)[0])
        if get_origin(bare) is not Literal:
            return ()
        return tuple(choice for choice in _literals(bare) if choice not in _HIDDEN_CHOICES)


@dataclass(frozen=True, slots=True)
class Described:
    """A setting, and where it stands."""

    path: KeyPath
    field: Field

    @property
    def group(self) -> str:
        """The table it stands in, dotted."""
        return dotted(self.path[:-1])


def described_settings(data: Mapping[str, Any]) -> Iterator[Described]:
    """Every setting; of tables that the user names those that `data` has."""
    yield from _described((), Settings, data)


def fields_of(table: type) -> tuple[Field, ...]:
    """The keys of a table, in the order of its model."""
    return _fields_of(table)


@lru_cache
def _fields_of(table: type) -> tuple[Field, ...]:
    meanings = _meanings(table)
    if issubclass(table, BaseModel):
        return tuple(
            Field(
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
        Field(
            item.name,
            hints[item.name],
            PydanticUndefined if item.default is dataclasses.MISSING else item.default,
            meanings.get(item.name, ""),
        )
        for item in dataclasses.fields(table)
    )


def table_of(annotation: Any) -> type | None:
    """The model of a key that holds a table, tables by name, or a list of tables."""
    bare = bare_type(annotation)
    if get_origin(bare) in (dict, tuple):
        bare = bare_type([of for of in get_args(bare) if of is not Ellipsis][-1])
    is_table = isinstance(bare, type) and (issubclass(bare, BaseModel) or dataclasses.is_dataclass(bare))
    return bare if is_table else None


def bare_type(annotation: Any) -> Any:
    """A type without what is annotated to it, and without None."""
    if get_origin(annotation) is Annotated:
        return bare_type(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        (only,) = [of for of in get_args(annotation) if of is not type(None)]
        return bare_type(only)
    return annotation


def dotted(path: KeyPath) -> str:
    """`path` as TOML writes it: a part that is no bare key is quoted."""
    return ".".join(_quoted(str(part)) for part in path)


def _quoted(part: str) -> str:
    is_bare = part.isascii() and part.replace("-", "").replace("_", "").isalnum()
    return part if is_bare else '"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _described(path: KeyPath, table: type, data: Any) -> Iterator[Described]:
    for field in fields_of(table):
        here = (*path, field.key)
        inner = table_of(field.annotation)
        below = data.get(field.key) if isinstance(data, Mapping) else None
        if inner is None and field.kind == "table":
            names = below if isinstance(below, Mapping) else {}
            item = Field("", get_args(bare_type(field.annotation))[1], "", field.meaning)
            yield from (Described((*here, name), item) for name in names)
        elif inner is None or get_origin(bare_type(field.annotation)) is tuple:
            yield Described(here, field)
        elif field.key in NAMED_TABLES:
            for name in below if isinstance(below, Mapping) else ():
                yield from _described((*here, name), inner, below[name] if isinstance(below, Mapping) else {})
        else:
            yield from _described(here, inner, below)


def _literals(kind: Any) -> Iterator[str]:
    for choice in get_args(kind):
        if get_origin(choice) is Literal:
            yield from _literals(choice)
        else:
            yield choice


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
            found[field.target.id] = " ".join(str(below.value.value).split())
    return found

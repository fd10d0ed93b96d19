"""Markers on types that pydantic reads when it first builds an adapter for them.

The nouns of `base` and `wire` are on the path to the first frame, and importing pydantic costs half as
much as Textual; so a type says how it is decoded with these markers, and pydantic comes with the first value.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args

from kimi_tui.base.value import value


@value
class ByType:
    """`Annotated[A | B, ByType()]`: which dataclass it is says its `type` field, a literal with a default."""

    fallback: Any = None
    """The member that takes every other `type`; without one, those are an error."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        members = {_type_default(member): member for member in get_args(source)}
        fallback = _type_default(self.fallback) if self.fallback else None

        def tag(value: Any) -> Any:
            kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
            return kind if kind in members or fallback is None else fallback

        return core_schema.tagged_union_schema(
            {kind: handler.generate_schema(member) for kind, member in members.items()}, discriminator=tag
        )


@value
class Prepared:
    """`Annotated[A, Prepared(f)]`: a value is passed through `f` before it is decoded as an `A`."""

    prepare: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_before_validator_function(self.prepare, handler(source))


def _type_default(of: Any) -> Any:
    return next(field.default for field in fields(of) if field.name == "type")

"""Type annotations that pydantic reads when it builds an adapter.

The types of `base` and `wire` are imported before the first frame, and importing pydantic takes half as long
as importing Textual. With these markers a type can define how it is decoded without importing pydantic.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args

from kimi_tui.base.frozen import frozen


@frozen
class TaggedUnion:
    """`Annotated[A | B, TaggedUnion()]`: the `type` field selects the dataclass.

    Each member has a `type` field with a literal type and a default.
    """

    fallback: Any = None
    """The member for unknown values of `type`. Without it they are errors."""

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


@frozen
class LazyBeforeValidator:
    """`Annotated[A, LazyBeforeValidator(f)]`: `f` converts a value before it is decoded as an `A`."""

    prepare: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_before_validator_function(self.prepare, handler(source))


def _type_default(of: Any) -> Any:
    return next(field.default for field in fields(of) if field.name == "type")

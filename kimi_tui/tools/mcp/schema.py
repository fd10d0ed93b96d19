"""A tool's schema made fit for providers: one that they refuse would end every turn, not only this tool's."""

from typing import Any

_MOST_NODES = 5_000
_DEEPEST = 40
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


class BadSchema(Exception):
    """A schema that no model could be given; the text says why."""


def usable_schema(schema: Any) -> dict[str, Any]:
    """`schema` as a schema of type object, its references within itself resolved. Raises BadSchema.

    Without a schema, a tool takes any object.
    """
    if schema is None:
        return {"type": "object", "properties": {}}
    if not isinstance(schema, dict):
        raise BadSchema("its schema is none")
    usable = _Resolved(schema).whole()
    if usable.get("type", "object") != "object":
        raise BadSchema(f"its schema is of the type {usable['type']}, not object")
    for key in ("$schema", "$id", "$defs", "definitions"):
        usable.pop(key, None)
    usable["type"] = "object"
    usable.setdefault("properties", {})
    return usable


class _Resolved:
    """Walks a schema; what it refers to within itself is put in place, as far as that goes."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._nodes_left = _MOST_NODES

    def whole(self) -> dict[str, Any]:
        return {
            key: self._value(key, value, 0)
            for key, value in ({**self._node(self._root, 0)} if "$ref" in self._root else self._root).items()
            if key not in ("$defs", "definitions")
        }

    def _node(self, node: Any, depth: int) -> dict[str, Any]:
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise BadSchema(f"its schema has more than {_MOST_NODES:,} parts")
        if isinstance(node, bool):
            return {} if node else {"not": {}}
        if not isinstance(node, dict):
            raise BadSchema("its schema holds what is no schema")
        if depth > _DEEPEST:
            return {}
        if isinstance(reference := node.get("$ref"), str):
            rest = {key: value for key, value in node.items() if key != "$ref"}
            return {**self._node(self._referred(reference), depth + 8), **self._node(rest, depth + 1)}
        return {key: self._value(key, value, depth + 1) for key, value in node.items()}

    def _value(self, key: str, value: Any, depth: int) -> Any:
        match key:
            case "properties" | "patternProperties":
                if not isinstance(value, dict):
                    raise BadSchema(f"its schema has {key} that are no table")
                return {name: self._node(item, depth) for name, item in value.items()}
            case "items" | "additionalProperties" | "not" | "contains" | "propertyNames":
                return value if isinstance(value, bool) else self._node(value, depth)
            case "anyOf" | "oneOf" | "allOf" | "prefixItems":
                if not isinstance(value, list) or not value:
                    raise BadSchema(f"its schema has an {key} that is no list")
                return [self._node(item, depth) for item in value]
            case "type":
                types = value if isinstance(value, list) else [value]
                if not types or not all(isinstance(each, str) and each in _TYPES for each in types):
                    raise BadSchema("its schema names a type that there is not")
            case "required":
                if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                    raise BadSchema("its schema has a list of required names that is none")
            case "enum":
                if not isinstance(value, list) or not value:
                    raise BadSchema("its schema has an enum without values")
            case _:
                pass
        return value

    def _referred(self, reference: str) -> Any:
        found: Any = self._root
        if reference == "#":
            return found
        for part in reference.removeprefix("#/").split("/") if reference.startswith("#/") else [None]:
            name = part.replace("~1", "/").replace("~0", "~") if part is not None else None
            if not isinstance(found, dict) or name not in found:
                raise BadSchema(f"its schema refers to {reference[:100]}, which is not there")
            found = found[name]
        return found

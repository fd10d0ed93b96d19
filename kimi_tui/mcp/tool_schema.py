"""Sanitizing of tool schemas.

If a provider rejects the schema of one tool, every request fails, not only calls of this tool.
"""

from typing import Any

_MAX_NODES = 5_000
_MAX_DEPTH = 40
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


class InvalidSchema(Exception):
    """Raised for a schema that no provider accepts. The message gives the reason."""


def sanitize_schema(schema: Any) -> dict[str, Any]:
    """Return `schema` as a schema of type object, with internal references resolved. Raises InvalidSchema.

    A tool without a schema accepts any object.
    """
    if schema is None:
        return {"type": "object", "properties": {}}
    if not isinstance(schema, dict):
        raise InvalidSchema("its schema isn't an object")
    resolved = _SchemaResolver(schema).resolve()
    if resolved.get("type", "object") != "object":
        raise InvalidSchema(f"its schema has the type {resolved['type']} instead of object")
    for key in ("$schema", "$id", "$defs", "definitions"):
        resolved.pop(key, None)
    resolved["type"] = "object"
    resolved.setdefault("properties", {})
    return resolved


class _SchemaResolver:
    """Copies a schema and replaces internal references by their targets, up to a maximum depth."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._nodes_left = _MAX_NODES

    def resolve(self) -> dict[str, Any]:
        return {
            key: self._resolve_value(key, value, 0)
            for key, value in (
                {**self._resolve_node(self._root, 0)} if "$ref" in self._root else self._root
            ).items()
            if key not in ("$defs", "definitions")
        }

    def _resolve_node(self, node: Any, depth: int) -> dict[str, Any]:
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise InvalidSchema(f"its schema has more than {_MAX_NODES:,} parts")
        if isinstance(node, bool):
            return {} if node else {"not": {}}
        if not isinstance(node, dict):
            raise InvalidSchema("its schema contains an invalid subschema")
        if depth > _MAX_DEPTH:
            return {}
        if isinstance(reference := node.get("$ref"), str):
            rest = {key: value for key, value in node.items() if key != "$ref"}
            return {
                **self._resolve_node(self._find_reference(reference), depth + 8),
                **self._resolve_node(rest, depth + 1),
            }
        return {key: self._resolve_value(key, value, depth + 1) for key, value in node.items()}

    def _resolve_value(self, key: str, value: Any, depth: int) -> Any:
        match key:
            case "properties" | "patternProperties":
                if not isinstance(value, dict):
                    raise InvalidSchema(f"in its schema, {key} isn't an object")
                return {name: self._resolve_node(item, depth) for name, item in value.items()}
            case "items" | "additionalProperties" | "not" | "contains" | "propertyNames":
                return value if isinstance(value, bool) else self._resolve_node(value, depth)
            case "anyOf" | "oneOf" | "allOf" | "prefixItems":
                if not isinstance(value, list) or not value:
                    raise InvalidSchema(f"in its schema, {key} isn't a list or is empty")
                return [self._resolve_node(item, depth) for item in value]
            case "type":
                types = value if isinstance(value, list) else [value]
                if not types or not all(isinstance(each, str) and each in _TYPES for each in types):
                    raise InvalidSchema("its schema has an unknown type")
            case "required":
                if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                    raise InvalidSchema("in its schema, required isn't a list of names")
            case "enum":
                if not isinstance(value, list) or not value:
                    raise InvalidSchema("in its schema, enum has no values")
            case _:
                pass
        return value

    def _find_reference(self, reference: str) -> Any:
        target: Any = self._root
        if reference == "#":
            return target
        for part in reference.removeprefix("#/").split("/") if reference.startswith("#/") else [None]:
            name = part.replace("~1", "/").replace("~0", "~") if part is not None else None
            if not isinstance(target, dict) or name not in target:
                raise InvalidSchema(f"its schema references {reference[:100]}, which doesn't exist")
            target = target[name]
        return target

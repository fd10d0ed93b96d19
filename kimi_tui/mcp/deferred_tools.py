"""Deferred tools: the model looks up their schemas on demand, because all schemas would fill its context."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.token_estimate import BYTES_PER_TOKEN
from kimi_tui.llm.provider import ToolSchema

MAX_LISTING_TOKENS = 2_300
"""Maximum size of the list of names, for any number of tools."""
_LINE_CHARS = (100, 70, 50, 40, 30, 20)
"""Possible maximum lengths of a tool's line. The longest one for which the list fits its limit is used."""
_MIN_SUMMARY_CHARS = 8
_NAME_WEIGHT, _DESCRIPTION_WEIGHT = 3, 1
_WORD = re.compile(r"[a-z0-9]+|[^\x00-\x7f]+")
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class DeferredTools:
    """The schemas of deferred tools, with a list of their names and a search."""

    def __init__(self, schemas_by_server: Mapping[str, Sequence[ToolSchema]]) -> None:
        self._by_server = {name: tuple(schemas) for name, schemas in schemas_by_server.items() if schemas}
        self._schemas = {schema.name: schema for schemas in self._by_server.values() for schema in schemas}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all deferred tools."""
        return tuple(self._schemas)

    def build_listing(self) -> str:
        """Return the tools' names by server, with as much of their descriptions as the limit allows."""
        max_bytes = MAX_LISTING_TOKENS * BYTES_PER_TOKEN
        for chars in _LINE_CHARS:
            listing = self._format_lines(chars)
            if len(listing.encode("utf-8", "replace")) <= max_bytes:
                return listing
        return self._format_names(max_bytes)

    def search(self, query: str, *, limit: int) -> list[ToolSchema]:
        """Return at most `limit` tools that `query` names or describes, best match first."""
        named = [self._schemas[it] for it in re.split(r"[\s,]+", query) if it in self._schemas]
        words = _split_words(query)
        scores = {
            schema.name: score
            for server, schemas in self._by_server.items()
            for schema in schemas
            if (score := _score(schema, server, words))
        }
        described = (self._schemas[name] for name in sorted(scores, key=lambda name: -scores[name]))
        return list({it.name: it for it in (*named, *described)}.values())[:limit]

    def find_similar(self, name: str) -> str | None:
        """Return the name most similar to `name`; None if no name is similar."""
        return next(iter(get_close_matches(name, self._schemas, n=1)), None)

    def _format_lines(self, max_chars: int) -> str:
        return "\n".join(
            line
            for server, schemas in self._by_server.items()
            for line in (
                f"{sanitize_line(server)} ({len(schemas)}):",
                *(_format_line(schema, max_chars) for schema in schemas),
            )
        )

    def _format_names(self, max_bytes: int) -> str:
        """Return the names only. If they exceed the limit, each server gets an equal share."""
        share = max_bytes // len(self._by_server)
        return "\n".join(
            f"{sanitize_line(server)} ({len(schemas)}): {_join_names(schemas, share - len(server) - 60)}"
            for server, schemas in self._by_server.items()
        )[:max_bytes]


def format_schema(schema: ToolSchema) -> str:
    """Return a tool's name, description and parameters for a model."""
    parameters = json.dumps(schema.parameters, ensure_ascii=False)
    return f"{schema.name}\n{schema.description}\nParameters: {parameters}"


def _format_line(schema: ToolSchema, max_chars: int) -> str:
    summary = next(_iter_sentences(schema.description), "")
    room = max_chars - len(schema.name) - 2
    if not summary or room < _MIN_SUMMARY_CHARS:
        return schema.name
    return f"{schema.name}: {summary if len(summary) <= room else summary[: room - 1].rstrip() + '…'}"


def _iter_sentences(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if stripped := sanitize_line(line).strip():
            yield stripped.split(". ")[0].rstrip(".")


def _join_names(schemas: Sequence[ToolSchema], max_bytes: int) -> str:
    names: list[str] = []
    size = 0
    for schema in schemas:
        size += len(schema.name) + 2
        if size > max_bytes:
            return f"{', '.join(names)} and {len(schemas) - len(names):,} more that SearchMcpTools finds"
        names.append(schema.name)
    return ", ".join(names)


def _split_words(text: str) -> list[str]:
    """Split a text or a name: `createIssue` and `create_issue` have two parts."""
    return _WORD.findall(_CAMEL_CASE.sub(" ", text).lower())


def _score(schema: ToolSchema, server: str, words: Sequence[str]) -> int:
    name_words = {*_split_words(schema.name), *_split_words(server)}
    description = schema.description.lower()
    score = 0
    for word in words:
        stem = word.removesuffix("s") or word
        if any(each.removesuffix("s") == stem for each in name_words):
            score += 2 * _NAME_WEIGHT
        elif any(stem in each for each in name_words):
            score += _NAME_WEIGHT
        elif stem in description:
            score += _DESCRIPTION_WEIGHT
    return score

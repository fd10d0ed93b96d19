"""YAML documents that keep the line numbers of keys and values for error messages."""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import yaml

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize, sanitize_line

_NULL_TAG = "tag:yaml.org,2002:null"


@frozen
class LocatedText:
    """A scalar as written (`0.10` stays `0.10`), with its location."""

    value: str
    file: Path
    line: int

    def error(self, what: str, *, hint: str) -> ConfigError:
        """Return an error about this value."""
        return _error_at(self.file, self.line, what, hint)


class _Entry(NamedTuple):
    line: int
    node: yaml.Node


@frozen
class LocatedMapping:
    """A mapping with its location."""

    entries: Mapping[str, _Entry]
    file: Path
    line: int
    path: str = ""
    """Keys that lead to this mapping, each followed by a dot; empty for the document."""

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def require_known(self, keys: Collection[str]) -> None:
        """Raise ConfigError for the first key that isn't one of `keys`."""
        for key in self.entries:
            if key not in keys:
                what = f"unknown key “{self.path}{sanitize_line(key)}”."
                raise self.error(what, key=key, hint=suggestion_hint(key, keys, what="keys"))

    def text(self, key: str) -> LocatedText | None:
        """Return the scalar under `key`; None if missing or null. Raises ConfigError for any other value."""
        node = self._node(key)
        if node is None or node.tag == _NULL_TAG:
            return None
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(
                f"{self.path}{key} must be a single value.", key=key, hint=f"Write `{key}: value`."
            )
        return LocatedText(node.value, self.file, _line_of(node))

    def texts(self, key: str) -> tuple[LocatedText, ...] | None:
        """Return the scalars under `key`; None if missing, empty if null. Raises ConfigError."""
        node = self._node(key)
        if node is None:
            return None
        if node.tag == _NULL_TAG:
            return ()
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(
                f"{self.path}{key} must be a list.", key=key, hint="Write each entry as `- entry`."
            )
        for item in node.value:
            if not isinstance(item, yaml.ScalarNode) or item.tag == _NULL_TAG:
                raise _error_at(
                    self.file,
                    _line_of(item),
                    f"each entry of {self.path}{key} must be a string.",
                    "Write `- entry`.",
                )
        return tuple(LocatedText(item.value, self.file, _line_of(item)) for item in node.value)

    def mapping(self, key: str) -> "LocatedMapping | None":
        """Return the mapping under `key`; None if missing, empty if null. Raises ConfigError."""
        node = self._node(key)
        if node is None:
            return None
        path = f"{self.path}{key}."
        if node.tag == _NULL_TAG:
            return LocatedMapping({}, self.file, _line_of(node), path)
        if not isinstance(node, yaml.MappingNode):
            hint = "Write `key: value` lines, indented."
            raise self.error(f"{self.path}{key} must be a mapping.", key=key, hint=hint)
        return _to_mapping(node, self.file, path)

    def error(self, what: str, *, hint: str, key: str | None = None) -> ConfigError:
        """Return an error about `key`, or about the whole mapping."""
        return _error_at(self.file, self.line if key is None else self.entries[key].line, what, hint)

    def _node(self, key: str) -> yaml.Node | None:
        entry = self.entries.get(key)
        return entry.node if entry is not None else None


def read_yaml_document(file: Path) -> LocatedMapping:
    """Read the mapping in a YAML file. Raises ConfigError."""
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(
            msg("Can't read {path}: {reason}.", path=file, reason=reason), hint="Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(msg("{path} isn't UTF-8.", path=file), hint="Save it as UTF-8.") from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = sanitize_line(error.problem or error.context or "it can't be parsed")
        raise _error_at(
            file, mark.line + 1 if mark else 1, f"this isn't valid YAML: {problem}.", "Fix the syntax."
        ) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(
            msg("{path} isn't valid YAML: {problem}.", path=file, problem=sanitize_line(str(error))),
            hint="Fix the syntax.",
        ) from error
    if not isinstance(node, yaml.MappingNode):
        raise _error_at(file, 1, "the file must contain a mapping.", "Write `key: value` lines.")
    return _to_mapping(node, file, "")


def suggestion_hint(name: str, known: Collection[str], *, what: str) -> str:
    """Return a hint with the name in `known` closest to `name`. If none is close, list all names."""
    matches = get_close_matches(name, known, n=1)
    if matches:
        return msg("Did you mean “{name}”?", name=matches[0])
    return f"Available {what}: {', '.join(sorted(known))}." if known else f"No {what} are available."


def _to_mapping(node: yaml.MappingNode, file: Path, path: str) -> LocatedMapping:
    entries: dict[str, _Entry] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _error_at(file, _line_of(key), "a key must be a string.", "Write `key: value`.")
        if key.value in entries:
            what = f"duplicate key “{path}{sanitize_line(key.value)}”."
            raise _error_at(file, _line_of(key), what, "Remove one of the two.")
        entries[key.value] = _Entry(_line_of(key), value)
    return LocatedMapping(entries, file, _line_of(node), path)


def _line_of(node: yaml.Node) -> int:
    line: int = node.start_mark.line
    return line + 1


def _error_at(file: Path, line: int, what: str, hint: str) -> ConfigError:
    return ConfigError(sanitize(f"{file}, line {line}: {what}"), hint=sanitize(hint))

"""YAML whose every key and value knows its line, so that an error can name it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import yaml

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.terminal import plain, plain_line

_NULL_TAG = "tag:yaml.org,2002:null"


@dataclass(frozen=True, slots=True)
class Text:
    """A scalar as it was written (`0.10` stays `0.10`), and where."""

    value: str
    file: Path
    line: int

    def error(self, what: str, *, hint: str) -> ConfigError:
        """An error about this value."""
        return _error(self.file, self.line, what, hint)


class _Entry(NamedTuple):
    line: int
    node: yaml.Node


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping."""

    entries: Mapping[str, _Entry]
    file: Path
    line: int
    path: str = ""
    """The keys that lead to it, each with a dot behind it."""

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def require_known(self, keys: Collection[str]) -> None:
        """Raise ConfigError for the first key that is not one of `keys`."""
        for key in self.entries:
            if key not in keys:
                what = f"there is no key “{self.path}{plain_line(key)}”."
                raise self.error(what, key=key, hint=nearest(key, keys, what="keys"))

    def text(self, key: str) -> Text | None:
        """The scalar under `key`; None when it is left out or null. Raises ConfigError for anything else."""
        node = self._node(key)
        if node is None or node.tag == _NULL_TAG:
            return None
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(f"{self.path}{key} is no single value.", key=key, hint=f"Write `{key}: value`.")
        return Text(node.value, self.file, _line(node))

    def texts(self, key: str) -> tuple[Text, ...] | None:
        """The list of scalars under `key`; None when it is left out, empty when null. Raises ConfigError."""
        node = self._node(key)
        if node is None:
            return None
        if node.tag == _NULL_TAG:
            return ()
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(f"{self.path}{key} is no list.", key=key, hint="Write each entry as `- entry`.")
        for item in node.value:
            if not isinstance(item, yaml.ScalarNode) or item.tag == _NULL_TAG:
                raise _error(
                    self.file, _line(item), f"an entry of {self.path}{key} is no text.", "Write `- entry`."
                )
        return tuple(Text(item.value, self.file, _line(item)) for item in node.value)

    def table(self, key: str) -> "Table | None":
        """The mapping under `key`; None when it is left out, empty when null. Raises ConfigError."""
        node = self._node(key)
        if node is None:
            return None
        path = f"{self.path}{key}."
        if node.tag == _NULL_TAG:
            return Table({}, self.file, _line(node), path)
        if not isinstance(node, yaml.MappingNode):
            hint = "Write `key: value` lines, indented."
            raise self.error(f"{self.path}{key} is no mapping.", key=key, hint=hint)
        return _table(node, self.file, path)

    def error(self, what: str, *, hint: str, key: str | None = None) -> ConfigError:
        """An error about `key`, or about the whole."""
        return _error(self.file, self.line if key is None else self.entries[key].line, what, hint)

    def _node(self, key: str) -> yaml.Node | None:
        entry = self.entries.get(key)
        return entry.node if entry is not None else None


def read_document(file: Path) -> Table:
    """The mapping that a YAML file holds. Raises ConfigError."""
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{file} can't be read: {reason}.", hint="Check the path.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8.", hint="Save it as UTF-8.") from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = plain_line(error.problem or error.context or "it can't be parsed")
        raise _error(
            file, mark.line + 1 if mark else 1, f"this is no YAML: {problem}.", "Correct it."
        ) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{file} is no YAML: {plain_line(str(error))}.", hint="Correct it.") from error
    if not isinstance(node, yaml.MappingNode):
        raise _error(file, 1, "the file holds no mapping.", "Write `key: value` lines.")
    return _table(node, file, "")


def nearest(name: str, known: Collection[str], *, what: str) -> str:
    """“Did you mean …?” with the nearest of `known`, else all of them."""
    near = get_close_matches(name, known, n=1)
    if near:
        return f"Did you mean “{near[0]}”?"
    return f"The {what} are {', '.join(sorted(known))}." if known else f"There are no {what}."


def _table(node: yaml.MappingNode, file: Path, path: str) -> Table:
    entries: dict[str, _Entry] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _error(file, _line(key), "a key is no text.", "Write `key: value`.")
        if key.value in entries:
            what = f"the key “{path}{plain_line(key.value)}” stands here a second time."
            raise _error(file, _line(key), what, "Keep one of the two.")
        entries[key.value] = _Entry(_line(key), value)
    return Table(entries, file, _line(node), path)


def _line(node: yaml.Node) -> int:
    line: int = node.start_mark.line
    return line + 1


def _error(file: Path, line: int, what: str, hint: str) -> ConfigError:
    return ConfigError(plain(f"{file}, line {line}: {what}"), hint=plain(hint))

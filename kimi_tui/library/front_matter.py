"""Markdown files with a front matter: `key: value` lines between two `---`, then the text."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.secret_paths import is_private
from kimi_tui.base.terminal import plain
from kimi_tui.base.value import value

MOST_BYTES = 1_000_000
MOST_CHARACTERS = 16_000
MOST_BRACKETS = 300
"""Of a front matter."""
_FENCE = re.compile(r"^---[ \t]*$")
_LINE = re.compile(r"^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$")


@value
class MarkdownFile:
    """A file as it was read."""

    path: Path
    values: Mapping[str, Any]
    """The front matter; empty without one."""
    body: str

    def text(self, key: str) -> str:
        """The value of `key` on one line; empty when there is none."""
        value = self.values.get(key)
        if isinstance(value, list):
            value = " ".join(map(str, value))
        return " ".join(str(value).split()) if value is not None else ""

    def flag(self, key: str, *, default: bool) -> bool:
        """Whether `key` is true. Raises ConfigError when it is neither true nor false."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise ConfigError(plain(f"{self.path}: {key} is {value!r}."), hint="Write true or false.")
        return value

    @property
    def first_line(self) -> str:
        """The first line that says something, without the marks of a heading."""
        lines = (line.strip().lstrip("#").strip() for line in self.body.split("\n"))
        return next(filter(None, lines), "")


def read_markdown(path: Path) -> MarkdownFile:
    """The file at `path`. Raises ConfigError that names file and line."""
    try:
        if not path.is_file():  # a FIFO would block
            raise ConfigError(f"{path} is no file.", hint="Take it away.")
        if is_private(path.resolve()):
            raise ConfigError(f"{path} leads to a file that may hold secrets.", hint="Take it away.")
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror or error}.", hint="Check it.") from error
    if len(data) > MOST_BYTES:
        raise ConfigError(f"{path} is larger than 1 MB.", hint="Move most of it to files beside it.")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8.", hint="Save it as UTF-8.") from error
    lines = text.split("\n")
    if not _FENCE.match(lines[0]):
        return MarkdownFile(path, {}, text.strip())
    end = next((number for number, line in enumerate(lines[1:], 1) if _FENCE.match(line)), None)
    if end is None:
        raise ConfigError(f"{path}, line 1: the front matter has no end.", hint="Close it with `---`.")
    return MarkdownFile(path, _values(path, lines[1:end]), "\n".join(lines[end + 1 :]).strip())


def _values(path: Path, lines: list[str]) -> Mapping[str, Any]:
    """The front matter as YAML. Plain `key: value` lines that are none are read as they are meant: files for
    other programs have values such as `Use when: …`.
    """
    import yaml

    text = "\n".join(lines)
    try:
        values = _parsed(text)
    except (yaml.YAMLError, RecursionError, ValueError, KeyError, AttributeError) as error:
        plain_values = _plain_values(lines)
        if plain_values is not None:
            return plain_values
        mark = getattr(error, "problem_mark", None)
        line = (mark.line if mark is not None else 0) + 2
        problem = getattr(error, "problem", None) or "it can't be parsed"
        raise ConfigError(
            plain(f"{path}, line {line}: the front matter is no YAML: {problem}."),
            hint="Put values in quotes.",
        ) from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(
            f"{path}, line 2: the front matter holds no keys.", hint="Write `key: value` lines."
        )
    return {str(key): value for key, value in values.items()}


def _parsed(text: str) -> Any:
    """What YAML makes of `text`, unless that could take for ever, or more memory than there is."""
    import yaml

    if len(text) > MOST_CHARACTERS or text.count("[") + text.count("{") > MOST_BRACKETS:
        raise ValueError("there is too much of it")
    if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
        raise ValueError("there are aliases in it")
    return yaml.safe_load(text)


def _plain_values(lines: list[str]) -> Mapping[str, Any] | None:
    matches = [_LINE.match(line) for line in lines if line.strip()]
    if not all(matches):
        return None
    values = {match[1]: (match[2] or "").strip() for match in matches if match is not None}
    return {key: {"true": True, "false": False}.get(value, value) for key, value in values.items()}

"""Markdown files with front matter: `key: value` lines between two `---` lines, then the text."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.secret_paths import is_private
from kimi_tui.base.terminal_text import sanitize

MAX_BYTES = 1_000_000
MAX_CHARACTERS = 16_000
MAX_BRACKETS = 300
"""Maximum number of brackets in the front matter."""
_FENCE = re.compile(r"^---[ \t]*$")
_LINE = re.compile(r"^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$")


@frozen
class MarkdownFile:
    """A parsed Markdown file."""

    path: Path
    values: Mapping[str, Any]
    """The front matter. Empty for a file without front matter."""
    body: str
    source: str
    """The whole text, including the front matter."""

    def text(self, key: str) -> str:
        """Return the value of `key` as one line. Empty if `key` isn't set."""
        value = self.values.get(key)
        if isinstance(value, list):
            value = " ".join(map(str, value))
        return " ".join(str(value).split()) if value is not None else ""

    def flag(self, key: str, *, default: bool) -> bool:
        """Return the boolean value of `key`. Raises ConfigError if the value isn't true or false."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise ConfigError(
                msg(
                    "{path}: invalid value {value} for {key}.",
                    path=sanitize(str(self.path)),
                    value=sanitize(repr(value)),
                    key=sanitize(key),
                ),
                hint="Write true or false.",
            )
        return value

    @property
    def first_line(self) -> str:
        """The first line that isn't empty, without heading markers."""
        lines = (line.strip().lstrip("#").strip() for line in self.body.split("\n"))
        return next(filter(None, lines), "")


def read_markdown(path: Path) -> MarkdownFile:
    """Read the file at `path`. Raises ConfigError with the file's name and the line number."""
    try:
        if not path.is_file():  # a FIFO would block
            raise ConfigError(msg("{path} isn't a regular file.", path=path), hint="Remove it.")
        if is_private(path.resolve()):
            raise ConfigError(
                msg("{path} links to a file that may contain secrets.", path=path), hint="Remove it."
            )
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(
            msg("Can't read {path}: {reason}.", path=path, reason=error.strerror or error),
            hint="Check the file and its permissions.",
        ) from error
    if len(data) > MAX_BYTES:
        raise ConfigError(
            msg("{path} is larger than 1 MB.", path=path), hint="Move parts of it to other files."
        )
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ConfigError(msg("{path} isn't UTF-8.", path=path), hint="Save it as UTF-8.") from error
    lines = text.split("\n")
    if not _FENCE.match(lines[0]):
        return MarkdownFile(path, {}, text.strip(), text.strip())
    end = next((number for number, line in enumerate(lines[1:], 1) if _FENCE.match(line)), None)
    if end is None:
        raise ConfigError(
            msg("{path}, line 1: the front matter isn't closed.", path=path), hint="End it with a `---` line."
        )
    body = "\n".join(lines[end + 1 :]).strip()
    return MarkdownFile(path, _parse_front_matter(path, lines[1:end]), body, text.strip())


def _parse_front_matter(path: Path, lines: list[str]) -> Mapping[str, Any]:
    """Parse the front matter as YAML.

    Plain `key: value` lines that aren't valid YAML are accepted as well: files for other programs have values
    such as `Use when: …`.
    """
    import yaml

    text = "\n".join(lines)
    try:
        values = _load_yaml(text)
    except (yaml.YAMLError, RecursionError, ValueError, KeyError, AttributeError) as error:
        plain_values = _parse_plain_lines(lines)
        if plain_values is not None:
            return plain_values
        mark = getattr(error, "problem_mark", None)
        line = (mark.line if mark is not None else 0) + 2
        problem = getattr(error, "problem", None) or "it can't be parsed"
        raise ConfigError(
            msg(
                "{path}, line {line}: the front matter isn't valid YAML: {problem}.",
                path=sanitize(str(path)),
                line=line,
                problem=sanitize(str(problem)),
            ),
            hint="Put values in quotes.",
        ) from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(
            msg("{path}, line 2: the front matter has no keys.", path=path), hint="Write `key: value` lines."
        )
    return {str(key): value for key, value in values.items()}


def _load_yaml(text: str) -> Any:
    """Parse `text` as YAML. Raises ValueError if parsing could take too much time or memory."""
    import yaml

    if len(text) > MAX_CHARACTERS or text.count("[") + text.count("{") > MAX_BRACKETS:
        raise ValueError("the front matter is too complex")
    if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
        raise ValueError("the front matter has aliases")
    return yaml.safe_load(text)


def _parse_plain_lines(lines: list[str]) -> Mapping[str, Any] | None:
    matches = [_LINE.match(line) for line in lines if line.strip()]
    if not all(matches):
        return None
    values = {match[1]: (match[2] or "").strip() for match in matches if match is not None}
    return {key: {"true": True, "false": False}.get(value, value) for key, value in values.items()}

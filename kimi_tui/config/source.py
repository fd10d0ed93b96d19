"""One place that settings come from: a file or a text, parsed, with the lines of its keys."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.terminal import plain_line
from kimi_tui.base.value import value

Syntax = Literal["toml", "yaml", "json"]
SYNTAXES: dict[str, Syntax] = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}
"""File endings and what they mean; among files of the share dir the first that exists is read."""


_UNREADABLE = (RecursionError, ValueError, KeyError, AttributeError)
"""What parsers raise of values that can't be: too deep, 5,000 digits, `2024-99-99`, `!!bool x`."""


@value
class Source:
    """Settings from one place, not yet validated."""

    name: str
    """What errors call it: a path, or the option."""
    data: dict[str, Any]
    text: str = ""
    syntax: Syntax = "toml"
    path: Path | None = None


def source_from_file(path: Path) -> Source:
    """The settings in a file. Raises ConfigError."""
    syntax = SYNTAXES.get(path.suffix.lower())
    if syntax is None:
        raise ConfigError(
            f"{path} isn't a kind of config that can be read.",
            hint=f"Name a file that ends in {', '.join(SYNTAXES)}.",
        )
    return source_from_text(read_config_text(path), name=str(path), syntax=syntax, path=path)


def source_from_option(text: str) -> Source:
    """The settings in the text of `--config`: TOML, or JSON if it begins with a brace. Raises ConfigError."""
    syntax: Syntax = "json" if text.lstrip().startswith("{") else "toml"
    return source_from_text(text, name="--config", syntax=syntax)


def source_from_text(text: str, *, name: str, syntax: Syntax, path: Path | None = None) -> Source:
    """The settings in `text`. Raises ConfigError."""
    data = _PARSERS[syntax](text, name)
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise ConfigError(
            f"{name} holds a {type(data).__name__} where a table of settings belongs.",
            hint='Write it as `key = value` lines, such as `default_model = "kimi"`.',
        )
    return Source(name, _cleaned(data), text, syntax, path)


def read_config_text(path: Path) -> str:
    """The text of a config file, its byte order mark dropped. Raises ConfigError."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            f"There is no config file {path}.",
            hint="Check the path, or leave the option out to use the one in the share folder.",
        ) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}, line {line}: the text is not UTF-8.", hint="Save it as UTF-8.") from None
    except OSError as error:
        raise ConfigError(
            f"{path} can't be read: {error.strerror}.", hint="Check its owner and permissions."
        ) from error


def _parse_toml(text: str, name: str) -> Any:
    import tomllib  # as the other parsers, for those who have such a config: the first frame waits

    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        what, _, where = str(error).rpartition(" (at ")
        line = where.partition("line ")[2].partition(",")[0]
        if not line.isdigit():
            line = str(text.rstrip().count("\n") + 1)
        raise _syntax_error(name, int(line), "TOML", what or str(error)) from None
    except _UNREADABLE as error:
        raise _syntax_error(name, 1, "TOML", str(error)) from None


def _parse_json(text: str, name: str) -> Any:
    import json

    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _syntax_error(name, error.lineno, "JSON", error.msg) from None
    except _UNREADABLE as error:
        raise _syntax_error(name, 1, "JSON", str(error)) from None


def _parse_yaml(text: str, name: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _syntax_error(name, line, "YAML", error.problem or "it can't be parsed") from None
    except (yaml.YAMLError, *_UNREADABLE) as error:
        raise _syntax_error(name, 1, "YAML", str(error)) from None


_PARSERS: dict[Syntax, Callable[[str, str], Any]] = {
    "toml": _parse_toml,
    "json": _parse_json,
    "yaml": _parse_yaml,
}


def _syntax_error(name: str, line: int, language: str, problem: str) -> ConfigError:
    problem = plain_line(problem).rstrip(".")
    problem = problem[:1].lower() + problem[1:]
    return ConfigError(
        f"{name}, line {line}: this is not valid {language}: {problem}.", hint="Mend that line."
    )


def _cleaned(value: Any) -> Any:
    """`value` with keys as strings, and without the keys whose value is null."""
    match value:
        case dict():
            return {str(key): _cleaned(item) for key, item in value.items() if item is not None}
        case list():
            return [_cleaned(item) for item in value]
        case _:
            return value

"""Sources of settings: parsed config files and `--config` texts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line

Syntax = Literal["toml", "yaml", "json", "jsonc"]
SYNTAXES: dict[str, Syntax] = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}
"""Syntaxes by file suffix. In the data directory, the first existing config file in this order is read."""


_PARSE_ERRORS = (RecursionError, ValueError, KeyError, AttributeError)
"""Errors that parsers raise for invalid values: deep nesting, 5,000 digits, `2024-99-99`, `!!bool x`."""


@frozen
class ConfigSource:
    """Settings from one source, not yet validated."""

    name: str
    """Name in error messages: a path or an option."""
    data: dict[str, Any]
    text: str = ""
    syntax: Syntax = "toml"
    path: Path | None = None


def source_from_file(path: Path) -> ConfigSource:
    """Return the settings in a file. Raises ConfigError."""
    syntax = SYNTAXES.get(path.suffix.lower())
    if syntax is None:
        raise ConfigError(
            msg("{path} isn't a supported config file.", path=path),
            hint=msg("Use a file that ends in {suffixes}.", suffixes=", ".join(SYNTAXES)),
        )
    return source_from_text(read_config_text(path), name=str(path), syntax=syntax, path=path)


def source_from_option(text: str) -> ConfigSource:
    """Return the settings in a `--config` text: JSON if it begins with a brace, else TOML. Raises
    ConfigError.
    """
    syntax: Syntax = "json" if text.lstrip().startswith("{") else "toml"
    return source_from_text(text, name="--config", syntax=syntax)


def source_from_text(text: str, *, name: str, syntax: Syntax, path: Path | None = None) -> ConfigSource:
    """Return the settings in `text`. Raises ConfigError."""
    data = _PARSERS[syntax](text, name)
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise ConfigError(
            msg("{file} must be a table of settings, not a {kind}.", file=name, kind=type(data).__name__),
            hint='Write it as `key = value` lines, such as `default_model = "kimi"`.',
        )
    return ConfigSource(name, _normalize(data), text, syntax, path)


def read_config_text(path: Path) -> str:
    """Return the text of a config file without a byte order mark. Raises ConfigError."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            msg("The config file {path} doesn't exist.", path=path),
            hint="Check the path, or omit the option to use the config file in the data directory.",
        ) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(
            msg("{path}, line {line}: invalid UTF-8.", path=path, line=line), hint="Save the file as UTF-8."
        ) from None
    except OSError as error:
        raise ConfigError(
            msg("Can't read {path}: {reason}.", path=path, reason=error.strerror),
            hint="Check its owner and permissions.",
        ) from error


def _parse_toml(text: str, name: str) -> Any:
    import tomllib  # parsers are imported on demand, to keep startup fast

    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        what, _, where = str(error).rpartition(" (at ")
        line = where.partition("line ")[2].partition(",")[0]
        if not line.isdigit():
            line = str(text.rstrip().count("\n") + 1)
        raise _syntax_error(name, int(line), "TOML", what or str(error)) from None
    except _PARSE_ERRORS as error:
        raise _syntax_error(name, 1, "TOML", str(error)) from None


def _parse_json(text: str, name: str) -> Any:
    import json

    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _syntax_error(name, error.lineno, "JSON", error.msg) from None
    except _PARSE_ERRORS as error:
        raise _syntax_error(name, 1, "JSON", str(error)) from None


def _parse_json_with_comments(text: str, name: str) -> Any:
    from kimi_tui.config.json_comments import blank_json_comments

    return _parse_json(blank_json_comments(text), name)


def _parse_yaml(text: str, name: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _syntax_error(name, line, "YAML", error.problem or "can't be parsed") from None
    except (yaml.YAMLError, *_PARSE_ERRORS) as error:
        raise _syntax_error(name, 1, "YAML", str(error)) from None


_PARSERS: dict[Syntax, Callable[[str, str], Any]] = {
    "toml": _parse_toml,
    "json": _parse_json,
    "jsonc": _parse_json_with_comments,
    "yaml": _parse_yaml,
}


def _syntax_error(name: str, line: int, language: str, problem: str) -> ConfigError:
    problem = sanitize_line(problem).rstrip(".")
    problem = problem[:1].lower() + problem[1:]
    return ConfigError(
        msg(
            "{file}, line {line}: invalid {language}: {problem}.",
            file=name,
            line=line,
            language=language,
            problem=problem,
        ),
        hint="Fix that line.",
    )


def _normalize(value: Any) -> Any:
    """Return `value` with string keys, without keys whose value is null."""
    match value:
        case dict():
            return {str(key): _normalize(item) for key, item in value.items() if item is not None}
        case list():
            return [_normalize(item) for item in value]
        case _:
            return value

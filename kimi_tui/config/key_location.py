"""Location of a key in a config's text. Only used for error messages."""

import tomllib
from collections import Counter
from typing import Any

from kimi_tui.config.config_source import ConfigSource
from kimi_tui.config.json_comments import blank_json_comments

KeyPath = tuple[str | int, ...]


def line_of_key(source: ConfigSource, key: KeyPath) -> int | None:
    """Return the 1-based line of `key`, or of the innermost table around it; None if neither is found."""
    if not source.text:
        return None
    match source.syntax:
        case "toml":
            return _toml_line(source.text, key)
        case "jsonc":
            return _yaml_line(blank_json_comments(source.text), key)
        case "yaml" | "json":
            return _yaml_line(source.text, key)


def _toml_line(text: str, key: KeyPath) -> int | None:
    found, depth = None, 0
    table: KeyPath = ()
    arrays: Counter[KeyPath] = Counter()
    in_string = False
    for number, line in enumerate(text.splitlines(), 1):
        starts_inside = in_string
        in_string ^= (line.count('"""') + line.count("'''")) % 2 == 1
        if starts_inside:
            continue
        stripped = line.strip()
        if stripped.startswith("[["):
            array = _single_path(stripped)
            here = table = (*array, arrays[array])
            arrays[array] += 1
        elif stripped.startswith("["):
            here = table = _single_path(stripped)
        elif "=" in stripped and not stripped.startswith("#"):
            here = table + _assigned_path(stripped)
        else:
            continue
        if depth < len(here) <= len(key) and key[: len(here)] == here:
            found, depth = number, len(here)
    return found


def _assigned_path(line: str) -> KeyPath:
    """Return the key before the assignment's `=`. A quoted key may contain that character."""
    end = line.find("=")
    while end != -1:
        path = _single_path(line[:end] + "= 0")
        if path:
            return path
        end = line.find("=", end + 1)
    return ()


def _single_path(line: str) -> KeyPath:
    """Return the path of the key or table that `line` defines; empty for other lines."""
    try:
        data: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    path = []
    while isinstance(data, dict) and len(data) == 1:
        key, data = next(iter(data.items()))
        path.append(key)
    return tuple(path)


def _yaml_line(text: str, key: KeyPath) -> int | None:
    """Return the line of `key` in YAML or JSON, since nearly all JSON is valid YAML."""
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return None
    line = None
    for part in key:
        match node:
            case yaml.MappingNode():
                pairs = {name.value: (name, value) for name, value in node.value}
                if str(part) not in pairs:
                    break
                name, node = pairs[str(part)]
                line = name.start_mark.line + 1
            case yaml.SequenceNode() if isinstance(part, int) and part < len(node.value):
                node = node.value[part]
                line = node.start_mark.line + 1
            case _:
                break
    return line

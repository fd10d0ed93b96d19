"""MCP servers in VS Code's format: `{"servers": {NAME: {...}}, "inputs": [...]}`.

=====================  ====================================================
In VS Code             In `mcp.json`
=====================  ====================================================
`${env:NAME}`          `${NAME}`
`${input:api-key}`     `${API_KEY}`: an environment variable, since nobody asks for it
`${workspaceFolder}`   the project's directory, or `.` in the user's file
`${userHome}`          `${HOME}`
`${pathSeparator}`     `/`, like `${/}`
=====================  ====================================================

Other placeholders are left alone. A server that has one can't be used.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VSCODE_SERVERS_KEY = "servers"
_PLACEHOLDER = re.compile(r"\$\{(env|input):([^{}]+)\}")
_FOLDER = "${workspaceFolder}"


def convert_vscode_servers(data: Mapping[str, Any], *, folder: Path | None) -> dict[str, Any]:
    """Return the servers in the format of `mcp.json`. `folder` is the project's; None for the user's file."""
    servers = data.get(VSCODE_SERVERS_KEY)
    if not isinstance(servers, dict):
        return {}
    return {name: _convert_entry(entry, folder) for name, entry in servers.items()}


def describe_inputs(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what VS Code asks for, by the environment variable that stands for it here."""
    inputs = data.get("inputs")
    return {
        _input_variable(str(each["id"])): str(each.get("description") or "")
        for each in (inputs if isinstance(inputs, list) else ())
        if isinstance(each, dict) and each.get("id")
    }


def _convert_entry(entry: Any, folder: Path | None) -> Any:
    if not isinstance(entry, dict):
        return entry
    # Servers start in the working directory. A relative path would be relative to the config file.
    kept = {key: value for key, value in entry.items() if (key, value) != ("cwd", _FOLDER)}
    return {key: _convert_value(value, folder) for key, value in kept.items()}


def _convert_value(value: Any, folder: Path | None) -> Any:
    match value:
        case str():
            return _convert_text(value, folder)
        case list():
            return [_convert_value(item, folder) for item in value]
        case dict():
            return {key: _convert_value(item, folder) for key, item in value.items()}
        case _:
            return value


def _convert_text(text: str, folder: Path | None) -> str:
    for placeholder, replacement in (
        (_FOLDER, str(folder or ".")),
        ("${userHome}", "${HOME}"),
        ("${pathSeparator}", "/"),
        ("${/}", "/"),
    ):
        text = text.replace(placeholder, replacement)
    return _PLACEHOLDER.sub(_to_variable, text)


def _to_variable(match: re.Match[str]) -> str:
    kind, name = match.groups()
    return f"${{{_input_variable(name) if kind == 'input' else name}}}"


def _input_variable(name: str) -> str:
    variable = re.sub(r"\W", "_", name, flags=re.ASCII).upper()
    return f"_{variable}" if variable[:1].isdigit() else variable

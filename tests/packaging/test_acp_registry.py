"""The entry for the registry of ACP agents, against the rules of its schema and of its checks.

The registry's `agent.schema.json` (FORMAT.md and CONTRIBUTING.md describe it) is at
https://cdn.agentclientprotocol.com/registry/v1/latest/agent.schema.json.
"""

import json
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator

from kimi_tui.version import __version__
from tests.e2e.program import Program

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "acp-registry" / "kimi-tui"
URI = {"type": "string", "format": "uri"}
TEXT = {"type": "string", "minLength": 1}
PACKAGE = {
    "type": "object",
    "required": ["package"],
    "additionalProperties": False,
    "properties": {
        "package": TEXT,
        "cmd": TEXT,
        "args": {"type": "array", "items": {"type": "string"}},
        "env": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["id", "name", "version", "description", "distribution"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"},
        "name": TEXT,
        "version": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+"},
        "description": TEXT,
        "repository": URI,
        "website": URI,
        "authors": {"type": "array", "items": {"type": "string"}},
        "license": {"type": "string"},
        "distribution": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": False,
            "properties": {"npx": PACKAGE, "uvx": PACKAGE},
        },
    },
}


def entry() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / "agent.json").read_text())
    return loaded


def test_the_entry_has_the_form_that_the_registry_requires() -> None:
    Draft7Validator.check_schema(SCHEMA)
    assert not [error.message for error in Draft7Validator(SCHEMA).iter_errors(entry())]
    assert entry()["id"] == FOLDER.name


def test_the_entry_names_the_current_version_and_license_and_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert entry()["version"] == __version__
    assert entry()["distribution"]["uvx"]["package"] == f"{project['name']}=={__version__}"
    assert entry()["license"] == project["license"]
    assert project["name"] in project["scripts"]  # uvx runs the command that is named like the package


def test_the_icon_is_small_square_and_takes_the_themes_color() -> None:
    text = (FOLDER / "icon.svg").read_text()
    assert "<!--" not in text
    root = ET.fromstring(text)
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("16", "16", "0 0 16 16")
    colors = {part.get(key) for part in root.iter() for key in ("fill", "stroke")} - {None}
    assert colors == {"currentColor", "none"}


def test_the_command_of_the_entry_starts_an_agent_that_offers_a_sign_in(tmp_path: Path) -> None:
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": True}}},
    }
    done = Program(tmp_path).run(*entry()["distribution"]["uvx"]["args"], stdin=json.dumps(request) + "\n")
    (response,) = done.lines
    assert {method.get("type") for method in response["result"]["authMethods"]} & {"agent", "terminal"}

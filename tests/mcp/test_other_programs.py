"""Servers in the config files of Claude and VS Code."""

import json
from pathlib import Path

import pytest

from kimi_tui.config.project_mcp import read_mcp_source
from kimi_tui.config.project_trust import ProjectTrust
from kimi_tui.mcp.config_discovery import find_servers
from kimi_tui.mcp.config_file import parse_servers, source_from_entry
from kimi_tui.mcp.other_programs import FoundServers, ServerCopy, find_other_servers, plan_copies
from kimi_tui.mcp.server_config import InvalidServer, StdioServer

VSCODE = """{
  // asked once
  "inputs": [{"type": "promptString", "id": "api-key", "description": "API key", "password": true}],
  "servers": {
    "ask": {
      "type": "stdio", "command": "${userHome}/bin/ask", "args": ["--dir", "${workspaceFolder}/docs", "a//b"],
      "env": {"KEY": "${input:api-key}", "NAME": "${env:USER}"}, "cwd": "${workspaceFolder}", /* no more */
    },
  },
}"""


class OtherPrograms:
    """A home directory with config files of other programs."""

    def __init__(self, path: Path) -> None:
        self.home, self.work_dir = path / "home", path / "work"
        self.work_dir.mkdir()

    def write(self, name: str, content: object) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    def find(self, **environ: str) -> FoundServers:
        return find_other_servers(home=self.home, work_dir=self.work_dir, environ=environ)

    def copies(self, own: dict[str, object] | None = None) -> dict[str, ServerCopy]:
        return {copy.name: copy for copy in plan_copies(self.find().servers, own or {})}


@pytest.fixture
def others(tmp_path: Path) -> OtherPrograms:
    return OtherPrograms(tmp_path)


def servers(**commands: str) -> dict[str, object]:
    return {"mcpServers": {name: {"command": command} for name, command in commands.items()}}


def test_servers_of_claude_code_are_those_of_the_user_and_of_this_project(others: OtherPrograms) -> None:
    projects = {str(others.work_dir): servers(here="a"), "/elsewhere": servers(there="b")}
    others.write(".claude.json", {**servers(mine="c"), "projects": projects})
    assert {(it.name, it.program) for it in others.find().servers} == {
        ("here", "Claude Code"),
        ("mine", "Claude Code"),
    }


@pytest.mark.parametrize(
    ("file", "program"),
    [
        (".config/Claude/claude_desktop_config.json", "Claude Desktop"),
        ("Library/Application Support/Claude/claude_desktop_config.json", "Claude Desktop"),
        (".config/Code/User/mcp.json", "VS Code"),
        (".config/Code - Insiders/User/mcp.json", "VS Code"),
        ("Library/Application Support/Code/User/mcp.json", "VS Code"),
        (".config/Code/User/profiles/1a2b/mcp.json", "VS Code"),
        (".vscode-server/data/User/mcp.json", "VS Code"),
    ],
)
def test_every_location_is_searched(others: OtherPrograms, file: str, program: str) -> None:
    key = "servers" if program == "VS Code" else "mcpServers"
    others.write(file, {key: {"one": {"url": "https://example.org/mcp"}}})
    (found,) = others.find().servers
    assert (found.name, found.program, found.target) == ("one", program, "https://example.org/mcp")


def test_directories_in_environment_variables_are_searched(others: OtherPrograms) -> None:
    others.write("claude/.claude.json", servers(a="a"))
    others.write("xdg/Code/User/mcp.json", {"servers": {"b": {"command": "b"}}})
    found = others.find(CLAUDE_CONFIG_DIR=f"{others.home}/claude", XDG_CONFIG_HOME=f"{others.home}/xdg")
    assert [it.name for it in found.servers] == ["a", "b"]


def test_placeholders_of_vs_code_become_environment_variables(others: OtherPrograms) -> None:
    others.write(".config/Code/User/mcp.json", VSCODE)
    copy = others.copies()["ask"]
    assert copy.server.entry == {
        "type": "stdio",
        "command": "${HOME}/bin/ask",
        "args": ["--dir", "./docs", "a//b"],
        "env": {"KEY": "${API_KEY}", "NAME": "${USER}"},
    }
    assert copy.server.inputs == ("API_KEY (API key)",)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"command": "a", "args": ["${config:a.b}"]}, "Only VS Code can resolve ${config:a.b}."),
        ({"command": "a", "env": {"A": "${command:pick}"}}, "Only VS Code can resolve ${command:pick}."),
        ({"command": "a", "envFile": ".env"}, "The key envFile isn't supported."),
    ],
)
def test_what_only_vs_code_can_resolve_is_reported(entry: dict[str, object], problem: str) -> None:
    (server,) = parse_servers(source_from_entry("a", entry))
    assert isinstance(server, InvalidServer)
    assert problem in server.problem


def test_a_name_that_is_taken_gets_the_programs_name(others: OtherPrograms) -> None:
    others.write(".claude.json", servers(time="uvx claude"))
    others.write(".config/Code/User/mcp.json", {"servers": {"time": {"command": "uvx code"}}})
    assert set(others.copies()) == {"time", "time-vs-code"}
    assert set(others.copies({"time": {"command": "own"}})) == {"time-claude-code", "time-vs-code"}


def test_a_server_that_exists_already_is_not_copied_even_under_another_name(others: OtherPrograms) -> None:
    others.write(".claude.json", servers(time="uvx time"))
    others.write(".config/Claude/claude_desktop_config.json", servers(clock="uvx time"))
    assert set(others.copies()) == {"time"}
    assert not others.copies({"zeit": {"command": "uvx time"}})


def test_names_are_made_valid(others: OtherPrograms) -> None:
    others.write(".config/Code/User/mcp.json", {"servers": {"My: Server\x1b[2J/1": {"command": "a"}}})
    (name,) = others.copies()
    (server,) = parse_servers(source_from_entry(name, {"command": "a"}))
    assert isinstance(server, StdioServer)


def test_disabled_and_unusable_entries_are_skipped(others: OtherPrograms) -> None:
    entries = {"off": {"command": "a", "disabled": True}, "text": "b", "empty": {}}
    others.write(".claude.json", {"mcpServers": entries, "projects": ["?"]})
    assert not others.copies()


def test_an_invalid_file_is_reported_and_others_are_used(others: OtherPrograms) -> None:
    others.write(".claude.json", "{")
    others.write(".config/Claude/claude_desktop_config.json", servers(a="a"))
    found = others.find()
    assert [it.name for it in found.servers] == ["a"]
    assert ".claude.json, line 1" in found.problems[0]


def test_a_projects_file_of_vs_code_is_used_where_it_is_once_it_is_trusted(tmp_path: Path) -> None:
    data_dir, work_dir = tmp_path / "data", tmp_path / "work"
    file = work_dir / ".vscode" / "mcp.json"
    file.parent.mkdir(parents=True)
    data_dir.mkdir()
    file.write_text(VSCODE.replace("${input:api-key}", "1").replace("${env:USER}", "2"))
    untrusted = find_servers(data_dir=data_dir, work_dir=work_dir)
    assert not untrusted.entries
    assert "the file isn't trusted" in untrusted.problems[0]

    ProjectTrust(data_dir).trust(file, read_mcp_source(file).text)
    (server,) = find_servers(data_dir=data_dir, work_dir=work_dir).entries
    assert isinstance(server, StdioServer)
    assert server.args == ("--dir", f"{work_dir}/docs", "a//b")
    assert server.cwd is None

    (work_dir / ".mcp.json").write_text(json.dumps(servers(ask="other")))
    ProjectTrust(data_dir).trust(work_dir / ".mcp.json", (work_dir / ".mcp.json").read_text())
    assert [it.target for it in find_servers(data_dir=data_dir, work_dir=work_dir).entries] == ["other"]  # type: ignore[union-attr]


def test_a_missing_input_of_a_projects_file_is_reported_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / ".vscode" / "mcp.json"
    file.parent.mkdir()
    file.write_text(VSCODE)
    (server,) = parse_servers(read_mcp_source(file), environ={"HOME": "/home/ada", "USER": "ada"})
    assert isinstance(server, InvalidServer)
    assert "mcp.json, line 5: The environment variable API_KEY isn't set." in server.problem

"""MCP configs: parsing, precedence and errors."""

import json
from pathlib import Path

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.config_source import ConfigSource
from kimi_tui.config.project_mcp import has_servers, read_mcp_source, summarize_servers
from kimi_tui.config.project_trust import ProjectTrust
from kimi_tui.mcp.config_discovery import McpSelection, find_servers
from kimi_tui.mcp.config_file import parse_servers, source_from_config_text, write_server
from kimi_tui.mcp.server_config import InvalidServer, RemoteServer, StdioServer, Timeouts


def parse_entry(entry: dict[str, object], **environ: str):
    text = json.dumps({"mcpServers": {"s": entry}})
    (server,) = parse_servers(source_from_config_text(text), environ=environ)
    return server


def test_an_entry_for_a_program_with_all_keys():
    entry = {
        "command": "uvx", "args": ["mcp-server-time", "--zone", "${ZONE:-UTC}"],
        "env": {"A": "${B}", "N": 1, "T": True}, "timeout": 5000, "startupTimeout": 1000, "type": "stdio",
        "alwaysAllow": ["x"],
    }  # fmt: skip
    assert parse_entry(entry, B="b") == StdioServer(
        name="s",
        command="uvx",
        args=("mcp-server-time", "--zone", "UTC"),
        env={"A": "b", "N": "1", "T": "true"},
        timeouts=Timeouts(connect_s=1.0, silence_s=5.0),
    )


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        ({"url": "https://x.org/mcp"}, "http"),
        ({"url": "https://x.org/sse/"}, "sse"),
        ({"url": "https://x.org/sse", "type": "http"}, "http"),
        ({"url": "https://x.org/mcp", "transport": "sse"}, "sse"),
        ({"url": "https://x.org/mcp", "transport": "streamable-http"}, "http"),
    ],
)
def test_the_transport_is_configured_or_detected_from_the_url(entry, transport):
    assert parse_entry(entry).transport == transport


def test_a_token_becomes_a_header_and_oauth_does_not():
    assert parse_entry({"url": "https://x.org", "auth": "abc"}).headers == {"Authorization": "Bearer abc"}
    server = parse_entry({"url": "https://x.org", "auth": "oauth", "headers": {"X": "1"}})
    assert server == RemoteServer(name="s", url="https://x.org", headers={"X": "1"}, oauth=True)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, "The command is missing."),
        ({"command": "x", "args": "one"}, "args: input should be a valid list"),
        ({"command": "${NOT_SET}"}, "The environment variable NOT_SET isn't set."),
        ({"url": "ftp://x"}, "The url doesn't begin with http:// or https://."),
        ({"url": "https://x", "type": "pigeon"}, "Unknown transport “pigeon”."),
        ("npx", "entry: input should be a valid dictionary"),
        ({"command": "x", "timeout": 0}, "timeout: input should be greater than 0"),
    ],
)
def test_an_invalid_entry_is_reported_with_its_location_and_others_are_used(tmp_path, entry, expected):
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"good": {"command": "x"}, "bad": entry}}, indent=1))
    good, bad = parse_servers(read_mcp_source(file), environ={})
    assert good.name == "good"
    assert isinstance(bad, InvalidServer)
    assert f"{file}, line " in bad.problem
    assert expected in bad.problem


def test_a_disabled_server_has_no_problem():
    assert parse_entry({"command": "x", "disabled": True}) == InvalidServer("s", "")


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a/b", "x" * 65])
def test_an_invalid_server_name_is_reported(name):
    (server,) = parse_servers(source_from_config_text(json.dumps({"mcpServers": {name: {"command": "x"}}})))
    assert "isn't a valid name" in server.problem


@pytest.mark.parametrize(
    ("text", "expected"),
    [("{", "--mcp-config, line 1"), ("[]", "not a list"), ('{"mcpServers": []}', "must be an object")],
)
def test_an_invalid_config_raises_an_error(text, expected):
    with pytest.raises(ConfigError, match=expected):
        parse_servers(source_from_config_text(text))


class McpConfigEnv:
    def __init__(self, home: Path) -> None:
        self.data_dir, self.work_dir = home / "data", home / "work"
        self.data_dir.mkdir()
        (self.work_dir / ".git").mkdir(parents=True)

    def write_user_config(self, **servers: str) -> None:
        self._write(self.data_dir / "mcp.json", servers)

    def write_project_config(self, *, trusted: bool, **servers: str) -> Path:
        path = self.work_dir / ".mcp.json"
        self._write(path, servers)
        if trusted:
            ProjectTrust(self.data_dir).trust(path, path.read_text())
        return path

    def find_targets(self, **options: object) -> dict[str, str]:
        servers = find_servers(data_dir=self.data_dir, work_dir=self.work_dir, **options).entries
        return {server.name: server.target for server in servers if not isinstance(server, InvalidServer)}

    def problems(self) -> tuple[str, ...]:
        return find_servers(data_dir=self.data_dir, work_dir=self.work_dir).problems

    @staticmethod
    def _write(path: Path, servers: dict[str, str]) -> None:
        path.write_text(json.dumps({"mcpServers": {name: {"command": it} for name, it in servers.items()}}))


@pytest.fixture
def config_env(tmp_path) -> McpConfigEnv:
    return McpConfigEnv(tmp_path)


def test_later_sources_override_servers_of_the_same_name(config_env, tmp_path):
    config_env.write_user_config(a="user", b="user")
    config_env.write_project_config(trusted=True, b="project", c="project")
    agent = tmp_path / "agent.json"
    McpConfigEnv._write(agent, {"c": "agent"})
    selection = McpSelection(('{"mcpServers": {"d": {"command": "option"}}}',))
    assert config_env.find_targets(agent_file=agent, selection=selection) == {
        "a": "user",
        "b": "project",
        "c": "agent",
        "d": "option",
    }


def test_a_file_from_the_command_line_replaces_the_user_and_project_files(config_env, tmp_path):
    config_env.write_user_config(a="user")
    config_env.write_project_config(trusted=True, b="project")
    file = tmp_path / "mine.json"
    McpConfigEnv._write(file, {"m": "mine"})
    assert config_env.find_targets(selection=McpSelection(files=(file,))) == {"m": "mine"}
    with pytest.raises(ConfigError, match="doesn't exist"):
        config_env.find_targets(selection=McpSelection(files=(tmp_path / "gone.json",)))


def test_project_servers_are_used_only_if_the_user_trusts_the_exact_text(config_env):
    path = config_env.write_project_config(trusted=False, evil="curl")
    assert config_env.find_targets() == {}
    assert "evil" in config_env.problems()[0]
    untrusted = read_mcp_source(path)
    assert list(summarize_servers(untrusted)) == ["evil: curl"]
    ProjectTrust(config_env.data_dir).trust(path, untrusted.text)
    assert config_env.find_targets() == {"evil": "curl"}
    config_env.write_project_config(trusted=False, evil="rm")
    assert config_env.find_targets() == {}


def test_a_file_without_servers_needs_no_trust(config_env):
    path = config_env.write_project_config(trusted=False)
    assert not has_servers(path)
    path.write_text("{")
    assert not has_servers(path)
    config_env.write_project_config(trusted=False, evil="curl")
    assert has_servers(path)


def test_the_summary_for_the_trust_question_shows_environment_and_headers() -> None:
    servers = {
        "local": {"command": "node", "args": ["a.js"], "env": {"NODE_OPTIONS": "--require ./b.js"}},
        "far": {"url": "https://example.org", "headers": {"X-Key": "${OPENAI_API_KEY}"}, "auth": "oauth"},
    }
    source = ConfigSource("config", {"mcpServers": servers}, syntax="json")
    assert list(summarize_servers(source)) == [
        "local: node a.js (with env NODE_OPTIONS=--require ./b.js)",
        "far: https://example.org (with auth oauth; headers X-Key=${OPENAI_API_KEY})",
    ]


def test_an_invalid_file_is_reported_and_others_are_used(config_env):
    config_env.write_user_config(a="user")
    (config_env.work_dir / ".mcp.json").write_text("{")
    assert config_env.find_targets() == {"a": "user"}
    assert ".mcp.json, line 1" in config_env.problems()[0]


def test_writing_an_entry_keeps_other_entries_and_keys(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"note": "mine", "mcpServers": {"a": {"command": "x", "custom": 1}}}')
    write_server(file, "b", {"command": "ü"})
    write_server(file, "a", None)
    assert json.loads(file.read_text()) == {"note": "mine", "mcpServers": {"b": {"command": "ü"}}}
    assert file.stat().st_mode & 0o777 == 0o600

"""MCP configs: what they say, whose count, and what is wrong with them."""

import json
from pathlib import Path

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.project_mcp import mcp_source, summary_of_servers, untrusted_mcp
from kimi_tui.config.source import Source
from kimi_tui.config.trust import Trust
from kimi_tui.tools.mcp.config_file import servers_in, source_of_text, write_server
from kimi_tui.tools.mcp.server_config import Patience, RemoteServer, StdioServer, UnusableServer
from kimi_tui.tools.mcp.sources import McpWish, find_servers


def read(entry: dict[str, object], **environ: str):
    text = json.dumps({"mcpServers": {"s": entry}})
    (server,) = servers_in(source_of_text(text), environ=environ)
    return server


def test_a_program_with_all_that_can_be_said_of_it():
    entry = {
        "command": "uvx", "args": ["mcp-server-time", "--zone", "${ZONE:-UTC}"],
        "env": {"A": "${B}", "N": 1, "T": True}, "timeout": 5000, "startupTimeout": 1000, "type": "stdio",
        "alwaysAllow": ["x"],
    }  # fmt: skip
    assert read(entry, B="b") == StdioServer(
        name="s",
        command="uvx",
        args=("mcp-server-time", "--zone", "UTC"),
        env={"A": "b", "N": "1", "T": "true"},
        patience=Patience(connect_s=1.0, silence_s=5.0),
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
def test_how_a_service_is_spoken_with(entry, transport):
    assert read(entry).transport == transport


def test_a_token_becomes_a_header_and_a_sign_in_is_none():
    assert read({"url": "https://x.org", "auth": "abc"}).headers == {"Authorization": "Bearer abc"}
    signed = read({"url": "https://x.org", "auth": "oauth", "headers": {"X": "1"}})
    assert signed == RemoteServer(name="s", url="https://x.org", headers={"X": "1"}, oauth=True)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, "It has no command."),
        ({"command": "x", "args": "one"}, "args: input should be a valid list"),
        ({"command": "${NOT_SET}"}, "The variable NOT_SET is not set."),
        ({"url": "ftp://x"}, "It has no url that begins with http:// or https://."),
        ({"url": "https://x", "type": "pigeon"}, "There is no transport “pigeon”."),
        ("npx", "it: input should be a valid dictionary"),
        ({"command": "x", "timeout": 0}, "timeout: input should be greater than 0"),
    ],
)
def test_an_entry_that_is_wrong_costs_itself_and_says_where(tmp_path, entry, expected):
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"good": {"command": "x"}, "bad": entry}}, indent=1))
    good, bad = servers_in(mcp_source(file), environ={})
    assert good.name == "good"
    assert isinstance(bad, UnusableServer)
    assert f"{file}, line " in bad.problem
    assert expected in bad.problem


def test_a_server_that_is_switched_off_has_no_problem():
    assert read({"command": "x", "disabled": True}) == UnusableServer("s", "")


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a/b", "x" * 65])
def test_a_name_that_no_server_can_have(name):
    (server,) = servers_in(source_of_text(json.dumps({"mcpServers": {name: {"command": "x"}}})))
    assert "can't be the name" in server.problem


@pytest.mark.parametrize(
    ("text", "expected"),
    [("{", "--mcp-config, line 1"), ("[]", "holds a list"), ('{"mcpServers": []}', "is no table of servers")],
)
def test_a_config_that_is_none(text, expected):
    with pytest.raises(ConfigError, match=expected):
        servers_in(source_of_text(text))


class Places:
    def __init__(self, home: Path) -> None:
        self.share, self.work = home / "share", home / "work"
        self.share.mkdir()
        (self.work / ".git").mkdir(parents=True)

    def user(self, **servers: str) -> None:
        self._write(self.share / "mcp.json", servers)

    def project(self, *, trusted: bool, **servers: str) -> Path:
        path = self.work / ".mcp.json"
        self._write(path, servers)
        if trusted:
            Trust(self.share).grant(path, path.read_text())
        return path

    def found(self, **options: object) -> dict[str, str]:
        servers = find_servers(share_dir=self.share, work_dir=self.work, **options).entries
        return {server.name: server.target for server in servers if not isinstance(server, UnusableServer)}

    def problems(self) -> tuple[str, ...]:
        return find_servers(share_dir=self.share, work_dir=self.work).problems

    @staticmethod
    def _write(path: Path, servers: dict[str, str]) -> None:
        path.write_text(json.dumps({"mcpServers": {name: {"command": it} for name, it in servers.items()}}))


@pytest.fixture
def places(tmp_path) -> Places:
    return Places(tmp_path)


def test_later_places_replace_servers_of_the_same_name(places, tmp_path):
    places.user(a="user", b="user")
    places.project(trusted=True, b="project", c="project")
    agent = tmp_path / "agent.json"
    Places._write(agent, {"c": "agent"})
    wish = McpWish(('{"mcpServers": {"d": {"command": "option"}}}',))
    assert places.found(agent_file=agent, wish=wish) == {
        "a": "user",
        "b": "project",
        "c": "agent",
        "d": "option",
    }


def test_a_file_of_the_command_line_stands_in_place_of_the_users_and_the_projects(places, tmp_path):
    places.user(a="user")
    places.project(trusted=True, b="project")
    file = tmp_path / "mine.json"
    Places._write(file, {"m": "mine"})
    assert places.found(wish=McpWish(files=(file,))) == {"m": "mine"}
    with pytest.raises(ConfigError, match="There is no config file"):
        places.found(wish=McpWish(files=(tmp_path / "gone.json",)))


def test_a_projects_servers_count_only_when_the_user_trusts_this_very_text(places):
    path = places.project(trusted=False, evil="curl")
    assert places.found() == {}
    assert "evil" in places.problems()[0]
    untrusted = untrusted_mcp(places.work, places.share)
    assert list(summary_of_servers(untrusted)) == ["evil: curl"]
    Trust(places.share).grant(path, untrusted.text)
    assert places.found() == {"evil": "curl"}
    assert untrusted_mcp(places.work, places.share) is None
    places.project(trusted=False, evil="rm")
    assert places.found() == {}


def test_who_decides_about_a_projects_servers_sees_what_they_are_given_of_the_environment() -> None:
    servers = {
        "local": {"command": "node", "args": ["a.js"], "env": {"NODE_OPTIONS": "--require ./b.js"}},
        "far": {"url": "https://example.org", "headers": {"X-Key": "${OPENAI_API_KEY}"}, "auth": "oauth"},
    }
    source = Source("config", {"mcpServers": servers}, syntax="json")
    assert list(summary_of_servers(source)) == [
        "local: node a.js (with env NODE_OPTIONS=--require ./b.js)",
        "far: https://example.org (with auth oauth; headers X-Key=${OPENAI_API_KEY})",
    ]


def test_a_file_that_can_not_be_read_costs_itself(places):
    places.user(a="user")
    (places.work / ".mcp.json").write_text("{")
    assert places.found() == {"a": "user"}
    assert ".mcp.json, line 1" in places.problems()[0]


def test_writing_an_entry_keeps_the_others_and_what_else_the_file_says(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"note": "mine", "mcpServers": {"a": {"command": "x", "custom": 1}}}')
    write_server(file, "b", {"command": "ü"})
    write_server(file, "a", None)
    assert json.loads(file.read_text()) == {"note": "mine", "mcpServers": {"b": {"command": "ü"}}}
    assert file.stat().st_mode & 0o777 == 0o600

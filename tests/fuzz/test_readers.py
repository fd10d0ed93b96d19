"""Parsers of untrusted input never fail with an unexpected exception."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kimi_tui.agentspec.loader import load_agent_spec
from kimi_tui.base.errors import ConfigError, KimiTuiError, UsageError
from kimi_tui.base.json_rpc import InvalidRpcLine, parse_message
from kimi_tui.base.terminal_text import sanitize, strip_controls
from kimi_tui.base.tool_arguments import PartialToolArguments
from kimi_tui.config.config_source import SYNTAXES, source_from_text
from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.config.project_mcp import summarize_servers
from kimi_tui.config.startup_settings import startup_settings
from kimi_tui.headless.prompt_input import parse_prompt_line
from kimi_tui.headless.tool_summary import key_argument
from kimi_tui.history.journal_reader import read_journal
from kimi_tui.history.session_state import read_state
from kimi_tui.mcp.config_file import parse_servers
from kimi_tui.skills.commands import read_command
from kimi_tui.skills.front_matter import read_markdown
from kimi_tui.skills.skills import read_skill, skills_prompt
from kimi_tui.tui.keys.keymap import keymap_errors
from kimi_tui.wire.codec import decode
from kimi_tui.wireserver.jsonrpc import RpcError, parse_line
from tests.fuzz.mangled_text import DEEP, JSON, fuzz_settings, mangle, objects_with_keys

JOURNAL = "\n".join(
    json.dumps(record)
    for record in (
        {"role": "_system_prompt", "content": "be kind"},
        {"role": "_checkpoint", "id": 0, "uid": "u", "parent": None, "time": 1.5, "kind": "prompt"},
        {"role": "user", "content": "hello"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "hi"}, {"type": "think", "think": "hm"}],
            "tool_calls": [{"type": "function", "id": "c1", "function": {"name": "LS", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
        {"role": "_usage", "token_count": 12},
        {"role": "_revert", "to": 0, "next_id": 1, "branch": 1, "reason": "user"},
        {"role": "_repair", "next_id": 1, "findings": []},
    )
)
CONFIG = """default_model = "m"
theme = "dark"
[providers.p]
type = "kimi"
api_key = "sk-abcdefghij"
[models.m]
provider = "p"
model = "k"
max_context_size = 1000
[permissions]
allow = ["Bash(git diff *)", "Edit(src/**)"]
[keymap]
"panes.timeline" = "f3"
[[hooks]]
event = "PreToolUse"
command = "true"
"""
AGENT = """name: a
system_prompt: prompt.md
tools: [ReadFile, Bash as Shell, "x.y:Z"]
mcp: ../mcp.json
exclude: [Think]
subagents: {worker: {path: worker.yaml, description: Works.}}
vars: {A: "1"}
"""
KIMI_CLI_AGENT = """version: 1
agent:
  extend: default
  system_prompt_path: ./prompt.md
  system_prompt_args: {ROLE: x}
  tools: ["kimi_cli.tools.shell:Shell"]
"""
SKILL = """---
name: mend
description: Mends things: quickly
user-invocable: true
when: 2024-01-01
---
# Mend
Say $ARGUMENTS, $1 and @file.
"""
SERVERS = json.dumps(
    {
        "mcpServers": {
            "a": {"command": "x", "args": ["-y"], "env": {"K": "${HOME}"}, "timeout": 5, "cwd": "."},
            "b": {"url": "https://example.org/sse", "headers": {"A": "b"}, "auth": "oauth", "type": "sse"},
        }
    }
)
CALL = '{"jsonrpc": "2.0", "id": 1, "method": "prompt", "params": {"user_input": "hi"}}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fuzz")
    (path / "prompt.md").write_text("You are ${ROLE}.")
    return path


def as_line(value: object) -> bytes:
    return json.dumps(value).encode()


def write_file(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@fuzz_settings
@given(data=mangle(JOURNAL, JOURNAL + "\n"))
@example(data=b'{"role": "user", "content": ' + b"[" * DEEP)
@example(data=JOURNAL.encode().replace(b"\n", b"\r\n"))
def test_the_readable_part_of_a_damaged_journal_is_loaded(folder: Path, data: bytes) -> None:
    loaded = read_journal(write_file(folder, "context.jsonl", data))
    assert loaded.end <= len(data)
    for message in loaded.state.history:
        assert message.role in ("user", "assistant", "tool", "system")


@fuzz_settings
@given(
    lines=st.lists(
        objects_with_keys("role", "content", "id", "to", "next_id", "tool_calls", "tool_call_id"), max_size=5
    )
)
def test_a_journal_of_arbitrary_records_is_loaded(folder: Path, lines: list[dict[str, object]]) -> None:
    read_journal(write_file(folder, "context.jsonl", "\n".join(map(json.dumps, lines)).encode()))


@fuzz_settings
@given(
    data=mangle('{"version": 1, "title": "t", "yolo": true, "todos": [], "grants": {}}') | JSON.map(as_line)
)
@example(data=b"[" * DEEP)
def test_a_session_state_is_read_or_ignored(folder: Path, data: bytes) -> None:
    read_state(write_file(folder, "state.json", data))


@fuzz_settings
@given(
    line=mangle(CALL) | objects_with_keys("jsonrpc", "id", "method", "params", "result", "error").map(as_line)
)
@example(line=b"[" * DEEP)
@example(line=b'{"jsonrpc": "2.0", "id": ' + b"9" * 5_000 + b', "method": "x"}')
@example(line=b"null")
def test_a_json_rpc_line_is_parsed_or_rejected(line: bytes) -> None:
    with suppress(InvalidRpcLine):
        parse_message(line)
    with suppress(RpcError):
        parse_line(line)


@fuzz_settings
@given(data=objects_with_keys("type", "payload") | JSON)
def test_a_wire_message_is_decoded_or_rejected(data: object) -> None:
    with suppress(ValueError, TypeError, KeyError):
        decode(data)


@fuzz_settings
@given(line=mangle('{"role": "user", "content": [{"type": "text", "text": "hi"}]}'))
@example(line=b"[" * DEEP)
def test_an_input_line_is_parsed_or_rejected(line: bytes) -> None:
    with suppress(UsageError):
        parse_prompt_line(line, 1)


@fuzz_settings
@given(
    data=mangle('{"command": "ls -la \\u00e9", "path": "a\\nb", "n": [1, {"x": null}]}'),
    at=st.integers(0, 60),
)
@example(data=b"[" * DEEP + b"}", at=3)
@example(data=b'{"a": ' * 30_000 + b"}", at=3)
def test_tool_arguments_are_summarized_wherever_they_are_split(data: bytes, at: int) -> None:
    text = data.decode("utf-8", "replace")
    arguments = PartialToolArguments(text[:at])
    arguments.feed(text[at:])
    assert arguments.text == text
    assert arguments.is_complete in (True, False)
    assert isinstance(arguments.values(), dict)
    summary = arguments.summary()
    assert sanitize(summary) == summary
    assert "\n" not in summary
    key_argument(text)


@fuzz_settings
@given(data=mangle(AGENT, KIMI_CLI_AGENT))
@example(data=b"a: " + b"[" * 600)
@example(data=b"a: " * 2_000)
@example(data=f"name: a\nsystem_prompt: prompt.md\nmcp: {'9' * 300}\n".encode())
@example(data=f"extend: {'9' * 300}\n".encode())
@example(data=f"extend: {'9' * 300}.yaml\n".encode())
def test_an_agent_is_loaded_or_rejected_with_an_error(folder: Path, data: bytes) -> None:
    with suppress(ConfigError):
        load_agent_spec(
            write_file(folder, "agent.yaml", data), known_tools={"ReadFile", "Bash", "Think", "LS"}
        )


@fuzz_settings
@given(data=mangle(CONFIG), syntax=st.sampled_from(sorted(SYNTAXES)))
@example(data=b"a = " + b"[" * DEEP, syntax=".toml")
@example(data=b"a = " + b"9" * 5_000, syntax=".toml")
@example(data=b"[" * DEEP, syntax=".json")
@example(data=b'{"a": ' + b"9" * 5_000 + b"}", syntax=".json")
@example(data=b"a: 2024-99-99", syntax=".yaml")
@example(data=b"a: !!bool x", syntax=".yaml")
@example(data=b"a: !!timestamp x", syntax=".yaml")
def test_a_config_is_loaded_or_rejected_with_an_error(folder: Path, data: bytes, syntax: str) -> None:
    path = write_file(folder, f"config{syntax}", data)
    with suppress(KimiTuiError):
        config = read_config(data_dir=folder, work_dir=folder, config_file=path, environ={})
        assert keymap_errors(startup_settings(config.data).keymap) is not None
        settings_of(config)


@fuzz_settings
@given(
    keymap=st.dictionaries(st.text(max_size=10) | st.just("panes.timeline"), st.text(max_size=10), max_size=4)
)
def test_keymap_errors_are_text(keymap: dict[str, str]) -> None:
    assert all(isinstance(error, str) and error for error in keymap_errors(keymap))


@fuzz_settings
@given(data=mangle(SKILL))
@example(data=b"---\ndate: 2024-99-99\n---\nx")
@example(data=b"---\na: !!bool x\n---\nx")
@example(data=b"---\n" + b"[" * DEEP + b"\n---\nx")
@example(data=b"---\ndescription: " + b"9" * 5_000 + b"\n---\nx")
def test_skills_and_commands_are_read_or_rejected_with_an_error(folder: Path, data: bytes) -> None:
    path = write_file(folder, "SKILL.md", data)
    with suppress(ConfigError):
        read_markdown(path)
    with suppress(ConfigError):
        line = skills_prompt([read_skill(path)])
        assert strip_controls(line) == line.replace("\n", "")
    with suppress(ConfigError):
        read_command(path, folder)


def test_front_matter_aliases_do_not_exhaust_memory(folder: Path) -> None:
    bomb = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30))]
    text = "\n".join(["---", *bomb, "description: [*a29]", "---", "body"])
    assert read_skill(write_file(folder, "SKILL.md", text.encode())).description == "[*a29]"
    with pytest.raises(ConfigError, match="front matter"):
        read_skill(write_file(folder, "SKILL.md", text.replace("body", "").replace("a0:", "- a0:").encode()))


def test_front_matter_that_is_too_slow_to_parse_is_rejected(folder: Path) -> None:
    with pytest.raises(ConfigError, match="front matter"):
        read_skill(write_file(folder, "SKILL.md", b"---\n" + b"[" * 900_000 + b"\n---\nx"))


@fuzz_settings
@given(
    data=mangle(SERVERS)
    | st.dictionaries(
        st.text(max_size=5),
        objects_with_keys(
            "command", "args", "env", "url", "headers", "cwd", "auth", "type", "timeout", "disabled"
        ),
        max_size=2,
    ).map(lambda it: json.dumps({"mcpServers": it}).encode())
)
@example(data=b'{"mcpServers": ' + b"[" * DEEP)
@example(data=b'{"mcpServers": {"a": {"url": "http://[", "timeout": 1e999}}}')
@example(data=b'{"mcpServers": {"\x7fb": {"url": "https://example.org"}}}')
def test_mcp_servers_are_read_or_rejected_with_an_error(data: bytes) -> None:
    with suppress(ConfigError):
        source = source_from_text(data.decode("utf-8", "replace"), name="mcp.json", syntax="json")
        for line in summarize_servers(source):
            assert isinstance(line, str)
        for entry in parse_servers(source, environ={"HOME": "/h"}):
            assert sanitize(entry.name) == entry.name

"""Readers of what others wrote: no input ends them otherwise than with an error in words."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.base.call_arguments import Arguments
from kimi_tui.base.errors import ConfigError, KimiTuiError, UsageError
from kimi_tui.base.json_rpc import BadLine, message_on
from kimi_tui.base.terminal import plain, without_controls
from kimi_tui.config.appearance import appearance_in
from kimi_tui.config.loading import read_config, settings_of
from kimi_tui.config.project_mcp import summary_of_servers
from kimi_tui.config.source import SYNTAXES, source_from_text
from kimi_tui.headless.input import message_in
from kimi_tui.headless.tool_line import key_argument
from kimi_tui.history.loading import load
from kimi_tui.history.state import read_state
from kimi_tui.library.commands import read_command
from kimi_tui.library.front_matter import read_markdown
from kimi_tui.library.skills import listed, read_skill
from kimi_tui.tools.mcp.config_file import servers_in
from kimi_tui.tui.keys import complaints
from kimi_tui.wire.codec import decode
from kimi_tui.wireserver.jsonrpc import RpcError, parsed
from tests.fuzz.hostile import DEEP, JSON, mangled, often, shaped

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


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@often
@given(data=mangled(JOURNAL, JOURNAL + "\n"))
@example(data=b'{"role": "user", "content": ' + b"[" * DEEP)
@example(data=JOURNAL.encode().replace(b"\n", b"\r\n"))
def test_a_journal_gives_what_can_be_read_of_it(folder: Path, data: bytes) -> None:
    loaded = load(written(folder, "context.jsonl", data))
    assert loaded.end <= len(data)
    for message in loaded.line.history:
        assert message.role in ("user", "assistant", "tool", "system")


@often
@given(
    lines=st.lists(shaped("role", "content", "id", "to", "next_id", "tool_calls", "tool_call_id"), max_size=5)
)
def test_a_journal_of_any_records_gives_what_can_be_read_of_it(
    folder: Path, lines: list[dict[str, object]]
) -> None:
    load(written(folder, "context.jsonl", "\n".join(map(json.dumps, lines)).encode()))


@often
@given(
    data=mangled('{"version": 1, "title": "t", "yolo": true, "todos": [], "grants": {}}') | JSON.map(as_line)
)
@example(data=b"[" * DEEP)
def test_a_sessions_state_is_read_or_is_none(folder: Path, data: bytes) -> None:
    read_state(written(folder, "state.json", data))


@often
@given(line=mangled(CALL) | shaped("jsonrpc", "id", "method", "params", "result", "error").map(as_line))
@example(line=b"[" * DEEP)
@example(line=b'{"jsonrpc": "2.0", "id": ' + b"9" * 5_000 + b', "method": "x"}')
@example(line=b"null")
def test_a_line_of_json_rpc_is_a_message_or_refused(line: bytes) -> None:
    with suppress(BadLine):
        message_on(line)
    with suppress(RpcError):
        parsed(line)


@often
@given(data=shaped("type", "payload") | JSON)
def test_a_wire_message_is_known_or_refused(data: object) -> None:
    with suppress(ValueError, TypeError, KeyError):
        decode(data)


@often
@given(line=mangled('{"role": "user", "content": [{"type": "text", "text": "hi"}]}'))
@example(line=b"[" * DEEP)
def test_a_line_of_input_is_a_prompt_or_refused(line: bytes) -> None:
    with suppress(UsageError):
        message_in(line, 1)


@often
@given(
    data=mangled('{"command": "ls -la \\u00e9", "path": "a\\nb", "n": [1, {"x": null}]}'),
    at=st.integers(0, 60),
)
@example(data=b"[" * DEEP + b"}", at=3)
@example(data=b'{"a": ' * 30_000 + b"}", at=3)
def test_arguments_of_a_call_are_shown_however_they_come(data: bytes, at: int) -> None:
    text = data.decode("utf-8", "replace")
    arguments = Arguments(text[:at])
    arguments.feed(text[at:])
    assert arguments.text == text
    assert arguments.is_complete in (True, False)
    assert isinstance(arguments.values(), dict)
    telling = arguments.telling()
    assert plain(telling) == telling
    assert "\n" not in telling
    key_argument(text)


@often
@given(data=mangled(AGENT, KIMI_CLI_AGENT))
@example(data=b"a: " + b"[" * 600)
@example(data=b"a: " * 2_000)
@example(data=f"name: a\nsystem_prompt: prompt.md\nmcp: {'9' * 300}\n".encode())
@example(data=f"extend: {'9' * 300}\n".encode())
@example(data=f"extend: {'9' * 300}.yaml\n".encode())
def test_an_agent_is_loaded_or_refused_in_words(folder: Path, data: bytes) -> None:
    with suppress(ConfigError):
        load_agent_spec(written(folder, "agent.yaml", data), known_tools={"ReadFile", "Bash", "Think", "LS"})


@often
@given(data=mangled(CONFIG), syntax=st.sampled_from(sorted(SYNTAXES)))
@example(data=b"a = " + b"[" * DEEP, syntax=".toml")
@example(data=b"a = " + b"9" * 5_000, syntax=".toml")
@example(data=b"[" * DEEP, syntax=".json")
@example(data=b'{"a": ' + b"9" * 5_000 + b"}", syntax=".json")
@example(data=b"a: 2024-99-99", syntax=".yaml")
@example(data=b"a: !!bool x", syntax=".yaml")
@example(data=b"a: !!timestamp x", syntax=".yaml")
def test_a_config_is_read_or_refused_in_words(folder: Path, data: bytes, syntax: str) -> None:
    path = written(folder, f"config{syntax}", data)
    with suppress(KimiTuiError):
        config = read_config(share_dir=folder, work_dir=folder, config_file=path, environ={})
        assert complaints(appearance_in(config.data).keymap) is not None
        settings_of(config)


@often
@given(
    keymap=st.dictionaries(st.text(max_size=10) | st.just("panes.timeline"), st.text(max_size=10), max_size=4)
)
def test_a_key_map_is_complained_of_in_words(keymap: dict[str, str]) -> None:
    assert all(isinstance(complaint, str) and complaint for complaint in complaints(keymap))


@often
@given(data=mangled(SKILL))
@example(data=b"---\ndate: 2024-99-99\n---\nx")
@example(data=b"---\na: !!bool x\n---\nx")
@example(data=b"---\n" + b"[" * DEEP + b"\n---\nx")
@example(data=b"---\ndescription: " + b"9" * 5_000 + b"\n---\nx")
def test_skills_and_commands_are_read_or_refused_in_words(folder: Path, data: bytes) -> None:
    path = written(folder, "SKILL.md", data)
    with suppress(ConfigError):
        read_markdown(path)
    with suppress(ConfigError):
        line = listed([read_skill(path)])
        assert without_controls(line) == line.replace("\n", "")
    with suppress(ConfigError):
        read_command(path, folder)


def test_aliases_in_a_front_matter_do_not_fill_the_memory(folder: Path) -> None:
    bomb = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30))]
    text = "\n".join(["---", *bomb, "description: [*a29]", "---", "body"])
    assert read_skill(written(folder, "SKILL.md", text.encode())).description == "[*a29]"
    with pytest.raises(ConfigError, match="front matter"):
        read_skill(written(folder, "SKILL.md", text.replace("body", "").replace("a0:", "- a0:").encode()))


def test_a_front_matter_that_would_take_for_ever_to_read_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="front matter"):
        read_skill(written(folder, "SKILL.md", b"---\n" + b"[" * 900_000 + b"\n---\nx"))


@often
@given(
    data=mangled(SERVERS)
    | st.dictionaries(
        st.text(max_size=5),
        shaped("command", "args", "env", "url", "headers", "cwd", "auth", "type", "timeout", "disabled"),
        max_size=2,
    ).map(lambda it: json.dumps({"mcpServers": it}).encode())
)
@example(data=b'{"mcpServers": ' + b"[" * DEEP)
@example(data=b'{"mcpServers": {"a": {"url": "http://[", "timeout": 1e999}}}')
@example(data=b'{"mcpServers": {"\x7fb": {"url": "https://example.org"}}}')
def test_servers_are_read_or_refused_in_words(data: bytes) -> None:
    with suppress(ConfigError):
        source = source_from_text(data.decode("utf-8", "replace"), name="mcp.json", syntax="json")
        for line in summary_of_servers(source):
            assert isinstance(line, str)
        for entry in servers_in(source, environ={"HOME": "/h"}):
            assert plain(entry.name) == entry.name

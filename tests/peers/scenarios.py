"""What clients of Kimi CLI do over the Wire and with `mcp`, one scenario for each test of its own suite.

Two of its 48 tests are left out: they are about `mcp add --scope`, which release 1.49 doesn't have.

A scenario drives one program and returns what a client sees: messages, responses, files.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.program import FinishedRun, script, tool_call
from tests.peers.normal_form import normal_messages, normalize
from tests.peers.peer_programs import Peer
from tests.wireserver.client import WireTestClient

Scenario = Callable[["PeerDriver"], Any]

SCENARIOS: dict[str, Scenario] = {}
MODEL = {"provider": "p", "model": "scripted_echo", "max_context_size": 100000}
QUESTION = {
    "question": "Which one?",
    "header": "Pick",
    "options": [{"label": "A", "description": "first"}, {"label": "B", "description": "second"}],
    "multi_select": False,
}
EXTERNAL_TOOL = {
    "name": "open_file",
    "description": "Opens a file",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
MCP_SERVER = """
import json, sys

TOOL = {
    "name": "ping",
    "description": "reply with the text",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}

for line in sys.stdin:
    call = json.loads(line)
    params = call.get("params", {})
    if call.get("method") == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "pinging", "version": "1"},
        }
    elif call.get("method") == "tools/list":
        result = {"tools": [TOOL]}
    elif call.get("method") == "tools/call":
        result = {"content": [{"type": "text", "text": "pong:" + params["arguments"]["text"]}]}
    else:
        result = {}
    if "id" in call:
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
"""
USAGE = 'usage: {"input_other": 5, "output": 2}'


def scenario(function: Scenario) -> Scenario:
    """Register a scenario under the name of its function."""
    SCENARIOS[function.__name__] = function
    return function


def config(scripts: Path, **model: Any) -> dict[str, Any]:
    """Return a config with a scripted model."""
    provider = {
        "type": "_scripted_echo",
        "base_url": "",
        "api_key": "",
        "env": {"KIMI_SCRIPTED_ECHO_SCRIPTS": str(scripts)},
    }
    return {"default_model": "m", "models": {"m": {**MODEL, **model}}, "providers": {"p": provider}}


@dataclass(slots=True)
class PeerDriver:
    """Drives one program for a scenario."""

    peer: Peer
    options: tuple[str, ...] = ()

    def script(self, *scripts: str, **model: Any) -> None:
        """Use a config file with a model that plays `scripts`."""
        self.use_config(config(self.write_scripts(*scripts), **model))

    def write_scripts(self, *scripts: str, name: str = "scripts") -> Path:
        path = self.peer.home / f"{name}.json"
        path.write_text(json.dumps(scripts))
        return path

    def use_config(self, data: Any) -> None:
        path = self.peer.home / "config.json"
        path.write_text(json.dumps(data))
        self.options = ("--config-file", str(path))

    def connect(
        self, *arguments: str, yolo: bool = True, initializes: bool = True, **initialize: Any
    ) -> WireTestClient:
        """Start the program and shake hands."""
        client = WireTestClient(
            self.peer.program,
            *self.options,
            *(["--yolo"] if yolo else []),
            *self.peer.agent_options,
            *arguments,
            "--work-dir",
            str(self.peer.program.work_dir),
        )
        self.peer.closing.append(client.close)
        if initializes:
            client.call("initialize", protocol_version="1.1", **initialize)
        return client

    def prompt(
        self, client: WireTestClient, text: Any, answer: Callable[[dict[str, Any]], Any] | None = None
    ) -> dict[str, Any]:
        """Send a prompt, answer requests, and return the response with the messages before it."""
        start = len(client.seen)
        call = client.start_call("prompt", {"user_input": text})
        while True:
            message = client.wait_for(lambda it: it.get("id") == call or it.get("method") == "request")
            if message.get("method") != "request":
                break
            assert answer is not None, message
            client.send(id=message["id"], **answer(message["params"]["payload"]))
        return {"response": self.response(message), "messages": self.messages(client, start)}

    def response(self, message: dict[str, Any]) -> Any:
        """Return a response without its id."""
        if (error := message.get("error")) is not None:
            return {"error": normalize({"data": None, **error}, self.peer.home)}
        return {"result": normalize(message["result"], self.peer.home)}

    def messages(self, client: WireTestClient, start: int = 0) -> list[dict[str, Any]]:
        return normal_messages(client.seen[start:], self.peer.home)

    def run_mcp(self, *arguments: str) -> dict[str, Any]:
        """Run `mcp` with arguments and return what it printed and the servers in its file."""
        done = self.peer.program.run("mcp", *arguments)
        path = self.peer.program.data_dir / "mcp.json"
        servers = json.loads(path.read_text()) if path.exists() else None
        output: dict[str, Any] = {"failed": done.exit_code != 0, "servers": servers, **self._streams(done)}
        text: dict[str, Any] = normalize(output, self.peer.home)
        return json.loads(json.dumps(text).replace(sys.executable, "<python>"))  # type: ignore[no-any-return]

    def _streams(self, done: FinishedRun) -> dict[str, str]:
        text = done.stderr if done.exit_code else done.stdout
        return {"text": text.replace("kimi-tui mcp", "<cmd> mcp").replace("kimi mcp", "<cmd> mcp")}

    def records(self, path: Path) -> list[str]:
        """Return the roles of the records in a conversation."""
        return [json.loads(line)["role"] for line in path.read_text().splitlines() if line.strip()]


def approve(payload: dict[str, Any], response: str = "approve") -> dict[str, Any]:
    return {"result": {"request_id": payload["id"], "response": response}}


def shell(call: str, command: str) -> str:
    return script("text: step1", tool_call(call, "Shell", command=command))


def mcp_server(driver: PeerDriver) -> str:
    path = driver.peer.home / "server.py"
    path.write_text(MCP_SERVER)
    return str(path)


# protocol


@scenario
def handshake(driver: PeerDriver) -> Any:
    driver.script("text: hello")
    client = driver.connect(initializes=False)
    return _without_descriptions(driver.response(client.call("initialize", protocol_version="1.1")))


def _without_descriptions(response: Any) -> Any:
    for command in response["result"]["slash_commands"]:
        command["description"] = bool(command["description"])
    return response


@scenario
def handshake_with_a_tool_of_a_builtin_name(driver: PeerDriver) -> Any:
    driver.script("text: hello")
    client = driver.connect(initializes=False)
    tool = {"name": "Shell", "description": "Taken", "parameters": {"type": "object", "properties": {}}}
    call = client.call("initialize", protocol_version="1.1", external_tools=[tool])
    return _without_descriptions(driver.response(call))


@scenario
def tool_of_the_client(driver: PeerDriver) -> Any:
    driver.script(script("text: calling", tool_call("t1", "open_file", path="a.md")), "text: done")
    client = driver.connect(external_tools=[EXTERNAL_TOOL])
    value = {"is_error": False, "output": "Opened", "message": "Opened a.md", "display": []}
    return driver.prompt(
        client, "open it", lambda it: {"result": {"tool_call_id": it["id"], "return_value": value}}
    )


@scenario
def prompt_without_handshake(driver: PeerDriver) -> Any:
    driver.script("text: hello")
    return driver.prompt(driver.connect(initializes=False), "hi")


# approvals and tools


@scenario
def approved_command(driver: PeerDriver) -> Any:
    driver.script(shell("t1", "echo ok"), "text: done")
    return driver.prompt(driver.connect(yolo=False), "run", approve)


@scenario
def rejected_command(driver: PeerDriver) -> Any:
    driver.script(shell("t1", "echo ok"), "text: done")
    return driver.prompt(driver.connect(yolo=False), "run", lambda it: approve(it, "reject"))


@scenario
def command_approved_for_the_session(driver: PeerDriver) -> Any:
    driver.script(shell("t1", "echo one"), "text: done", shell("t2", "echo two"), "text: done")
    client = driver.connect(yolo=False)
    first = driver.prompt(client, "run", lambda it: approve(it, "approve_for_session"))
    return [first, driver.prompt(client, "run again", approve)]


@scenario
def command_in_yolo_mode(driver: PeerDriver) -> Any:
    driver.script(shell("t1", "echo ok"), "text: done")
    return driver.prompt(driver.connect(), "run")


def _request(driver: PeerDriver, call: str) -> Any:
    driver.script(script("text: go", call), "text: done")
    messages = driver.prompt(driver.connect(yolo=False), "go", approve)["messages"]
    return [it["payload"] for it in messages if it["method"] == "request"]


@scenario
def request_to_run_a_command(driver: PeerDriver) -> Any:
    return _request(driver, tool_call("t1", "Shell", command="echo ok"))


@scenario
def request_to_write_a_file(driver: PeerDriver) -> Any:
    return _request(driver, tool_call("t1", "WriteFile", path="file.txt", content="hello", mode="overwrite"))


@scenario
def request_to_edit_a_file(driver: PeerDriver) -> Any:
    (driver.peer.program.work_dir / "file.txt").write_text("hello")
    edit = {"old": "hello", "new": "hi", "replace_all": False}
    return _request(driver, tool_call("t1", "StrReplaceFile", path="file.txt", edit=edit))


@scenario
def todo_list(driver: PeerDriver) -> Any:
    todos = [{"title": "one", "status": "pending"}]
    driver.script(script("text: todo", tool_call("t1", "SetTodoList", todos=todos)), "text: done")
    return driver.prompt(driver.connect(), "todo")


@scenario
def streamed_arguments(driver: PeerDriver) -> Any:
    parts = ["{", '"todos":[{"title":"a","status":"pending"}]', "}"]
    call = json.dumps({"id": "t1", "name": "SetTodoList", "arguments": None})
    lines = [f"tool_call_part: {json.dumps({'arguments_part': part})}" for part in parts]
    driver.script(script("text: go", f"tool_call: {call}", *lines, "tool_call_part:"), "text: done")
    return driver.prompt(driver.connect(), "stream")


@scenario
def tool_that_the_agent_lacks(driver: PeerDriver) -> Any:
    driver.script(script("text: go", tool_call("t1", "SendDMail", message="hi")), "text: done")
    return driver.prompt(driver.connect(), "dmail")


@scenario
def tool_that_an_agent_file_excludes(driver: PeerDriver) -> Any:
    agent = driver.peer.home / "agent.yaml"
    agent.write_text(
        "version: 1\nagent:\n  extend: default\n  exclude_tools:\n    - 'kimi_cli.tools.shell:Shell'\n"
    )
    driver.script(script("text: go", tool_call("t1", "Shell", command="echo hi")), "text: done")
    return driver.prompt(driver.connect("--agent-file", str(agent)), "shell")


# config


@scenario
def config_as_an_option(driver: PeerDriver) -> Any:
    driver.options = ("--config", json.dumps(config(driver.write_scripts("text: ok"))))
    return driver.prompt(driver.connect(), "hi")


@scenario
def model_as_an_option(driver: PeerDriver) -> Any:
    data = config(driver.write_scripts("text: from A"))
    other = config(driver.write_scripts("text: from B", name="other"))
    data["models"]["b"] = {**MODEL, "provider": "q"}
    data["providers"]["q"] = other["providers"]["p"]
    driver.use_config(data)
    return driver.prompt(driver.connect("--model", "b"), "hi")


# prompts


@scenario
def basic_prompt(driver: PeerDriver) -> Any:
    driver.script(script("id: message-1", USAGE, "text: Hello"))
    return driver.prompt(driver.connect(), "hi")


def _turn_begin(exchange: dict[str, Any]) -> Any:
    return [exchange["response"], next(it for it in exchange["messages"] if it["type"] == "TurnBegin")]


@scenario
def prompt_of_two_lines(driver: PeerDriver) -> Any:
    driver.script("text: ok")
    return _turn_begin(driver.prompt(driver.connect(), "line1\nline2"))


@scenario
def prompt_of_content_parts(driver: PeerDriver) -> Any:
    driver.script("text: ok", capabilities=["image_in", "video_in"])
    media = [
        {"type": f"{kind}_url", f"{kind}_url": {"url": f"data:{kind}/x;base64,AAA"}}
        for kind in ("image", "audio", "video")
    ]
    return _turn_begin(driver.prompt(driver.connect(), [{"type": "text", "text": "hello"}, *media]))


@scenario
def limit_of_steps(driver: PeerDriver) -> Any:
    todos = [{"title": "x", "status": "pending"}]
    driver.script(script("text: start", tool_call("t1", "SetTodoList", todos=todos)))
    return driver.prompt(driver.connect("--max-steps-per-turn", "1"), "run")


@scenario
def status_update(driver: PeerDriver) -> Any:
    driver.script(script("id: message-1", USAGE, "text: Hello"))
    messages = driver.prompt(driver.connect(), "hi")["messages"]
    return next(it for it in messages if it["type"] == "StatusUpdate")


@scenario
def second_prompt_during_a_turn(driver: PeerDriver) -> Any:
    driver.script(shell("t1", "echo hi"), "text: done")
    client = driver.connect(yolo=False)
    start = len(client.seen)
    first = client.start_call("prompt", {"user_input": "run"})
    request = client.wait_for(lambda it: it.get("method") == "request")
    second = driver.response(client.prompt("second"))
    client.send(id=request["id"], **approve(request["params"]["payload"]))
    response = driver.response(client.answer_to(first))
    return {"second": second, "first": response, "messages": driver.messages(client, start)}


# questions


def _ask(driver: PeerDriver, answer: Callable[[dict[str, Any]], Any], **capabilities: bool) -> Any:
    driver.script(
        script("text: asking", tool_call("q1", "AskUserQuestion", questions=[QUESTION])), "text: done"
    )
    return driver.prompt(driver.connect(capabilities=capabilities), "ask me", answer)


@scenario
def answered_question(driver: PeerDriver) -> Any:
    def answer(payload: dict[str, Any]) -> Any:
        return {"result": {"request_id": payload["id"], "answers": {"Which one?": "A"}}}

    return _ask(driver, answer, supports_question=True)


@scenario
def question_answered_with_an_error(driver: PeerDriver) -> Any:
    error = {"error": {"code": -32000, "message": "User cancelled"}}
    return _ask(driver, lambda _: error, supports_question=True)


@scenario
def handshake_with_questions(driver: PeerDriver) -> Any:
    driver.script("text: hello")
    client = driver.connect(initializes=False)
    result = client.call("initialize", protocol_version="1.1", capabilities={"supports_question": True})[
        "result"
    ]
    return result["capabilities"]["supports_question"]


@scenario
def question_that_the_client_cannot_show(driver: PeerDriver) -> Any:
    return _ask(driver, lambda _: {}, supports_question=False)


# sessions


@scenario
def files_of_a_session(driver: PeerDriver) -> Any:
    driver.script("text: hello")
    client = driver.connect("--session", "my-session")
    driver.prompt(client, "hi")
    client.close_stdin()
    (folder,) = driver.peer.session_folders
    return [folder.name, sorted(path.name for path in folder.iterdir())]


@scenario
def continued_session(driver: PeerDriver) -> Any:
    driver.script("text: first", "text: second")
    counts = []
    for options in ((), ("--continue",)):
        client = driver.connect(*options)
        driver.prompt(client, "go")
        client.close_stdin()
        (folder,) = driver.peer.session_folders
        counts.append(
            [len((folder / name).read_text().splitlines()) for name in ("context.jsonl", "wire.jsonl")]
        )
    return [counts, driver.records(folder / "context.jsonl")]


@scenario
def clear_command(driver: PeerDriver) -> Any:
    driver.script("text: hello")
    client = driver.connect()
    driver.prompt(client, "hi")
    exchange = driver.prompt(client, "/clear")
    client.close_stdin()
    (folder,) = driver.peer.session_folders
    current = driver.records(folder / "context.jsonl")
    rotated = [driver.records(path) for path in sorted(folder.glob("context?*1*"))]
    return [exchange, [role for role in current if role != "_revert"], rotated]


@scenario
def compact_command(driver: PeerDriver) -> Any:
    driver.script("text: hello", "text: compacted summary")
    client = driver.connect()
    driver.prompt(client, "hi")
    return driver.prompt(client, "/compact")


@scenario
def compact_command_with_usage(driver: PeerDriver) -> Any:
    driver.script(
        script("text: hello", "usage: input_other=10 output=5"),
        script("text: fine", "usage: input_other=30 output=8"),
        script("text: compacted summary", "usage: input_other=50 output=20"),
    )
    client = driver.connect()
    driver.prompt(client, "hi")
    driver.prompt(client, "how are you")
    exchange = driver.prompt(client, "/compact")
    updates = [it["payload"] for it in exchange["messages"] if it["type"] == "StatusUpdate"]
    return [exchange["response"], [it["context_usage"] > 0 for it in updates]]


@scenario
def replay(driver: PeerDriver) -> Any:
    driver.script(shell("t1", "echo ok"), "text: done")
    client = driver.connect("--session", "replayed", yolo=False)
    driver.prompt(client, "run", approve)
    start = len(client.seen)
    response = driver.response(client.call("replay"))
    return [response, driver.messages(client, start)]


# skills and MCP


def _skill(driver: PeerDriver, name: str, *lines: str) -> tuple[str, str]:
    folder = driver.peer.home / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("\n".join(lines) + "\n")
    return "--skills-dir", str(folder.parent)


@scenario
def skill_as_a_prompt(driver: PeerDriver) -> Any:
    text = ("---", "name: testing", "description: Tests", "---", "", "Use this when testing.")
    options = _skill(driver, "testing", *text)
    driver.script("text: ok")
    client = driver.connect("--session", "with-skill", *options)
    exchange = driver.prompt(client, "/skill:testing")
    client.close_stdin()
    (folder,) = driver.peer.session_folders
    records = [json.loads(line) for line in (folder / "context.jsonl").read_text().splitlines()]
    users = json.dumps([it["content"] for it in records if it["role"] == "user"])
    return [exchange, "Use this when testing." in users]


@scenario
def flow_skill(driver: PeerDriver) -> Any:
    options = _skill(
        driver, "greeting",
        "---", "name: greeting", "description: A flow", "type: flow", "---", "",
        "```mermaid", "flowchart TD", "A([BEGIN]) --> B[Say hello]", "B --> C([END])", "```",
    )  # fmt: skip
    driver.script("text: flow done")
    return driver.prompt(driver.connect(*options), "/flow:greeting")


@scenario
def mcp_tool(driver: PeerDriver) -> Any:
    servers = {"pinging": {"command": sys.executable, "args": [mcp_server(driver)]}}
    path = driver.peer.home / "servers.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    driver.script(script("text: call", tool_call("t1", "ping", text="hi")), "text: done")
    return driver.prompt(driver.connect("--mcp-config-file", str(path), yolo=False), "call", approve)


@scenario
def mcp_commands_for_a_local_server(driver: PeerDriver) -> Any:
    steps: Sequence[Sequence[str]] = (
        ("add", "--transport", "stdio", "pinging", "--", sys.executable, mcp_server(driver)),
        ("list",),
        ("test", "pinging"),
        ("remove", "pinging"),
        ("list",),
    )
    return [driver.run_mcp(*step) for step in steps]


@scenario
def mcp_commands_for_a_remote_server(driver: PeerDriver) -> Any:
    url = "http://127.0.0.1:9/mcp"
    steps: Sequence[Sequence[str]] = (
        ("add", "--transport", "http", "remote", url, "--header", "X-Test: 1"),
        ("add", "--transport", "http", "--auth", "oauth", "oauth", url),
        ("list",),
        ("auth", "remote"),
        ("reset-auth", "remote"),
        ("add", "--transport", "stdio", "local", "--", sys.executable, "-c", "print('noop')"),
        ("auth", "local"),
        ("reset-auth", "local"),
        ("remove", "missing"),
    )
    return [driver.run_mcp(*step) for step in steps]


# errors


def _raw(driver: PeerDriver, line: str) -> Any:
    driver.script("text: ok")
    client = driver.connect(initializes=False)
    client.send_raw(line.encode() + b"\n")
    return driver.response(client.wait_for(lambda it: "error" in it))


@scenario
def invalid_json(driver: PeerDriver) -> Any:
    return _raw(driver, "{not-json}")


@scenario
def invalid_request(driver: PeerDriver) -> Any:
    return _raw(driver, '{"jsonrpc": "2.1", "id": "bad"}')


@scenario
def unknown_method(driver: PeerDriver) -> Any:
    return _raw(driver, '{"jsonrpc": "2.0", "id": "bad", "method": "nope"}')


@scenario
def invalid_parameters(driver: PeerDriver) -> Any:
    return _raw(driver, '{"jsonrpc": "2.0", "id": "bad", "method": "prompt", "params": {}}')


@scenario
def cancel_without_a_turn(driver: PeerDriver) -> Any:
    return _raw(driver, '{"jsonrpc": "2.0", "id": "bad", "method": "cancel"}')


@scenario
def image_for_a_model_without_images(driver: PeerDriver) -> Any:
    driver.script("text: ok", capabilities=[])
    parts = [
        {"type": "text", "text": "hello"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAA"}},
    ]
    return driver.prompt(driver.connect(), parts)["response"]


@scenario
def model_that_is_not_set(driver: PeerDriver) -> Any:
    data = config(driver.write_scripts("text: ok"), model="")
    data["providers"]["p"] |= {"type": "kimi", "env": {}}
    driver.use_config(data)
    return driver.prompt(driver.connect(), "hi")["response"]


@scenario
def provider_that_fails(driver: PeerDriver) -> Any:
    driver.script("bad line without colon")
    return driver.prompt(driver.connect(), "hi")["response"]

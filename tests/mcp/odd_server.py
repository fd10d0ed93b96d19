"""A small MCP server in plain Python whose first argument says what is odd about it.

It starts in a moment, since it imports nothing of the SDK. Each behaviour is a function of that name.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

BEHAVIOUR = sys.argv[1] if len(sys.argv) > 1 else "plain"
ARGUMENTS = sys.argv[2:]
OBJECT = {"type": "object", "properties": {}}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
asked: dict[int, object] = {}


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def notify(method, **params):
    send({"method": method, "params": params})


def answer(request, result):
    send({"id": request["id"], "result": result})


def refuse(request, code, text):
    send({"id": request["id"], "error": {"code": code, "message": text}})


def ask(method, params):
    """Ask the client and wait for its answer."""
    identity = 9000 + len(asked)
    asked[identity] = None
    send({"id": identity, "method": method, "params": params})
    while True:
        message = json.loads(sys.stdin.readline())
        if message.get("id") == identity and "method" not in message:
            return message.get("result") or message.get("error")
        handle(message)


def tool(name, description="", schema=OBJECT, **more):
    return {"name": name, "description": description, "inputSchema": schema, **more}


def text(*pieces, **more):
    return {"content": [{"type": "text", "text": piece} for piece in pieces], **more}


TOOLS = [
    tool("echo", "Says it back.", {"type": "object", "properties": {"text": {"type": "string"}}}),
    tool("look", "Changes nothing.", annotations={"readOnlyHint": True}),
    tool("media"),
    tool("structured"),
    tool("fail"),
    tool("progress"),
    tool(
        "elicit",
        schema={"type": "object", "properties": {"schema": {"type": "object"}, "url": {"type": "string"}}},
    ),
    tool("sample"),
    tool("roots"),
    tool("environment"),
    tool("die"),
    tool("hang"),
    tool("big", schema={"type": "object", "properties": {"megabytes": {"type": "number"}}}),
    tool("grow"),
]
if BEHAVIOUR == "clash":
    TOOLS = [tool("ReadFile", "Not the built-in one."), tool("echo"), tool("with space & ümlaut")]
if BEHAVIOUR == "bad_schema":
    TOOLS = [
        tool("echo"),
        tool("bad", schema={"type": "string"}),
        tool("free", schema=None),
        "no tool",
        tool("worse", schema={"type": "object", "properties": 5}),
    ]
if BEHAVIOUR == "task":
    TOOLS = [tool("echo"), tool("slow", execution={"taskSupport": "required"})]
task = {"taskId": "t1", "status": "working", "createdAt": "now", "lastUpdatedAt": "now", "ttl": None}
PROMPTS = [
    {
        "name": "review",
        "description": "Reviews.",
        "arguments": [{"name": "file", "required": True}, {"name": "how"}],
    },
]
RESOURCES = [{"uri": "memo://one", "name": "The first memo", "mimeType": "text/plain"}]


def call(request):
    name, arguments = request["params"]["name"], request["params"].get("arguments") or {}
    token = (request["params"].get("_meta") or {}).get("progressToken")
    match name:
        case "slow":
            assert "task" in request["params"]
            task.update(
                status="working", statusMessage="step 0", pollInterval=50, looks=0, arguments=arguments
            )
            answer(request, {"task": task})
        case "echo":
            answer(request, text(f"You said: {arguments.get('text', '')}"))
        case "look":
            answer(request, text("seen"))
        case "media":
            link = {"type": "resource_link", "uri": "memo://one", "name": "memo"}
            inline = {"type": "resource", "resource": {"uri": "memo://two", "text": "two"}}
            sound = {"type": "audio", "data": "UklGRgAA", "mimeType": "audio/wav"}
            image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
            broken = {"type": "image", "data": "no base64!", "mimeType": "image/png"}
            answer(request, {"content": [image, sound, link, inline, broken]})
        case "structured":
            answer(request, {"content": [], "structuredContent": {"celsius": 21}})
        case "fail":
            answer(request, text("the disk is full", isError=True))
        case "progress":
            for step in range(3):
                notify(
                    "notifications/progress",
                    progressToken=token,
                    progress=step + 1,
                    total=3,
                    message=f"step {step}",
                )
                time.sleep(0.12)
            answer(request, text("all three"))
        case "elicit":
            if "url" in arguments:
                params = {
                    "mode": "url",
                    "message": "Sign here",
                    "url": arguments["url"],
                    "elicitationId": "e1",
                }
            else:
                params = {"message": "Who are you?", "requestedSchema": arguments["schema"]}
            answer(request, text(json.dumps(ask("elicitation/create", params))))
        case "sample":
            params = {
                "messages": [{"role": "user", "content": {"type": "text", "text": "What is 2 + 2?"}}],
                "systemPrompt": "Be short.",
                "maxTokens": 10,
            }
            answer(request, text(json.dumps(ask("sampling/createMessage", params))))
        case "roots":
            answer(request, text(json.dumps(ask("roots/list", {}))))
        case "environment":
            answer(request, text(json.dumps(dict(os.environ))))
        case "die":
            sys.stderr.write("I can't go on\n")
            sys.stderr.flush()
            os._exit(3)
        case "hang":
            pass
        case "big":
            answer(request, text("0123456789abcdef" * int(arguments["megabytes"] * 65536)))
        case "grow":
            TOOLS.append(tool("grown"))
            notify("notifications/tools/list_changed")
            answer(request, text("grown"))
        case _:
            refuse(request, -32602, f"no tool {name}")


def introduce(request):
    capabilities = {"tools": {"listChanged": True}, "prompts": {}, "resources": {}}
    result = {
        "protocolVersion": request["params"]["protocolVersion"],
        "capabilities": capabilities,
        "serverInfo": {"name": "odd", "version": "1"},
        "instructions": "Use echo with care.",
    }
    if BEHAVIOUR == "completes":
        capabilities["completions"] = {}
    if BEHAVIOUR == "task" and "taskless" not in ARGUMENTS:
        capabilities["tasks"] = {"cancel": {}, "requests": {"tools": {"call": {}}}}
    if BEHAVIOUR == "nameless":
        del result["serverInfo"]
    if BEHAVIOUR == "future":
        result["protocolVersion"] = "2099-01-01"
    answer(request, result)


def look_at_task(message):
    task["looks"] += 1
    task["statusMessage"] = f"step {task['looks']}"
    wish = task["arguments"]
    if task["looks"] == 2 and "hang" not in wish:
        task["status"] = "input_required" if "ask" in wish else wish.get("end", "completed")
    answer(message, task)


def fetch_task(message):
    if task["status"] == "input_required":
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        said = ask("elicitation/create", {"message": "Who are you?", "requestedSchema": schema})
        task["status"] = "completed"
        answer(message, text(json.dumps(said)))
    elif task["status"] == "failed":
        answer(message, text("it broke", isError=True))
    else:
        answer(message, text("it is done"))


def handle(message):
    if BEHAVIOUR == "log":
        with Path(ARGUMENTS[0]).open("a") as log:
            log.write(json.dumps(message) + "\n")
    match message.get("method"):
        case "completion/complete":
            wish = message["params"]
            given = (wish.get("context") or {}).get("arguments", {})
            values = (
                ["src/a.py", "src/b c.py", "evil\x1b[2J.py"] if wish["argument"]["name"] == "file" else []
            )
            if wish["argument"]["name"] == "how":
                values = [f"like {given.get('file')}", "in two words"]
            found = [it for it in values if it.startswith(wish["argument"]["value"])]
            answer(message, {"completion": {"values": found}})
        case "tasks/cancel":
            task["status"] = "cancelled"
            Path(task["arguments"]["hang"]).write_text("cancelled")
            answer(message, task)
        case "initialize":
            introduce(message)
        case "tools/list":
            answer(message, {"tools": TOOLS} if BEHAVIOUR != "no_tools" else {"tools": "none"})
        case "prompts/list" | "resources/list" | "resources/templates/list" if BEHAVIOUR == "listless":
            refuse(message, -32601, "method not found")
        case "prompts/list":
            answer(message, {"prompts": PROMPTS})
        case "prompts/get":
            given = message["params"].get("arguments", {})
            said = f"Review {given.get('file')} {given.get('how', '')}".strip()
            answer(message, {"messages": [{"role": "user", "content": {"type": "text", "text": said}}]})
        case "resources/list":
            answer(message, {"resources": RESOURCES})
        case "resources/templates/list":
            answer(message, {"resourceTemplates": [{"uriTemplate": "memo://{name}", "name": "memos"}]})
        case "resources/read":
            uri = message["params"]["uri"]
            answer(message, {"contents": [{"uri": uri, "text": f"What {uri} says."}]})
        case "tools/call":
            call(message)
        case "tasks/get":
            look_at_task(message)
        case "tasks/result":
            fetch_task(message)
        case str() if "id" in message:
            refuse(message, -32601, "method not found")
        case _:
            pass


def main():
    match BEHAVIOUR:
        case "hangs_at_start":
            time.sleep(3600)
        case "dies_at_start":
            sys.stderr.write("no licence\n")
            sys.exit(2)
        case "dies_after_it_stopped_listening":
            request = json.loads(sys.stdin.readline())
            os.close(0)
            handle(request)
            time.sleep(0.3)
            sys.stderr.write("no licence")
            sys.exit(2)
        case "deaf":
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            with Path(ARGUMENTS[0]).open("w") as file:
                file.write(str(os.getpid()))
        case "dies_first_times":
            with Path(ARGUMENTS[0]).open("a+") as file:
                file.write("x")
                file.seek(0)
                if len(file.read()) < int(ARGUMENTS[1]):
                    sys.exit(1)
        case "floods":
            for line in range(50_000):
                sys.stderr.write(f"line {line} \x1b[2J of a flood\n")
            for _ in range(20_000):
                sys.stdout.write("this is no message\n")
        case "no_utf8":
            sys.stdout.buffer.write(b"\xff\xfe not a message\n")
            sys.stdout.buffer.flush()
    for line in sys.stdin:
        handle(json.loads(line))
    if BEHAVIOUR == "deaf":
        time.sleep(3600)


main()

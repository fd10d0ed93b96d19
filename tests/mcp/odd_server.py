"""A small MCP server in plain Python whose first argument selects an unusual behavior.

It starts quickly, since it doesn't import the SDK.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

BEHAVIOR = sys.argv[1] if len(sys.argv) > 1 else "plain"
ARGUMENTS = sys.argv[2:]
OBJECT = {"type": "object", "properties": {}}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
request_ids: list[int] = []


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def notify(method, **params):
    send({"method": method, "params": params})


def respond(request, result):
    send({"id": request["id"], "result": result})


def respond_error(request, code, text):
    send({"id": request["id"], "error": {"code": code, "message": text}})


def ask(method, params):
    """Send the client a request and return its response."""
    request_id = 9000 + len(request_ids)
    request_ids.append(request_id)
    send({"id": request_id, "method": method, "params": params})
    while True:
        message = json.loads(sys.stdin.readline())
        if message.get("id") == request_id and "method" not in message:
            return message.get("result") or message.get("error")
        handle(message)


def tool(name, description="", schema=OBJECT, **extra):
    return {"name": name, "description": description, "inputSchema": schema, **extra}


def text(*texts, **extra):
    return {"content": [{"type": "text", "text": each} for each in texts], **extra}


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
if BEHAVIOR == "clash":
    TOOLS = [tool("ReadFile", "Not the built-in one."), tool("echo"), tool("with space & ümlaut")]
if BEHAVIOR == "bad_schema":
    TOOLS = [
        tool("echo"),
        tool("bad", schema={"type": "string"}),
        tool("free", schema=None),
        "no tool",
        tool("worse", schema={"type": "object", "properties": 5}),
    ]
if BEHAVIOR == "many":
    ISSUE = {
        "title": {"type": "string", "description": "The title that everybody sees in the list of issues."},
        "labels": {"type": "array", "items": {"type": "string"}, "description": "Names of existing labels."},
        "notify": {"type": "boolean", "description": "Whether those who follow the project are notified."},
    }
    SUBJECTS = ["issue", "pull_request", "comment", "release", "branch", "label", "milestone", "workflow"]
    VERBS = [
        *("create", "update", "delete", "list", "search", "close", "reopen", "assign", "unassign", "lock"),
        *("unlock", "watch", "unwatch", "export", "import", "archive", "restore", "move", "copy", "merge"),
        *("approve", "reject", "publish", "count", "validate"),
    ]
    TOOLS = [
        tool(
            f"{verb}_{subject}",
            f"{verb.capitalize()} a {subject.replace('_', ' ')} of a project. Needs permission.\n\nMore.",
            {"type": "object", "properties": ISSUE, "required": ["title"]},
        )
        for subject in SUBJECTS
        for verb in VERBS
    ]
    assert len(TOOLS) == 200
if BEHAVIOR == "task":
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
                status="working", statusMessage="step 0", pollInterval=50, polls=0, arguments=arguments
            )
            respond(request, {"task": task})
        case "echo":
            respond(request, text(f"You said: {arguments.get('text', '')}"))
        case "look":
            respond(request, text("seen"))
        case "media":
            link = {"type": "resource_link", "uri": "memo://one", "name": "memo"}
            inline = {"type": "resource", "resource": {"uri": "memo://two", "text": "two"}}
            sound = {"type": "audio", "data": "UklGRgAA", "mimeType": "audio/wav"}
            image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
            broken = {"type": "image", "data": "no base64!", "mimeType": "image/png"}
            respond(request, {"content": [image, sound, link, inline, broken]})
        case "structured":
            respond(request, {"content": [], "structuredContent": {"celsius": 21}})
        case "fail":
            respond(request, text("the disk is full", isError=True))
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
            respond(request, text("all three"))
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
            respond(request, text(json.dumps(ask("elicitation/create", params))))
        case "sample":
            params = {
                "messages": [{"role": "user", "content": {"type": "text", "text": "What is 2 + 2?"}}],
                "systemPrompt": "Be short.",
                "maxTokens": 10,
            }
            respond(request, text(json.dumps(ask("sampling/createMessage", params))))
        case "roots":
            respond(request, text(json.dumps(ask("roots/list", {}))))
        case "environment":
            respond(request, text(json.dumps(dict(os.environ))))
        case "die":
            sys.stderr.write("I can't go on\n")
            sys.stderr.flush()
            os._exit(3)
        case "hang":
            pass
        case "big":
            respond(request, text("0123456789abcdef" * int(arguments["megabytes"] * 65536)))
        case "grow":
            TOOLS.append(tool("grown"))
            notify("notifications/tools/list_changed")
            respond(request, text("grown"))
        case _ if BEHAVIOR == "many":
            is_wrong = not isinstance(arguments["title"], str)
            respond(request, text(f"{name}: {arguments['title']}", isError=is_wrong))
        case _:
            respond_error(request, -32602, f"no tool {name}")


def initialize(request):
    capabilities = {"tools": {"listChanged": True}, "prompts": {}, "resources": {}}
    result = {
        "protocolVersion": request["params"]["protocolVersion"],
        "capabilities": capabilities,
        "serverInfo": {"name": "odd", "version": "1"},
        "instructions": "Use echo with care.",
    }
    if BEHAVIOR == "completes":
        capabilities["completions"] = {}
    if BEHAVIOR == "task" and "taskless" not in ARGUMENTS:
        capabilities["tasks"] = {"cancel": {}, "requests": {"tools": {"call": {}}}}
    if BEHAVIOR == "nameless":
        del result["serverInfo"]
    if BEHAVIOR == "future":
        result["protocolVersion"] = "2099-01-01"
    respond(request, result)


def poll_task(message):
    task["polls"] += 1
    task["statusMessage"] = f"step {task['polls']}"
    arguments = task["arguments"]
    if task["polls"] == 2 and "hang" not in arguments:
        task["status"] = "input_required" if "ask" in arguments else arguments.get("end", "completed")
    respond(message, task)


def fetch_task(message):
    if task["status"] == "input_required":
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        result = ask("elicitation/create", {"message": "Who are you?", "requestedSchema": schema})
        task["status"] = "completed"
        respond(message, text(json.dumps(result)))
    elif task["status"] == "failed":
        respond(message, text("it broke", isError=True))
    else:
        respond(message, text("it is done"))


def handle(message):
    if BEHAVIOR == "log":
        with Path(ARGUMENTS[0]).open("a") as log:
            log.write(json.dumps(message) + "\n")
    match message.get("method"):
        case "completion/complete":
            params = message["params"]
            known = (params.get("context") or {}).get("arguments", {})
            values = (
                ["src/a.py", "src/b c.py", "evil\x1b[2J.py"] if params["argument"]["name"] == "file" else []
            )
            if params["argument"]["name"] == "how":
                values = [f"like {known.get('file')}", "in two words"]
            matches = [it for it in values if it.startswith(params["argument"]["value"])]
            respond(message, {"completion": {"values": matches}})
        case "tasks/cancel":
            task["status"] = "cancelled"
            Path(task["arguments"]["hang"]).write_text("cancelled")
            respond(message, task)
        case "initialize":
            initialize(message)
        case "tools/list":
            respond(message, {"tools": TOOLS} if BEHAVIOR != "no_tools" else {"tools": "none"})
        case "prompts/list" | "resources/list" | "resources/templates/list" if BEHAVIOR == "listless":
            respond_error(message, -32601, "method not found")
        case "prompts/list":
            respond(message, {"prompts": PROMPTS})
        case "prompts/get":
            arguments = message["params"].get("arguments", {})
            prompt = f"Review {arguments.get('file')} {arguments.get('how', '')}".strip()
            respond(message, {"messages": [{"role": "user", "content": {"type": "text", "text": prompt}}]})
        case "resources/list":
            respond(message, {"resources": RESOURCES if BEHAVIOR != "many" else []})
        case "resources/templates/list":
            templates = [{"uriTemplate": "memo://{name}", "name": "memos"}]
            respond(message, {"resourceTemplates": templates if BEHAVIOR != "many" else []})
        case "resources/read":
            uri = message["params"]["uri"]
            respond(message, {"contents": [{"uri": uri, "text": f"What {uri} says."}]})
        case "tools/call":
            call(message)
        case "tasks/get":
            poll_task(message)
        case "tasks/result":
            fetch_task(message)
        case str() if "id" in message:
            respond_error(message, -32601, "method not found")
        case _:
            pass


def main():
    match BEHAVIOR:
        case "hangs_at_start":
            time.sleep(3600)
        case "dies_at_start":
            sys.stderr.write("no license\n")
            sys.exit(2)
        case "dies_after_closing_stdin":
            request = json.loads(sys.stdin.readline())
            os.close(0)
            handle(request)
            time.sleep(0.3)
            sys.stderr.write("no license")
            sys.exit(2)
        case "ignores_signals":
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
                sys.stdout.write("this is not a message\n")
        case "no_utf8":
            sys.stdout.buffer.write(b"\xff\xfe not a message\n")
            sys.stdout.buffer.flush()
    for line in sys.stdin:
        handle(json.loads(line))
    if BEHAVIOR == "ignores_signals":
        time.sleep(3600)


main()

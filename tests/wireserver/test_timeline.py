"""Tests of the timeline methods for clients that support them."""

from collections.abc import Callable

from tests.e2e.program import Program, script, tool_call
from tests.wireserver.client import WireTestClient

Connect = Callable[..., WireTestClient]
HELLO = {"protocol_version": "1.10", "capabilities": {"supports_timeline": True}}


def test_a_client_reverts_and_switches_branches(program: Program, connect: Connect) -> None:
    program.script(script(tool_call("b", "Bash", command="echo one > made")), "text: done")
    client = connect("-y")
    client.call("initialize", **HELLO)
    client.call("prompt", user_input="make it")
    made = program.work_dir / "made"
    assert made.exists()

    tree = client.call("timeline")["result"]
    assert [node["label"] for node in tree["nodes"]] == ["make it", "Bash echo one > made", "done"]
    plan = client.call("plan_revert", to=0)["result"]
    assert [(file["path"], file["action"]) for file in plan["files"]] == [("made", "delete")]
    assert made.exists()

    reverted = client.call("revert", to=0, note="make nothing")["result"]
    assert (reverted["files"], reverted["prompt"], reverted["branch"]) == (["made"], "make it", 1)
    assert not made.exists()
    content = client.call("look_into_branch", branch=1)["result"]
    assert content["events"][0] == {"type": "TurnBegin", "payload": {"user_input": "make it"}}
    compared = client.call("compare", before=0, after=2)["result"]
    assert [(file["path"], file["change"]) for file in compared["files"]] == [("made", "added")]

    assert client.call("switch_branch", branch=1)["result"]["reason"] == "switch"
    assert made.exists()
    assert client.call("undo")["result"]["reason"] == "undo"
    assert not made.exists()
    assert client.call("redo")["result"]["reason"] == "redo"
    assert made.exists()
    assert client.call("name_checkpoint", id=0, name="start")["result"] == {"status": "ok"}
    forked = client.call("fork", to=1)["result"]
    assert forked["at"] == 1
    assert forked["session_id"]

    assert client.call("revert", to=99)["error"]["code"] == -32602
    assert client.call("revert", to="x")["error"]["code"] == -32602
    assert client.call("plan_revert")["error"]["code"] == -32602
    assert client.close_stdin() == 0


def test_clients_without_timeline_support_have_no_timeline_methods(
    program: Program, connect: Connect
) -> None:
    program.script("text: hello")
    client = connect()
    client.call("initialize", protocol_version="1.10")
    for method in ("timeline", "plan_revert", "revert", "undo", "redo", "switch_branch", "fork"):
        assert client.call(method)["error"]["code"] == -32601, method


def test_a_client_chooses_hunks_and_what_happens_to_a_conflict(program: Program, connect: Connect) -> None:
    (program.work_dir / "f").write_text("1\n2\n3\n4\n5\n")
    program.script(
        script(tool_call("b", "Bash", command="sed -i 's/1/one/; s/5/five/' f; echo agent > a.py")),
        "text: done",
    )
    client = connect("-y")
    client.call("initialize", **HELLO)
    client.call("prompt", user_input="edit")
    with (program.work_dir / "a.py").open("a") as file:
        file.write("mine\n")
    plan = client.call("plan_revert", to=0)["result"]
    files = {file["path"]: file for file in plan["files"]}
    assert files["a.py"]["choice"] == "merge"
    assert [it["choice"] for it in files["a.py"]["choices"]] == ["mine", "merge", "checkpoint"]
    second = files["f"]["hunks"][1]
    assert second["diff"]["old_text"] == "2\n3\n4\nfive\n"

    choices = [{"path": "a.py", "choice": "checkpoint"}, {"path": "f", "hunks": [second["id"]]}]
    assert client.call("revert", to=0, choices=[{"path": "f", "choice": "x"}])["error"]["code"] == -32602
    assert client.call("revert", to=0, choices=choices)["result"]["files"] == ["a.py", "f"]
    assert (program.work_dir / "f").read_text() == "one\n2\n3\n4\n5\n"
    assert not (program.work_dir / "a.py").exists()
    client.call("undo", choices=[{"path": "a.py", "choice": "mine"}])
    assert (program.work_dir / "f").read_text() == "one\n2\n3\n4\nfive\n"
    assert not (program.work_dir / "a.py").exists()
    assert client.close_stdin() == 0

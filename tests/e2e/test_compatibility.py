"""Files and clients of kimi-tui 0.1.0 keep working: sessions, snapshots, configs, key maps, the Wire.

`data/v0.1.0` was written by that release with the demo model. The user wrote `notes.txt` (“one”), edited it
twice, reverted to checkpoint 3 and edited it again (“uno”). `wire.json` has the requests of a Wire client and
the shapes of all responses and events that it received.
"""

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.paths import work_dir_key
from tests.e2e.program import Program, script, tool_call
from tests.e2e.screen import Screen
from tests.wireserver.client import WireTestClient

DATA = Path(__file__).parent / "data" / "v0.1.0"
OLD_WORK_DIR = "/home/dana/shops"
SESSION_ID = "d0d589fa-653a-4f54-8c47-f7219e4c1ee9"
WIRE = json.loads((DATA / "wire.json").read_text())


@pytest.fixture
def old_session(tmp_path: Path) -> Program:
    """Return a program whose data directory has the session of 0.1.0, moved to its working directory."""
    program = Program(tmp_path)
    program.configure("[checkpoints]\nmax_age_days = 36500\n")
    key = work_dir_key(program.work_dir)
    sessions = program.data_dir / "sessions" / key
    shutil.copytree(DATA / "session", sessions / SESSION_ID)
    shutil.copy(DATA / "index.jsonl", sessions)
    shutil.copytree(DATA / "store", program.data_dir / "store" / key)
    for path in (sessions / "index.jsonl", sessions / SESSION_ID / "state.json"):
        path.write_text(path.read_text().replace(OLD_WORK_DIR, str(program.work_dir)))
    (program.work_dir / "README.md").write_text("# Shop\n")
    (program.work_dir / "notes.txt").write_text("uno\n")
    return program


def run_demo(program: Program, prompt: str) -> str:
    finished = program.run("--demo", "--yolo", "--continue", "-p", prompt)
    assert finished.exit_code == 0, finished.stderr
    return finished.stdout


def test_a_session_is_resumed_with_its_checkpoints_and_branches(old_session: Program) -> None:
    checkpoints = run_demo(old_session, "/checkpoints")
    for label in ("write notes.txt: one", "WriteFile notes.txt", "edit notes.txt: one -> uno"):
        assert label in checkpoints
    assert "edit notes.txt: two -> three" in run_demo(old_session, "/branches")


def test_files_are_reverted_and_the_revert_is_undone(old_session: Program) -> None:
    notes = old_session.work_dir / "notes.txt"
    written = notes.read_text()
    run_demo(old_session, "/revert 2")
    assert notes.read_text().strip() == "one"
    run_demo(old_session, "/undo")
    assert notes.read_text() == written


def test_a_branch_is_switched_to_with_its_files(old_session: Program) -> None:
    run_demo(old_session, "/switch 1")
    assert (old_session.work_dir / "notes.txt").read_text().strip() == "three"


def test_a_resumed_session_continues(old_session: Program) -> None:
    run_demo(old_session, "edit notes.txt: uno -> due")
    assert (old_session.work_dir / "notes.txt").read_text().strip() == "due"


def test_a_config_is_read_without_complaints(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.configure((DATA / "config.toml").read_text())
    checked = program.run("config", "check")
    assert checked.exit_code == 0, checked.stdout + checked.stderr


def test_a_key_map_applies_to_the_same_bindings(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.configure((DATA / "config.toml").read_text())
    screen = Screen(program, "--demo")
    try:
        screen.wait_for("f5 timeline")
    finally:
        screen.close()


# the Wire


def missing_fields(old: Any, new: Any, path: str = "") -> list[str]:
    """Return the fields of the shape `old` that the message `new` lacks or has with another type."""
    if new is None or old == "NoneType":
        return []
    if isinstance(old, dict):
        if not isinstance(new, dict):
            return [path]
        return [
            missing
            for key, shape in old.items()
            for missing in (
                [f"{path}.{key}"] if key not in new else missing_fields(shape, new[key], f"{path}.{key}")
            )
        ]
    if isinstance(old, list):
        if not isinstance(new, list):
            return [path]
        return [
            f"{path}[]" for element in new if old and all(missing_fields(shape, element) for shape in old)
        ][:1]
    number = {"int", "float"}
    is_same = type(new).__name__ == old or {type(new).__name__, old} <= number
    return [] if is_same else [f"{path} ({old})"]


def test_a_wire_client_gets_the_responses_and_events_that_it_knows(tmp_path: Path) -> None:
    program = Program(tmp_path)
    asks = script("text: I'll ask", tool_call("a", "Bash", command="echo one > made"))
    program.script(asks, "text: done", "text: again")
    with closing(WireTestClient(program)) as client:
        replay_requests(client)
    received: dict[tuple[str, str], list[Any]] = {}
    for message in client.seen:
        if "method" in message:
            params = message["params"]
            received.setdefault((message["method"], params["type"]), []).append(params["payload"])
    for known in WIRE["messages"]:
        payloads = received[known["method"], known["type"]]
        for shape in known["payloads"]:
            assert any(not missing_fields(shape, payload) for payload in payloads), known["type"]


def replay_requests(client: WireTestClient) -> None:
    """Send the recorded requests; each response has the recorded fields or error code."""
    responses = {response["id"]: response for response in WIRE["responses"]}
    for request in WIRE["requests"]:
        if "method" not in request:
            client.approve()
            client.answer_to("c2")
            continue
        client.send(**{key: value for key, value in request.items() if key != "jsonrpc"})
        if request["id"] == "c2":
            continue  # the approval comes first
        response = client.answer_to(request["id"])
        expected = responses[request["id"]]
        assert response.get("error", {}).get("code") == expected["error"], request
        assert missing_fields(expected["result"], response.get("result")) == [], request
    client.close_stdin()

"""Bundles and ATIF trajectories: nothing is lost on the way to another machine."""

import json
import os
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_tui.base.content_parts import ImageURLPart, MediaURL, TextPart, ThinkPart
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import FunctionCall, Message, ToolCall
from kimi_tui.engine.transfer.atif import parse_atif, to_atif
from kimi_tui.engine.transfer.session_bundle import import_bundle
from kimi_tui.engine.transfer.session_import import import_session
from kimi_tui.history.context import Context
from kimi_tui.history.journal_reader import read_journal
from kimi_tui.history.session import SessionStore
from tests.e2e.program import Program, script, tool_call
from tests.engine.generated_conversations import generate_conversation

_TEXT = st.text(max_size=20)
_PARTS = st.one_of(
    st.builds(TextPart, _TEXT),
    st.builds(ThinkPart, _TEXT, st.none() | _TEXT),
    st.builds(ImageURLPart, st.builds(MediaURL, st.just("data:image/png;base64,AA=="))),
)
_CALL_IDS = st.sampled_from(["a", "b", "c"])
_CALLS = st.builds(
    ToolCall,
    _CALL_IDS,
    st.builds(FunctionCall, st.just("Bash"), st.sampled_from([None, "{}", '{"x": 1}', "[", "3"])),
)
_MESSAGES = st.one_of(
    st.builds(Message, st.sampled_from(["user", "system"]), st.lists(_PARTS, max_size=3).map(tuple)),
    st.builds(
        Message,
        st.just("assistant"),
        st.lists(_PARTS, max_size=3).map(tuple),
        tool_calls=st.none()
        | st.lists(_CALLS, min_size=1, max_size=3, unique_by=lambda call: call.id).map(tuple),
    ),
    st.builds(Message, st.just("tool"), st.lists(_PARTS, max_size=2).map(tuple), tool_call_id=_CALL_IDS),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_MESSAGES, min_size=1, max_size=12))
def test_a_trajectory_restores_every_message(history):
    text = to_atif(history, title="t", session_id="s", model="m")
    assert parse_atif(text) == ("t", tuple(history))
    steps = json.loads(text)["steps"]
    assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
    for step in steps:
        calls = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        for result in (step.get("observation") or {}).get("results", ()):
            assert result.get("source_call_id") in {None, *calls}


@pytest.mark.parametrize("seed", range(int(os.environ.get("KIMI_TUI_ATIF_SESSIONS", "20"))))
async def test_a_session_becomes_a_trajectory_and_the_same_session_again(seed, tmp_path):
    messages = generate_conversation(seed)
    store = SessionStore(tmp_path / "data")
    session = store.create(tmp_path)
    context = Context(session.context_file)
    await context.append_message(messages)
    await context.close()
    file = tmp_path / "trajectory.json"
    history = read_journal(session.context_file).state.history
    file.write_text(to_atif(history, title="t", session_id=session.id, model="m"))
    imported = await import_session(file, work_dir=tmp_path, store=store)
    assert imported.state.title == "t"
    assert tuple(read_journal(imported.context_file).state.history) == messages


def test_a_trajectory_of_another_agent_is_a_valid_conversation():
    foreign = {
        "schema_version": "ATIF-v1.4",
        "agent": {"name": "other", "version": "1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "fix it"},
            {
                "step_id": 2,
                "source": "agent",
                "message": "",
                "tool_calls": [{"tool_call_id": "x", "function_name": "run", "arguments": {"cmd": "ls"}}],
            },
        ],
    }
    _, messages = parse_atif(json.dumps(foreign))
    assert [message.role for message in messages] == ["user", "assistant", "tool"]
    assert parse_atif('{"messages": []}') is None


@pytest.fixture
def exported(tmp_path):
    """A session that wrote and changed a file, as a bundle."""
    program = Program(tmp_path / "one")
    (program.work_dir / "a.txt").write_text("before\n")
    program.script(
        script(tool_call("1", "WriteFile", path="a.txt", content="after\n")),
        script(tool_call("2", "WriteFile", path="sub/b.txt", content="new\n")),
        "text: Done.",
    )
    run = program.run("-p", "change it", "--yolo", "--bundle", "../s.kimi.zip", "--output-format", "json")
    assert run.exit_code == 0, run
    return program.home / "s.kimi.zip", run.result


def test_a_bundle_resumes_in_another_directory_with_its_files_and_checkpoints(exported, tmp_path):
    bundle, result = exported
    other = Program(tmp_path / "two")
    imported = other.run("sessions", "import", str(bundle))
    assert (imported.exit_code, "with 2 files" in imported.stdout) == (0, True), imported
    assert (other.work_dir / "a.txt").read_text() == "after\n"
    assert (other.work_dir / "sub/b.txt").read_text() == "new\n"
    reverted = other.run("checkpoints", "revert", "1", "--session", result["session_id"], "--yes")
    assert reverted.exit_code == 0, reverted
    assert (other.work_dir / "a.txt").read_text() == "before\n"
    assert not (other.work_dir / "sub/b.txt").exists()
    other.script("text: Going on.")
    resumed = other.run("-p", "more", "--session", result["session_id"])
    assert resumed.stdout == "Going on.\n"
    again = other.run("sessions", "import", str(bundle))
    assert (again.exit_code, "already exists" in again.stderr) == (1, True)


def test_a_bundle_keeps_branches_and_the_origins_of_lines_on_another_machine(tmp_path):
    program = Program(tmp_path / "one")
    (program.work_dir / "a.txt").write_text("before\n")
    program.script(script(tool_call("1", "WriteFile", path="a.txt", content="after\n")), "text: Done.")
    assert program.run("-p", "change it", "--yolo").exit_code == 0
    assert program.run("checkpoints", "revert", "0", "--yes").exit_code == 0
    (session_dir,) = {path.parent for path in program.data_dir.rglob("context.jsonl")}
    os.utime(session_dir / "context.jsonl.1", (1_600_000_000, 1_600_000_000))
    bundle = tmp_path / "s.zip"
    exported = program.run("sessions", "export", session_dir.name, "-o", str(bundle))
    assert exported.exit_code == 0, exported

    other = Program(tmp_path / "另一台机器")
    assert other.run("sessions", "import", str(bundle)).exit_code == 0
    assert (other.work_dir / "a.txt").read_text() == "before\n"
    (branch,) = other.run("checkpoints", "branches").stdout.splitlines()
    assert "2020-09-1" in branch
    assert other.run("checkpoints", "switch", "1", "--yes").exit_code == 0
    assert (other.work_dir / "a.txt").read_text() == "after\n"
    assert "Prompt: change it" in other.run("why", "a.txt:1").stdout
    assert other.run("checkpoints", "undo", "--yes").exit_code == 0
    assert (other.work_dir / "a.txt").read_text() == "before\n"


def test_a_bundle_writes_only_into_the_session_and_the_working_directory(exported, tmp_path):
    bundle, _ = exported
    with zipfile.ZipFile(bundle, "a") as archive:
        archive.writestr("session/../../escaped", "x")
        archive.writestr("manifests/../escaped", "x")
    work_dir = tmp_path / "work"
    import_bundle(bundle, work_dir=work_dir, data_dir=tmp_path / "data")
    assert not list(tmp_path.rglob("escaped"))


def test_a_damaged_bundle_leaves_no_session(exported, tmp_path):
    bundle, _ = exported
    bundle.write_bytes(bundle.read_bytes()[:200])
    with pytest.raises(KimiTuiError, match="Can't import"):
        import_bundle(bundle, work_dir=tmp_path / "work", data_dir=tmp_path / "data")
    assert not list((tmp_path / "data").rglob("context.jsonl"))

"""Print mode of the real program with a scripted model, pipes and signals."""

import json
import signal

import pytest

from tests.e2e.program import script, tool_call
from tests.timeouts import TEST_TIMEOUT_S


@pytest.fixture
def scripted(program):
    (program.work_dir / "a.txt").write_text("hello\n")
    return program


def test_text_streams_to_stdout_and_tool_calls_to_stderr(scripted):
    scripted.script(
        script("text: I look.", tool_call("1", "ReadFile", path="a.txt")), script("text: It says hello.")
    )
    done = scripted.run("-p", "what is in a.txt?")
    assert (done.exit_code, done.stdout) == (0, "I look.\nIt says hello.\n")
    assert done.stderr.startswith("✔ ReadFile a.txt")


def test_piped_input_is_the_prompt_or_appended_to_it(scripted):
    scripted.script("text: ok")
    scripted.run("--print", stdin="from the pipe")
    scripted.run("-p", "review this", stdin="the diff")
    prompts = [
        json.loads(line)["content"]
        for file in scripted.context_files
        for line in file.read_text().splitlines()
        if json.loads(line)["role"] == "user"
    ]
    texts = {content if isinstance(content, str) else content[0]["text"] for content in prompts}
    assert {"from the pipe", "review this\n\n<stdin>\nthe diff\n</stdin>"} <= texts


def test_stream_json_runs_one_turn_per_message(scripted):
    scripted.script("text: one", "text: two")
    lines = '{"role": "user", "content": "1"}\n{"role": "user", "content": "2"}\n'
    done = scripted.run(
        "--print", "--input-format", "stream-json", "--output-format", "stream-json", stdin=lines
    )
    first, *messages, last = done.lines
    assert (done.exit_code, first["type"], last["turns"]) == (0, "init", 2)
    assert [message["content"] for message in messages] == ["one", "two"]


def test_input_and_output_may_be_files(scripted):
    scripted.script("text: done")
    (scripted.work_dir / "prompt.txt").write_text("do it")
    done = scripted.run("--print", "--input", "prompt.txt", "-o", "out.json", "--output-format", "json")
    assert (done.exit_code, done.stdout) == (0, "")
    assert json.loads((scripted.work_dir / "out.json").read_text())["result"] == "done"


@pytest.fixture
def editing(scripted):
    """Script a model that writes a file."""
    edit = tool_call("1", "WriteFile", path="b.txt", content="new\n")
    scripted.script(script("text: I write.", edit), script("text: That is that."))
    return scripted


def test_unapproved_calls_are_denied_and_exit_with_4(editing):
    done = editing.run("-p", "write it", "--output-format", "json")
    assert done.exit_code == 4
    assert [denial["tool"] for denial in done.result["denials"]] == ["WriteFile"]
    assert done.result["result"] == "That is that."
    assert not (editing.work_dir / "b.txt").exists()
    assert editing.run("-p", "write it", "--allow-denials").exit_code == 0


def test_yolo_allows_the_call_and_the_result_names_the_file(editing):
    done = editing.run("-p", "write it", "-y", "--output-format", "json")
    assert done.exit_code == 0
    assert done.result["files_changed"] == ["b.txt"]
    assert (editing.work_dir / "b.txt").read_text() == "new\n"


def test_a_goal_exits_with_0_only_if_its_command_passes(scripted):
    (scripted.work_dir / "test_a.sh").write_text("grep -q new b.txt\n")
    arguments = ("-p", "write b", "--goal", "--turns 1 sh test_a.sh", "-y", "--output-format", "json")
    done = script("text: Done.")
    scripted.script(script(tool_call("1", "WriteFile", path="b.txt", content="old\n")), done)
    missed = scripted.run(*arguments)
    assert (missed.exit_code, missed.result["outcome"]) == (3, "limit")
    scripted.script(script(tool_call("2", "WriteFile", path="test_a.sh", content="true\n")), done)
    weakened = scripted.run(*arguments)
    assert (weakened.exit_code, weakened.result["outcome"]) == (1, "failed")
    (scripted.work_dir / "test_a.sh").write_text("grep -q new b.txt\n")
    scripted.script(script(tool_call("3", "WriteFile", path="b.txt", content="new\n")), done)
    reached = scripted.run(*arguments)
    assert (reached.exit_code, reached.result["outcome"]) == (0, "finished")
    assert any("write b\\n\\nMake this command pass" in file.read_text() for file in scripted.context_files)


def test_a_deny_rule_applies_even_with_yolo(editing):
    done = editing.run(
        "-p", "write it", "-y", "--output-format", "json", "--config", 'permissions.deny = ["Edit(*)"]'
    )
    assert (done.exit_code, (editing.work_dir / "b.txt").exists()) == (4, False)


def test_the_step_limit_exits_with_3(editing):
    done = editing.run("-p", "write it", "-y", "--max-steps-per-turn", "1", "--output-format", "json")
    assert (done.exit_code, done.result["outcome"]) == (3, "max_steps")


def test_the_time_limit_exits_with_3(scripted):
    scripted.script(script("text: wait", "delay: 60", "text: never"))
    done = scripted.run("-p", "hi", "--max-time", "0.5", "--output-format", "json")
    assert (done.exit_code, done.result["outcome"]) == (3, "limit")


def test_a_temporary_error_exits_with_75(scripted):
    scripted.script("error: 503 busy")
    done = scripted.run("-p", "hi", "--max-retries-per-step", "1", "--output-format", "json")
    assert (done.exit_code, done.result["retryable"]) == (75, True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_during_a_turn_keeps_the_partial_response(scripted, number, code):
    scripted.script(script("text: Half", "delay: 60", "text: never"))
    process = scripted.start("-p", "hi", bufsize=0)
    assert process.stdout.read(4) == b"Half"
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=TEST_TIMEOUT_S)
    assert (process.returncode, stdout, stderr) == (code, b"\n", b"")
    scripted.script("text: Whole")
    resumed = scripted.run("-c", "-p", "go on")
    assert (resumed.exit_code, resumed.stdout) == (0, "Whole\n")
    (journal,) = scripted.context_files
    assert "Half" in journal.read_text()


def test_a_closed_stdout_ends_the_run_without_an_error(scripted):
    look = tool_call("1", "ReadFile", path="a.txt")
    scripted.script(script("delay: 0.5", look), script("delay: 60", "text: never"))
    process = scripted.start("-p", "hi", "--output-format", "stream-json")
    assert json.loads(process.stdout.readline())["type"] == "init"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=TEST_TIMEOUT_S) == 141


def test_a_large_response_reaches_a_slow_reader_completely(scripted):
    scripted.script("text: " + json.dumps("0123456789" * 200_000))
    process = scripted.start("-p", "hi", bufsize=0)
    first = process.stdout.read(1)
    stdout, _ = process.communicate(timeout=TEST_TIMEOUT_S)
    assert (first + stdout).decode() == "0123456789" * 200_000 + "\n"
    assert process.returncode == 0


def test_the_last_session_is_continued_and_one_is_resumed_by_its_id(scripted):
    scripted.script("text: ok")
    first = scripted.run("-p", "one", "--output-format", "json").result["session_id"]
    assert scripted.run("-c", "-p", "two", "--output-format", "json").result["session_id"] == first
    assert scripted.run("-S", first[:8], "-p", "3", "--output-format", "json").result["session_id"] == first
    assert scripted.run("-c", "--fork", "-p", "4", "--output-format", "json").result["session_id"] != first
    assert scripted.run("-p", "five", "--output-format", "json").result["session_id"] != first


def test_the_demo_needs_no_key_and_works_on_real_files(scripted):
    done = scripted.run("--demo", "-y", "-p", "edit a.txt: hello -> bye")
    assert done.exit_code == 0
    assert (scripted.work_dir / "a.txt").read_text() == "bye\n"


def test_a_thinking_level_that_the_model_does_not_have_is_reported(program):
    program.script("text: hello")
    assert program.run("-p", "x", "--thinking-level", "low").stderr == ""
    config = (program.data_dir / "config.toml").read_text()
    program.configure(f"{config}\ncapabilities = []")
    assert program.run("-p", "x", "--thinking-level", "off").stderr == ""
    done = program.run("-p", "x", "--thinking-level", "high")
    assert (done.exit_code, done.stdout.strip()) == (0, "hello")
    assert done.stderr == (
        "Warning: The model scripted doesn't support thinking. The thinking level “high” has no effect.\n"
    )
    program.configure(f'{config}\ncapabilities = ["always_thinking"]')
    done = program.run("-p", "x", "--no-thinking")
    assert done.stderr == (
        "Warning: The model scripted doesn't have the thinking level “off”. The model uses “low” instead.\n"
    )


def test_debug_shows_a_traceback(program):
    plain = program.run("-p", "x", "-S", "none")
    shown = program.run("-p", "x", "--config", "a = ", "--debug")
    assert "Traceback" not in plain.stderr
    assert "Traceback" in shown.stderr

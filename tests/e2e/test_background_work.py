"""Sub-agents and background commands when the program is killed or terminated."""

import asyncio
import json
import signal
import subprocess
from typing import Any

from kimi_tui.history.context import Context
from tests.e2e.processes import is_alive
from tests.e2e.program import Program, script, tool_call
from tests.e2e.scenarios import pids, wait_for
from tests.timeouts import TEST_TIMEOUT_S

COUNT = 10
FAILS, HANGS, RUNS_OUT_OF_TIME = 3, 5, 8


def start_subagents_script(program: Program) -> str:
    directory = program.home / "agents"
    directory.mkdir()
    (directory / "prompt.md").write_text("You are an agent.")
    (directory / "worker.yaml").write_text("extend: ./main.yaml\n")
    (directory / "main.yaml").write_text(
        "system_prompt: prompt.md\ntools: [Task, Bash, ReadFile]\n"
        "subagents: {worker: {path: worker.yaml, description: Works.}}\n"
    )
    return str(directory / "main.yaml")


def subagent_script(number: int, *lines: str) -> str:
    return script(f"for: errand {number}.", *lines)


def bash(command: str, **arguments: Any) -> str:
    return tool_call("c", "Bash", command=command, **arguments)


def task(number: int, **arguments: Any) -> str:
    return tool_call(
        f"t{number}",
        "Task",
        description=f"errand {number}",
        prompt=f"errand {number}.",
        subagent_type="worker",
        **arguments,
    )


def states(program: Program) -> dict[str, Any]:
    """Return the state of each sub-agent by its description."""
    states_by_description = {}
    for path in program.data_dir.glob("tui-sessions/*/*/subagents/*/state.json"):
        state = json.loads(path.read_text())
        states_by_description[state["description"]] = state
    return states_by_description


def test_a_resumed_session_reports_all_ten_sub_agents_after_sigkill(program: Program) -> None:
    agent = start_subagents_script(program)
    hanging_began = program.home / "hanging"  # outside of the command's private view: it appears at once
    others = [n for n in range(COUNT) if n not in (FAILS, HANGS, RUNS_OUT_OF_TIME)]
    program.script(
        *(subagent_script(n, bash(f"echo {n} > {n}.txt")) for n in others),
        *(subagent_script(n, f"text: report {n}") for n in others),
        subagent_script(FAILS, "error: 400 no credit"),
        subagent_script(HANGS, "text: half of it", bash(f"touch {hanging_began}; sleep 300", timeout=300)),
        subagent_script(RUNS_OUT_OF_TIME, bash("sleep 300")),
        script("for: begin", bash("echo $$ > ../pid; exec sleep 300", run_in_background=True)),
        script(
            "for: begin",
            *(task(n, **({"timeout": 1} if n == RUNS_OUT_OF_TIME else {})) for n in range(COUNT)),
        ),
        script("for: what became", "text: I see"),
    )
    first = program.start("-p", "begin", "--yolo", "--agent-file", agent, stdout=subprocess.DEVNULL)
    try:
        reports = [*(f"report {n}" for n in others), "no credit", "timed out after 1 s"]
        wait_for(lambda: sum(it["status"] != "running" for it in states(program).values()) == COUNT - 1)
        wait_for(lambda: all(report in program.context_files[0].read_text() for report in reports))
        wait_for(hanging_began.exists)
        wait_for(lambda: pids(program))
        (server,) = pids(program)
    finally:
        first.kill()
        first.communicate()
    assert is_alive(server)

    resumed = program.run(
        "-p", "what became of them?", "--continue", "--agent-file", agent, "--output-format", "stream-json"
    )
    assert resumed.exit_code == 0
    wait_for(lambda: not is_alive(server))
    for number in others:
        assert states(program)[f"errand {number}"]["status"] == "finished"
        assert (program.work_dir / f"{number}.txt").exists()
    hanging = states(program)[f"errand {HANGS}"]
    assert hanging["status"] == "interrupted"
    assert states(program)[f"errand {FAILS}"]["status"] == "failed"
    assert "timed out after 1 s" in states(program)[f"errand {RUNS_OUT_OF_TIME}"]["problem"]

    context = Context(program.context_files[0])
    asyncio.run(context.restore())
    results = {it.tool_call_id: it.text for it in context.history if it.role == "tool"}
    expected = {
        **{f"t{n}": f"report {n}" for n in others},
        f"t{FAILS}": "no credit",
        f"t{HANGS}": f'Task(resume="{hanging["id"]}")',
        f"t{RUNS_OUT_OF_TIME}": "timed out after 1 s",
    }
    for call_id, text in expected.items():
        assert text in results[call_id]
    assert any("bash-1" in it.text and "was lost" in it.text for it in context.history if it.role == "user")


def test_sigterm_stops_all_commands_and_sub_agents(program: Program) -> None:
    agent = start_subagents_script(program)
    errand = program.home / "errand"  # outside of the command's private view, so that it appears at once
    program.script(
        script(
            "for: begin", bash("echo $$ > server; sleep 300 & echo $! > child; wait", run_in_background=True)
        ),
        script("for: begin", task(1)),
        subagent_script(1, bash(f"touch half; echo $$ > {errand}; exec sleep 300", timeout=300)),
    )
    running = program.start("-p", "begin", "--yolo", "--agent-file", agent)
    files = [program.work_dir / "server", program.work_dir / "child", errand]
    try:
        wait_for(lambda: all(file.exists() and file.read_text().endswith("\n") for file in files))
        pids = [int(file.read_text()) for file in files]
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=TEST_TIMEOUT_S)
    finally:
        running.kill()
        running.communicate()
    assert running.returncode == 128 + signal.SIGTERM
    wait_for(lambda: not any(map(is_alive, pids)))
    assert states(program)["errand 1"]["status"] == "interrupted"
    assert (program.work_dir / "half").exists()
    (record,) = program.data_dir.glob("tui-sessions/*/*/tasks/bash-1.json")
    assert json.loads(record.read_text())["task"]["outcome"] == "stopped when kimi-tui exited"

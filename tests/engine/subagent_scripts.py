"""An agent with sub-agents, and model scripts for each of their conversations."""

from pathlib import Path
from typing import Any

from tests.engine.fake_front_end import SessionEnv, call, script

MAIN_AGENT = """\
name: main
system_prompt: main.md
tools: [Task, TaskList, TaskOutput, TaskStop, WriteFile, ReadFile, Bash, SetTodoList]
subagents:
  worker:
    path: worker/agent.yaml
    description: Changes things.
  chief:
    path: chief/agent.yaml
    description: Delegates work.
"""
WORKER_AGENT = """\
extend: ../agent.yaml
system_prompt: worker.md
"""
CHIEF_AGENT = """\
extend: ../agent.yaml
system_prompt: ../worker/worker.md
subagents:
  worker:
    path: ../worker/agent.yaml
    description: Changes things.
"""


def write_agent_files(home: SessionEnv) -> Path:
    """Write the agent files of `main` and its sub-agents. Return the path of the former."""
    folder = home.path / "agents"
    for name, text in {
        "agent.yaml": MAIN_AGENT,
        "main.md": "You are the main agent.",
        "worker/agent.yaml": WORKER_AGENT,
        "worker/worker.md": "You are a sub-agent.",
        "chief/agent.yaml": CHIEF_AGENT,
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "agent.yaml"


def task_call(call_id: str, prompt: str, /, **arguments: Any) -> str:
    """Return a script line that delegates a task to a worker."""
    return call(
        call_id, "Task", **{"description": prompt, "prompt": prompt, "subagent_type": "worker", **arguments}
    )


def script_for(topic: str, *lines: str) -> str:
    """Return a script for one model call, in the conversation whose prompt contains `topic`."""
    return script(f"for: {topic}", *lines)

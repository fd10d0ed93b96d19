"""An agent with sub-agents, and what its model plays: each conversation has scripts of its own."""

from pathlib import Path
from typing import Any

from tests.engine.front import Home, call, script

MAIN = """\
name: main
system_prompt: main.md
tools: [Task, TaskList, TaskOutput, TaskStop, WriteFile, ReadFile, Bash, SetTodoList]
subagents:
  worker:
    path: worker/agent.yaml
    description: Changes things.
  chief:
    path: chief/agent.yaml
    description: Gives work on.
"""
WORKER = """\
extend: ../agent.yaml
system_prompt: worker.md
"""
CHIEF = """\
extend: ../agent.yaml
system_prompt: ../worker/worker.md
subagents:
  worker:
    path: ../worker/agent.yaml
    description: Changes things.
"""


def hire(home: Home) -> Path:
    """The agent file of `main`, with its sub-agents beside it."""
    folder = home.path / "agents"
    for name, text in {
        "agent.yaml": MAIN,
        "main.md": "You are the main agent.",
        "worker/agent.yaml": WORKER,
        "worker/worker.md": "You are a sub-agent.",
        "chief/agent.yaml": CHIEF,
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "agent.yaml"


def task(call_id: str, prompt: str, /, **arguments: Any) -> str:
    """A script's line that gives a task to a worker."""
    return call(
        call_id, "Task", **{"description": prompt, "prompt": prompt, "subagent_type": "worker", **arguments}
    )


def part(words: str, *lines: str) -> str:
    """A script of one model call, for the conversation about `words`."""
    return script(f"for: {words}", *lines)

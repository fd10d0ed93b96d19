"""Process of one attempt: print mode on a fork of the session, in a workspace at the checkpoint."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.thinking_effort import ThinkingEffort
from kimi_tui.config.own_program import PROGRAM, find_program_folders
from kimi_tui.engine.attempts.attempt_output import AttemptOutput
from kimi_tui.llm.metering.budget import GATE_VARIABLE
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.shell.output_pipe import OutputPipe
from kimi_tui.wire.attempts import AttemptState
from kimi_tui.workspaces.checkpoint.private_view import PrivateView
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy, sort_by_depth

_DRAIN_S = 1.0
_CLOSE_S = 60.0
"""Seconds that the process may run beyond its time limit."""
_SHARED_IN_DATA_DIR = ("agents", "skills", "commands", "credentials", "mcp.json", "trusted.json")


@frozen(kw_only=True)
class AttemptRequest:
    """Options of one attempt."""

    prompt: str
    model: str
    """Empty for the fork's model."""
    thinking: ThinkingEffort
    sets_thinking: bool
    max_time_s: float | None
    max_steps: int | None
    yolo: bool
    demo: bool
    session_id: str
    """ID of the fork."""
    config: Mapping[str, Any]
    gate: str
    """The value of `GATE_VARIABLE`."""


class AttemptFolder:
    """Files of a running attempt: the prompt, the config and the data directory of its process."""

    def __init__(self, folder: Path, data_dir: Path) -> None:
        self.folder = folder
        self.data_dir = folder / "data"
        self.temp = folder / "tmp"
        self._user_data_dir = data_dir

    def create(self) -> None:
        """Create the directories, with links to the user's agents, skills and credentials. Blocks."""
        for path in (self.data_dir, self.temp):
            path.mkdir(mode=0o700, parents=True)
        for name in _SHARED_IN_DATA_DIR:
            if (source := self._user_data_dir / name).exists():
                (self.data_dir / name).symlink_to(source)

    def write(self, request: AttemptRequest) -> list[str]:
        """Write the files, and return the command line. Blocks."""
        prompt, config = self.folder / "prompt.txt", self.folder / "config.json"
        write_private_atomic(prompt, request.prompt)
        write_private_atomic(config, json.dumps(request.config))
        command = [*PROGRAM, "--print", "--input", str(prompt), "--output-format", "stream-json"]
        command += ["--config-file", str(config), "--session", request.session_id]
        if request.model:
            command += ["--model", request.model]
        elif request.demo:
            command.append("--demo")
        if request.sets_thinking:
            command += ["--thinking-level", request.thinking]
        if request.max_time_s is not None:
            command += ["--max-time", str(request.max_time_s)]
        if request.max_steps is not None:
            command += ["--max-steps-per-turn", str(request.max_steps)]
        if request.yolo:
            command.append("--yolo")
        return command

    def bounds(self, workspace: PathScope) -> SandboxPolicy:
        """Return the bounds of the process. It can write only to its workspace and its own files."""
        roots = [path.resolve() for path in (workspace.work_dir, *workspace.additional_dirs)]
        return SandboxPolicy(
            access=sort_by_depth(
                {
                    self._user_data_dir.resolve(): "read",
                    **dict.fromkeys(find_program_folders(), "read"),
                    self.folder.resolve(): "write",
                    **dict.fromkeys(roots, "write"),
                }
            ),
            work_dir=roots[0],
            temp=self.temp,
            network=True,
            is_reviewed=True,
        )


async def run_attempt_process(
    view: PrivateView,
    command: list[str],
    request: AttemptRequest,
    output: AttemptOutput,
    *,
    work_dir: Path,
    data_dir: Path,
) -> int:
    """Run the process in its view until it ends, and return its exit code. Raises OSError.

    If canceled, the process keeps running until the view is closed.
    """
    pipe = OutputPipe(output)
    environment = {**os.environ, "KIMI_SHARE_DIR": str(data_dir), GATE_VARIABLE: request.gate}
    try:
        process = await view.start_process(
            command, cwd=work_dir, environment=environment, output=pipe.write_end
        )
        pipe.start()
        timeout = None if request.max_time_s is None else request.max_time_s + _CLOSE_S
        try:
            async with asyncio.timeout(timeout):
                status = await process.wait()
        except TimeoutError:
            return ExitCode.LIMIT
        await pipe.drain(_DRAIN_S)
        return status
    finally:
        pipe.close()


def judge_run(exit_code: int, output: AttemptOutput) -> tuple[AttemptState, str]:
    """Return the final state of an attempt and its problem, or an empty string."""
    result = output.result
    error = result.get("error") or {}
    problem = " ".join(filter(None, (error.get("what"), error.get("hint"))))
    denied = ", ".join(dict.fromkeys(str(each.get("tool", "")) for each in result.get("denials", ())))
    if not problem and denied:
        problem = msg("Not allowed: {tools}.", tools=denied)
    match exit_code:
        case ExitCode.DONE | ExitCode.DENIED if result:
            return "finished", problem
        case ExitCode.LIMIT:
            return "limited", problem or msg("It reached a limit.")
        case _:
            return "failed", problem or output.problem or msg("Its process ended unexpectedly.")

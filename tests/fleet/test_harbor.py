"""The agent for Harbor on small tasks, in an environment without Docker."""

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

harbor = pytest.importorskip("harbor", reason="Harbor isn't installed: pip install 'kimi-tui[harbor]'")

from harbor.agents.installed.base import (  # noqa: E402
    AgentAuthenticationError,
    ApiRateLimitError,
    NonZeroAgentExitCodeError,
)
from harbor.environments.base import BaseEnvironment, ExecResult  # noqa: E402
from harbor.models.agent.context import AgentContext  # noqa: E402
from harbor.models.task.config import MCPServerConfig  # noqa: E402
from harbor.models.trajectories import Trajectory  # noqa: E402

from kimi_tui.engine.transfer.atif import to_atif  # noqa: E402
from kimi_tui.harbor import KimiTui  # noqa: E402
from tests.e2e.program import script, scripted_config, tool_call  # noqa: E402
from tests.engine.generated_conversations import generate_conversation  # noqa: E402

TASKS = int(os.environ.get("KIMI_TUI_HARBOR_TASKS", "2"))


class LocalEnvironment(BaseEnvironment):
    """Runs commands on this machine, in a directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.default_user = None

    @staticmethod
    def type() -> str:
        return "local"

    def _validate_definition(self) -> None:
        pass

    async def start(self, force_build: bool) -> None:
        pass

    async def stop(self, delete: bool) -> None:
        pass

    async def upload_file(self, source_path, target_path) -> None:
        shutil.copy(source_path, target_path)

    async def upload_dir(self, source_dir, target_dir) -> None:
        shutil.copytree(source_dir, target_dir)

    async def download_file(self, source_path, target_path) -> None:
        shutil.copy(source_path, target_path)

    async def download_dir(self, source_dir, target_dir) -> None:
        shutil.copytree(source_dir, target_dir)

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None) -> ExecResult:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", command, cwd=cwd or self.folder,
            env={"PATH": path, "HOME": str(self.folder), "LANG": "C.UTF-8",
                 "KIMI_SHARE_DIR": str(self.folder / "logs" / "kimi-tui"), **(env or {})},
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        stdout, stderr = await process.communicate()
        return ExecResult(stdout=stdout.decode(), stderr=stderr.decode(), return_code=process.returncode or 0)


def prepare(folder: Path, *scripts: str, **options) -> tuple[KimiTui, LocalEnvironment]:
    folder.mkdir(parents=True, exist_ok=True)
    logs = folder / "logs"
    logs.mkdir()
    file = folder / "scripts.json"
    file.write_text(json.dumps(scripts))
    config = folder / "given.toml"
    config.write_text(scripted_config(file) + "[loop_control]\nmax_retries_per_step = 1\n")
    return (
        KimiTui(
            logs_dir=logs, environment_logs_dir=logs, model_name="any/scripted", config=config, **options
        ),
        LocalEnvironment(folder),
    )


@pytest.mark.parametrize("number", range(TASKS))
async def test_a_task_ends_with_usage_and_a_valid_trajectory(number, tmp_path):
    write = tool_call("1", "WriteFile", path=f"out{number}.txt", content=f"{number}\n")
    agent, environment = prepare(
        tmp_path / "task",
        script("think: Hm.", "usage: input_other=10 input_cache_read=5 output=7", write),
        script("usage: output=3", "text: Done."),
    )
    await agent.install(environment)
    context = AgentContext()
    await agent.run(f"write out{number}.txt", environment, context)
    assert (environment.folder / f"out{number}.txt").read_text() == f"{number}\n"
    assert (context.n_input_tokens, context.n_cache_tokens, context.n_output_tokens) == (15, 5, 10)
    trajectory = Trajectory.model_validate_json((agent.logs_dir / "trajectory.json").read_text())
    assert [step.source for step in trajectory.steps][-2:] == ["agent", "agent"]
    assert trajectory.agent.name == "kimi-tui"


@pytest.mark.parametrize("seed", range(int(os.environ.get("KIMI_TUI_ATIF_SESSIONS", "20"))))
def test_a_trajectory_of_any_session_is_valid_for_harbor(seed):
    text = to_atif(generate_conversation(seed), title="t", session_id="s", model="m")
    trajectory = Trajectory.model_validate_json(text)
    assert trajectory.steps


@pytest.mark.parametrize(
    ("failure", "error"),
    [("429 slow down", ApiRateLimitError), ("401 who", AgentAuthenticationError), ("400 no", Exception)],
)
async def test_errors_have_harbors_classes(failure, error, tmp_path):
    agent, environment = prepare(tmp_path / "task", f"error: {failure}")
    with pytest.raises(error) as raised:
        await agent.run("anything", environment, AgentContext())
    assert isinstance(raised.value, NonZeroAgentExitCodeError)


async def test_servers_and_skills_are_passed_on(tmp_path):
    skills = tmp_path / "skills" / "greet"
    skills.mkdir(parents=True)
    (skills / "SKILL.md").write_text("---\nname: greet\ndescription: Greets.\n---\nSay hi.\n")
    server = MCPServerConfig(name="files", transport="stdio", command="missing-program", args=["x"])
    agent, environment = prepare(
        tmp_path / "task", "text: ok", mcp_servers=[server], skills_dir=str(tmp_path / "skills")
    )
    await agent.run("hello", environment, AgentContext())
    result = json.loads((agent.logs_dir / "kimi-tui.result.json").read_text().splitlines()[-1])
    assert [each["name"] for each in result["mcp_servers"]] == ["files"]
    (journal,) = (agent.logs_dir / "kimi-tui").glob("tui-sessions/*/*/context.jsonl")
    assert "Greets." in journal.read_text()

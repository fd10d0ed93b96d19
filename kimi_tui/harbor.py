"""Agent for Harbor, the harness of Terminal-Bench: `harbor run --agent kimi_tui.harbor:KimiTui`.

Needs Harbor 0.25 and Python 3.12 or newer. The agent runs print mode in the task's environment. It writes
`kimi-tui.result.json`, the result line, and `trajectory.json`, an ATIF trajectory, to the agent's logs.
"""

import json
import shlex
from pathlib import Path, PurePosixPath
from typing import Any

from harbor.agents.capabilities import AgentCapabilities
from harbor.agents.installed.base import (
    AgentAuthenticationError,
    ApiError,
    ApiInternalServerError,
    ApiRateLimitError,
    BaseInstalledAgent,
    ContextWindowExceededError,
    NetworkConnectionError,
    NonZeroAgentExitCodeError,
    with_prompt_template,
)
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

from kimi_tui.base.exit_codes import ExitCode

_RESULT = "kimi-tui.result.json"
_TRAJECTORY = "trajectory.json"
_PROGRAM = 'export PATH="$HOME/.local/bin:$PATH"; '
_ENDED_BY_LIMIT = (ExitCode.LIMIT, ExitCode.DENIED)
"""Exit codes after which Harbor still verifies the task: the agent stopped, but it didn't fail."""


class KimiTui(BaseInstalledAgent):
    """Runs kimi-tui in print mode.

    `config` is a config file of kimi-tui. The model is `NAME` or `PROVIDER/NAME`, where NAME is one of the
    config's models. Keys come from the environment, as `--ae KIMI_API_KEY=…`.
    """

    capabilities = AgentCapabilities(atif=True, native_config=True, mcp_servers=True, skills=True)

    def __init__(
        self,
        *args: Any,
        max_cost: float | None = None,
        max_time: float | None = None,
        agent: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._limits = {"--max-cost": max_cost, "--max-time": max_time, "--agent": agent}

    @staticmethod
    def name() -> str:
        """Return the agent's name in results."""
        return "kimi-tui"

    def get_version_command(self) -> str | None:
        """Return the command that prints the version."""
        return f"{_PROGRAM}kimi-tui --version"

    def parse_version(self, stdout: str) -> str:
        """Return the version in the output of that command."""
        return stdout.strip().removeprefix("kimi-tui ")

    async def install(self, environment: BaseEnvironment) -> None:
        """Install kimi-tui, unless the environment has it."""
        version = f"=={self._version}" if self._version else ""
        package = shlex.quote(f"kimi-tui{version}")
        await self.exec_as_agent(
            environment,
            command=(
                f"{_PROGRAM}if ! command -v kimi-tui >/dev/null 2>&1; then "
                f"if command -v uv >/dev/null 2>&1; then uv tool install --quiet {package}; "
                f"else python3 -m pip install --quiet --user {package}; fi; fi; kimi-tui --version"
            ),
        )

    @with_prompt_template
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        """Run the agent. Raises one of Harbor's errors, by the exit code and the error in the result."""
        logs = self.environment_logs_dir
        data_dir = logs / "kimi-tui"
        arguments = ["--print", "--yolo", "--output-format", "json"]
        if self._config is not None:
            arguments += ["--config-file", str(await self._upload_config(environment, data_dir))]
        if self.mcp_servers:
            arguments += ["--mcp-config-file", str(await self._upload_mcp_servers(environment, data_dir))]
        if self.skills_dir:
            arguments += ["--skills-dir", self.skills_dir]
        if self.model_name:
            arguments += ["--model", self.model_name.rpartition("/")[2]]
        for option, value in self._limits.items():
            if value is not None:
                arguments += [option, str(value)]
        result = shlex.quote(str(logs / _RESULT))
        trajectory = shlex.quote(str(logs / _TRAJECTORY))
        prompt = shlex.quote(f"--prompt={instruction}")
        await self.exec_as_agent(
            environment,
            env={"KIMI_SHARE_DIR": str(data_dir)},
            command=(
                f"{_PROGRAM}mkdir -p {shlex.quote(str(data_dir))}; "
                f"kimi-tui {shlex.join(arguments)} {prompt} </dev/null >{result} || true; "
                "session=$(kimi-tui sessions list --json --all | head -n 1 | cut -d '\"' -f 4); "
                f'if [ -n "$session" ]; then rm -f {trajectory}; '
                f'kimi-tui sessions export "$session" --format atif -o {trajectory}; fi'
            ),
        )
        finished = await self.exec_as_agent(environment, command=f"cat {result}")
        self._fill(context, _parse_result(finished.stdout))

    def populate_context_post_run(self, context: AgentContext) -> None:
        """Fill the usage from the logs, for a run that was cut off."""
        path = Path(self.logs_dir) / _RESULT
        if context.is_empty() and path.is_file():
            _fill_usage(context, _parse_result(path.read_text("utf-8")))

    def _fill(self, context: AgentContext, result: dict[str, Any]) -> None:
        _fill_usage(context, result)
        if (error := _error_of(result)) is not None:
            raise error

    async def _upload_config(self, environment: BaseEnvironment, data_dir: PurePosixPath) -> PurePosixPath:
        if isinstance(self._config, dict):
            name, content = "config.json", json.dumps(self._config)
        else:
            assert self._config is not None
            name, content = f"config{self._config.suffix}", self._config.read_text("utf-8")
        return await self._upload(environment, data_dir / name, content)

    async def _upload_mcp_servers(
        self, environment: BaseEnvironment, data_dir: PurePosixPath
    ) -> PurePosixPath:
        servers: dict[str, Any] = {}
        for server in self.mcp_servers:
            if server.transport == "stdio":
                servers[server.name] = {"command": server.command, "args": server.args}
            else:
                servers[server.name] = {"url": server.url, "headers": dict(server.headers)}
        return await self._upload(
            environment, data_dir / "harbor-mcp.json", json.dumps({"mcpServers": servers})
        )

    async def _upload(self, environment: BaseEnvironment, path: PurePosixPath, content: str) -> PurePosixPath:
        await self.exec_as_agent(environment, command=f"mkdir -p {shlex.quote(str(path.parent))}")
        await self._upload_config_text(
            environment, content=content, remote_path=str(path), filename=path.name
        )
        return path


def _parse_result(text: str | None) -> dict[str, Any]:
    """Return the result line, or an empty dict if the process died before it wrote one."""
    for line in reversed((text or "").splitlines()):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and value.get("type") == "result":
            return value
    return {}


def _fill_usage(context: AgentContext, result: dict[str, Any]) -> None:
    usage = result.get("usage") or {}
    cached = usage.get("input_cache_read", 0)
    context.n_input_tokens = usage.get("input_other", 0) + usage.get("input_cache_creation", 0) + cached
    context.n_cache_tokens = cached
    context.n_output_tokens = usage.get("output", 0)
    context.cost_usd = result.get("cost_usd")
    context.metadata = {key: result[key] for key in ("outcome", "exit_code", "steps") if key in result}


def _error_of(result: dict[str, Any]) -> NonZeroAgentExitCodeError | None:
    """Return the error of a run, or None if Harbor can verify the task."""
    code = result.get("exit_code")
    if code == ExitCode.DONE or code in _ENDED_BY_LIMIT:
        return None
    error = result.get("error") or {}
    text = (
        " ".join(filter(None, (error.get("what"), error.get("hint")))) or "kimi-tui ended without a result."
    )
    match error.get("kind"), error.get("status_code"):
        case _, 401 | 403:
            return AgentAuthenticationError(text)
        case _, 429:
            return ApiRateLimitError(text)
        case "ContextTooLong", _:
            return ContextWindowExceededError(text)
        case (("APIConnectionError" | "APITimeoutError"), _):
            return NetworkConnectionError(text)
        case _, int() as status if status >= 500:
            return ApiInternalServerError(text)
        case (("ModelNotSet" | "ModelKeyNotSet"), _):
            return AgentAuthenticationError(text)
        case (("APIStatusError" | "APIEmptyResponseError" | "ScriptError"), _):
            return ApiError(text)
        case _:
            return NonZeroAgentExitCodeError(text)

"""Making an agent from its spec: its system prompt and its tools."""

from collections.abc import Collection

from kimi_tui.agentspec.prompt import PromptVariables, render_prompt
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.engine.toolbox import Toolbox, suits
from kimi_tui.soul.agent import Agent
from kimi_tui.tools.workspace import Workspace


def make_agent(
    spec: ResolvedAgentSpec,
    workspace: Workspace,
    toolbox: Toolbox,
    capabilities: Collection[str],
    *,
    skills: str = "",
) -> Agent:
    """The agent, told of `skills`. Tools that a model of `capabilities` has no use for are left out.

    Raises ConfigError.
    """
    variables = PromptVariables.collect(
        workspace.work_dir, additional_dirs=workspace.additional_dirs, skills=skills
    )
    return Agent(
        name=spec.name,
        system_prompt=render_prompt(spec, variables),
        toolset=toolbox.toolset(
            (tool.name, tool.reference) for tool in spec.tools if suits(tool.reference, capabilities)
        ),
    )

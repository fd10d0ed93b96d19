"""Builder of an agent from its spec: system prompt and tools."""

from collections.abc import Collection

from kimi_tui.agentspec.prompt import PromptVariables, render_prompt
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.engine.build.tool_factory import ToolFactory, is_available
from kimi_tui.history.session_state import PromptFacts
from kimi_tui.soul.agent import Agent
from kimi_tui.tools.path_scope import PathScope


def build_agent(
    spec: ResolvedAgentSpec,
    workspace: PathScope,
    tool_factory: ToolFactory,
    capabilities: Collection[str],
    *,
    facts: PromptFacts,
    skills: str = "",
) -> Agent:
    """Build the agent of `spec`, with `facts` and `skills` in its system prompt.

    Leaves out tools that a model with `capabilities` can't use. Raises ConfigError.
    """
    variables = PromptVariables.collect(
        workspace.work_dir,
        additional_dirs=workspace.additional_dirs,
        skills=skills,
        now=facts.now,
        work_dir_ls=facts.work_dir_ls,
    )
    return Agent(
        name=spec.name,
        system_prompt=render_prompt(spec, variables),
        toolset=tool_factory.build_toolset(
            (tool.name, tool.reference) for tool in spec.tools if is_available(tool.reference, capabilities)
        ),
    )

"""`kimi-tui agents`: lists and shows agents."""

from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.agentspec.discovery import find_agent, list_agents
from kimi_tui.agentspec.loader import load_agent_spec
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.paths import data_dir
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.cli.commands.runner import new_app, print_line
from kimi_tui.cli.run_paths import current_dir
from kimi_tui.engine.build.tool_factory import BUILTIN_TOOLS

app = new_app("List and show agents.")


@app.command("list")
def list_() -> None:
    """List the agents for --agent and their sources."""
    for agent in list_agents(work_dir=current_dir(), data_dir=data_dir()):
        print_line(f"{agent.name:16} {agent.origin:8} {_agent_description(agent.path)}")


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of an agent, or path of an agent file.")],
) -> None:
    """Show an agent's file, tools and system prompt template."""
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        path = find_agent(name, work_dir=current_dir(), data_dir=data_dir())
    spec = _load(path)
    print_line(f"name         {spec.name}")
    if spec.description:
        print_line(f"description  {spec.description}")
    print_line(f"file         {spec.path}")
    print_line(f"model        {spec.model or 'default'}")
    print_line(f"tools        {', '.join(tool.name for tool in spec.tools) or 'none'}")
    for subagent_name, subagent in spec.subagents.items():
        print_line(f"subagent     {subagent_name}: {subagent.description}")
    typer.echo(f"\n{sanitize(spec.system_prompt_template).rstrip()}")


def _load(path: Path) -> ResolvedAgentSpec:
    return load_agent_spec(path, known_tools=BUILTIN_TOOLS.keys())


def _agent_description(path: Path) -> str:
    """Return the description of an agent, or the error if it can't be loaded."""
    try:
        return _load(path).description
    except KimiTuiError as error:
        return f"invalid: {error}"

"""`kimi-tui agents`: those that can be named, and what one is."""

from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.agentspec.finding import find_agent, list_agents
from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.paths import share_dir
from kimi_tui.base.terminal import plain
from kimi_tui.cli.commands.subcommands import new_app, say
from kimi_tui.cli.places import current_dir
from kimi_tui.engine.toolbox import BUILTIN_TOOLS

app = new_app("The agents: those that there are, what they may do.")


@app.command("list")
def list_() -> None:
    """List the agents that --agent takes here, and where they come from."""
    for agent in list_agents(work_dir=current_dir(), share_dir=share_dir()):
        say(f"{agent.name:16} {agent.origin:8} {_description(agent.path)}")


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="An agent's name, or the path of an agent file.")
    ],
) -> None:
    """Show an agent: its file, its tools, its system prompt before it is filled in."""
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        path = find_agent(name, work_dir=current_dir(), share_dir=share_dir())
    spec = _load(path)
    say(f"name         {spec.name}")
    if spec.description:
        say(f"description  {spec.description}")
    say(f"file         {spec.path}")
    say(f"model        {spec.model or 'the default'}")
    say(f"tools        {', '.join(tool.name for tool in spec.tools) or 'none'}")
    for subagent_name, subagent in spec.subagents.items():
        say(f"subagent     {subagent_name}: {subagent.description}")
    typer.echo(f"\n{plain(spec.system_prompt_template).rstrip()}")


def _load(path: Path) -> ResolvedAgentSpec:
    return load_agent_spec(path, known_tools=BUILTIN_TOOLS.keys())


def _description(path: Path) -> str:
    """A broken agent is listed with what is wrong: it costs itself, not the list."""
    try:
        return _load(path).description
    except KimiTuiError as error:
        return f"broken: {error}"

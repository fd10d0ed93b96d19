"""Loader for agent files and the files that they extend or reference."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from kimi_tui.agentspec.directory_listing import printable_name
from kimi_tui.agentspec.schema import AgentFile, parse_agent_file
from kimi_tui.agentspec.spec import ResolvedAgentSpec, SubagentSpec, ToolRef
from kimi_tui.agentspec.tool_names import match_tools, parse_tool
from kimi_tui.agentspec.yaml_document import LocatedText, read_yaml_document, suggestion_hint
from kimi_tui.base.assets import asset_path
from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.message_text import msg
from kimi_tui.base.secret_paths import is_private
from kimi_tui.config.project_files import AGENT_FILE

_AGENT_DIR = "${KIMI_AGENT_DIR}"


def load_agent_spec(path: Path, *, known_tools: Collection[str]) -> ResolvedAgentSpec:
    """Load the agent in the file `path`, or in the `agent.yaml` of the directory `path`.

    `known_tools` are the names of the built-in tools. If the agent extends another agent, it inherits the
    other agent's settings. Tools, system prompt, MCP file, excluded MCP tools and sub-agents replace the
    inherited values, `exclude` removes inherited tools, and `vars` are added.

    Raises: ConfigError with file, line and key.
    """
    return _load(_agent_file(path.absolute()), known_tools, ())


def _load(file: Path, known: Collection[str], descendants: tuple[Path, ...]) -> ResolvedAgentSpec:
    """Load the agent in `file`. Each of the `descendants` extends the next; the last extends `file`."""
    agent_file = parse_agent_file(read_yaml_document(file))
    base = None
    if agent_file.extend is not None:
        base_file = _base_file(agent_file.extend)
        chain = (*descendants, file)
        if base_file in chain:
            cycle = " -> ".join(str(each) for each in (*chain[chain.index(base_file) :], base_file))
            raise agent_file.extend.error(
                f"these agents extend each other: {cycle}.", hint="Remove `extend` from one of them."
            )
        base = _load(base_file, known, chain)
    return _resolve(agent_file, file, base, known)


def _resolve(
    agent_file: AgentFile, file: Path, base: ResolvedAgentSpec | None, known: Collection[str]
) -> ResolvedAgentSpec:
    prompt_path, prompt = _system_prompt(agent_file, base)
    return ResolvedAgentSpec(
        name=agent_file.name or (file.parent.name if file.name == AGENT_FILE else file.stem),
        version=agent_file.version or (base.version if base else ""),
        description=_join_lines(
            agent_file.description if agent_file.description is not None or not base else base.description
        ),
        path=file,
        system_prompt_path=prompt_path,
        system_prompt_template=prompt,
        tools=_tools(agent_file, base, known),
        model=agent_file.model or (base.model if base else None),
        mcp=_resolve_file(agent_file.mcp) if agent_file.mcp else (base.mcp if base else None),
        mcp_exclude=(
            tuple(text.value for text in agent_file.mcp_exclude)
            if agent_file.mcp_exclude is not None
            else (base.mcp_exclude if base else ())
        ),
        subagents=_subagents(agent_file, base),
        isolation=agent_file.isolation or (base.isolation if base else "none"),
        declares_subagents=bool(agent_file.subagents),
        vars={**(base.vars if base else {}), **_expand_agent_dir(agent_file.vars, file.parent)},
    )


def _expand_agent_dir(variables: Mapping[str, str], folder: Path) -> Mapping[str, str]:
    """Replace the reference to the agent's directory in the values of `variables`."""
    return {name: value.replace(_AGENT_DIR, printable_name(folder)) for name, value in variables.items()}


def _base_file(extend: LocatedText) -> Path:
    """Return the agent file in `extend`: a path, or the name of an agent in the same directory or bundled."""
    name = extend.value
    if "/" in name or "\\" in name or name.endswith((".yaml", ".yml")):
        return _agent_file(_resolve_file(extend))
    folders = [asset_path("agents")]
    if extend.file.name == AGENT_FILE and extend.file.parents[1].name == "agents":
        folders.insert(0, extend.file.parents[1])
    for folder in folders:
        file = folder / name / AGENT_FILE
        if os.path.isfile(file) and file != extend.file:  # noqa: PTH113
            return file
    known = sorted({file.parent.name for folder in folders for file in folder.glob(f"*/{AGENT_FILE}")})
    raise extend.error(f"unknown agent “{name}” in extend.", hint=suggestion_hint(name, known, what="agents"))


def _agent_file(path: Path) -> Path:
    return path / AGENT_FILE if os.path.isdir(path) else path  # noqa: PTH112


def _resolve_file(text: LocatedText) -> Path:
    """Return the path in `text`, relative to the agent file. Raises ConfigError if it doesn't exist."""
    path = (text.file.parent / Path(text.value).expanduser()).resolve()
    if not os.path.exists(path):  # noqa: PTH110 - pathlib raises for a name that is too long
        raise text.error(
            msg("{path} doesn't exist.", path=path),
            hint="Paths are relative to the directory of the agent file.",
        )
    return path


def _system_prompt(agent_file: AgentFile, base: ResolvedAgentSpec | None) -> tuple[Path, str]:
    if agent_file.system_prompt is None:
        if base is None:
            raise agent_file.mapping.error(
                "the agent has no system prompt.",
                hint="Set system_prompt to a file, or extend an agent that has one.",
            )
        return base.system_prompt_path, base.system_prompt_template
    path = _resolve_file(agent_file.system_prompt)
    if is_private(path):
        raise agent_file.system_prompt.error(
            f"{path} may contain secrets, and system prompts are sent to the model.",
            hint="Use another text file.",
        )
    try:
        return path, path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise agent_file.system_prompt.error(
            f"can't read {path}: {reason_of(error)}.", hint="Use a UTF-8 text file."
        ) from error


def _tools(
    agent_file: AgentFile, base: ResolvedAgentSpec | None, known: Collection[str]
) -> tuple[ToolRef, ...]:
    if agent_file.tools is not None:
        tools = _parse_tools(agent_file.tools, known)
    elif base is not None:
        tools = base.tools
    else:
        raise agent_file.mapping.error(
            "the agent has no tools.", hint="List them under `tools`. For none, write `tools: []`."
        )
    if agent_file.allowed_tools is not None:
        allowed = frozenset().union(*(match_tools(entry, tools, known) for entry in agent_file.allowed_tools))
        tools = tuple(tool for tool in tools if tool in allowed)
    excluded = frozenset().union(*(match_tools(entry, tools, known) for entry in agent_file.excluded_tools))
    return tuple(tool for tool in tools if tool not in excluded)


def _parse_tools(entries: tuple[LocatedText, ...], known: Collection[str]) -> tuple[ToolRef, ...]:
    tools: dict[str, ToolRef] = {}
    for entry in entries:
        tool = parse_tool(entry, known)
        if tool.name in tools:
            raise entry.error(
                f"duplicate tool name {tool.name}.", hint="Remove it, or write `Tool as OtherName`."
            )
        tools[tool.name] = tool
    return tuple(tools.values())


def _subagents(agent_file: AgentFile, base: ResolvedAgentSpec | None) -> Mapping[str, SubagentSpec]:
    if agent_file.subagents is None:
        return base.subagents if base else {}
    return {
        name: SubagentSpec(_agent_file(_resolve_file(path)), description)
        for name, (path, description) in agent_file.subagents.items()
    }


def _join_lines(text: str | None) -> str:
    return " ".join((text or "").split())

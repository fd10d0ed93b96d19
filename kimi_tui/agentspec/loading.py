"""Loading an agent: its file, what that extends, and the paths in them."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from kimi_tui.agentspec.document import Text, nearest, read_document
from kimi_tui.agentspec.folder import readable
from kimi_tui.agentspec.form import AgentForm, read_form
from kimi_tui.agentspec.spec import ResolvedAgentSpec, SubagentSpec, ToolRef
from kimi_tui.agentspec.tool_names import named_tools, parse_tool
from kimi_tui.base.assets import asset_path
from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.secret_paths import is_private

AGENT_FILE = "agent.yaml"
_AGENT_DIR = "${KIMI_AGENT_DIR}"


def load_agent_spec(path: Path, *, known_tools: Collection[str]) -> ResolvedAgentSpec:
    """The agent in the file `path`, or in the `agent.yaml` of that folder. `known_tools`: the built-in ones.

    An agent that extends another one keeps what that has. Its own tools, system prompt, MCP file, excluded
    MCP tools and sub-agents replace those of the other; `exclude` takes tools away, and its vars are added.
    Raises ConfigError that names file, line and key.
    """
    return _load(_agent_file(path.absolute()), known_tools, ())


def _load(file: Path, known: Collection[str], heirs: tuple[Path, ...]) -> ResolvedAgentSpec:
    """The agent in `file`, on behalf of `heirs`, which extend each other and then it."""
    form = read_form(read_document(file))
    base = None
    if form.extend is not None:
        base_file = _base_file(form.extend)
        chain = (*heirs, file)
        if base_file in chain:
            circle = " -> ".join(str(heir) for heir in (*chain[chain.index(base_file) :], base_file))
            raise form.extend.error(f"these agents extend each other: {circle}.", hint="Break the circle.")
        base = _load(base_file, known, chain)
    return _resolved(form, file, base, known)


def _resolved(
    form: AgentForm, file: Path, base: ResolvedAgentSpec | None, known: Collection[str]
) -> ResolvedAgentSpec:
    prompt_path, prompt = _system_prompt(form, base)
    return ResolvedAgentSpec(
        name=form.name or (file.parent.name if file.name == AGENT_FILE else file.stem),
        version=form.version or (base.version if base else ""),
        description=_line(form.description if form.description is not None or not base else base.description),
        path=file,
        system_prompt_path=prompt_path,
        system_prompt_template=prompt,
        tools=_tools(form, base, known),
        model=form.model or (base.model if base else None),
        mcp=_file_beside(form.mcp) if form.mcp else (base.mcp if base else None),
        mcp_exclude=(
            tuple(text.value for text in form.mcp_exclude)
            if form.mcp_exclude is not None
            else (base.mcp_exclude if base else ())
        ),
        subagents=_subagents(form, base),
        names_subagents=bool(form.subagents),
        vars={**(base.vars if base else {}), **_with_folder(form.vars, file.parent)},
    )


def _with_folder(variables: Mapping[str, str], folder: Path) -> Mapping[str, str]:
    """`variables` with the folder of the file that they stand in, for what lies beside it."""
    return {name: value.replace(_AGENT_DIR, readable(folder)) for name, value in variables.items()}


def _base_file(extend: Text) -> Path:
    """The agent file that `extend` names: by a path, by a neighbour's name or by a bundled agent's."""
    name = extend.value
    if "/" in name or "\\" in name or name.endswith((".yaml", ".yml")):
        return _agent_file(_file_beside(extend))
    folders = [asset_path("agents")]
    if extend.file.name == AGENT_FILE and extend.file.parents[1].name == "agents":
        folders.insert(0, extend.file.parents[1])
    for folder in folders:
        file = folder / name / AGENT_FILE
        if os.path.isfile(file) and file != extend.file:  # noqa: PTH113
            return file
    known = sorted({file.parent.name for folder in folders for file in folder.glob(f"*/{AGENT_FILE}")})
    raise extend.error(f"there is no agent “{name}” to extend.", hint=nearest(name, known, what="agents"))


def _agent_file(path: Path) -> Path:
    return path / AGENT_FILE if os.path.isdir(path) else path  # noqa: PTH112


def _file_beside(text: Text) -> Path:
    """The file that `text` names, from the folder of the file that it stands in. It must exist."""
    path = (text.file.parent / Path(text.value).expanduser()).resolve()
    if not os.path.exists(path):  # noqa: PTH110 - where the name is too long pathlib raises
        raise text.error(f"there is no file {path}.", hint="Paths begin in the folder of the agent file.")
    return path


def _system_prompt(form: AgentForm, base: ResolvedAgentSpec | None) -> tuple[Path, str]:
    if form.system_prompt is None:
        if base is None:
            raise form.table.error(
                "the agent has no system prompt.", hint="Name a file, or extend an agent that has one."
            )
        return base.system_prompt_path, base.system_prompt_template
    path = _file_beside(form.system_prompt)
    if is_private(path):
        raise form.system_prompt.error(
            f"{path} may hold secrets, which a system prompt would send to the model.",
            hint="Name a text file.",
        )
    try:
        return path, path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise form.system_prompt.error(
            f"{path} can't be read: {reason_of(error)}.", hint="Use a UTF-8 text file."
        ) from error


def _tools(form: AgentForm, base: ResolvedAgentSpec | None, known: Collection[str]) -> tuple[ToolRef, ...]:
    if form.tools is not None:
        tools = _parsed(form.tools, known)
    elif base is not None:
        tools = base.tools
    else:
        raise form.table.error(
            "the agent has no tools.", hint="List them under `tools`; `[]` for none at all."
        )
    if form.allowed is not None:
        allowed = frozenset().union(*(named_tools(entry, tools, known) for entry in form.allowed))
        tools = tuple(tool for tool in tools if tool in allowed)
    excluded = frozenset().union(*(named_tools(entry, tools, known) for entry in form.excluded))
    return tuple(tool for tool in tools if tool not in excluded)


def _parsed(entries: tuple[Text, ...], known: Collection[str]) -> tuple[ToolRef, ...]:
    tools: dict[str, ToolRef] = {}
    for entry in entries:
        tool = parse_tool(entry, known)
        if tool.name in tools:
            raise entry.error(
                f"a second tool is called {tool.name}.", hint="Drop it, or write `Tool as OtherName`."
            )
        tools[tool.name] = tool
    return tuple(tools.values())


def _subagents(form: AgentForm, base: ResolvedAgentSpec | None) -> Mapping[str, SubagentSpec]:
    if form.subagents is None:
        return base.subagents if base else {}
    return {
        name: SubagentSpec(_agent_file(_file_beside(path)), description)
        for name, (path, description) in form.subagents.items()
    }


def _line(text: str | None) -> str:
    return " ".join((text or "").split())

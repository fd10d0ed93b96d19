"""The two forms of an agent file, read into one (`docs/agents.md`).

Ours is flat; kimi-cli's keeps everything under `agent` and says `version: 1` beside it.
"""

import re
from collections.abc import Mapping

from kimi_tui.agentspec.document import Table, Text
from kimi_tui.base.value import value

_FLAT_KEYS = (
    "name", "version", "description", "extend", "system_prompt", "tools", "exclude", "model", "mcp",
    "mcp_exclude", "subagents", "vars",
)  # fmt: skip
_KIMI_CLI_KEYS = (
    "extend", "name", "when_to_use", "system_prompt_path", "system_prompt_args", "tools", "allowed_tools",
    "exclude_tools", "model", "subagents",
)  # fmt: skip
_VARIABLE = re.compile(r"^(?!KIMI_)[A-Za-z_][A-Za-z0-9_]*$")


@value(kw_only=True)
class AgentForm:
    """One agent file, before what it extends is mixed in. None: the file doesn't say."""

    table: Table
    """The mapping that holds the agent."""
    name: str
    version: str
    description: str | None
    extend: Text | None
    system_prompt: Text | None
    tools: tuple[Text, ...] | None
    allowed: tuple[Text, ...] | None
    """When given, other tools are left out."""
    excluded: tuple[Text, ...]
    model: str | None
    mcp: Text | None
    mcp_exclude: tuple[Text, ...] | None
    subagents: Mapping[str, tuple[Text, str]] | None
    """Path and description."""
    vars: Mapping[str, str]


def read_form(document: Table) -> AgentForm:
    """The agent in `document`. Raises ConfigError for keys and values that belong to neither form."""
    if "agent" in document:
        return _kimi_cli_form(document)
    document.require_known(_FLAT_KEYS)
    return AgentForm(
        table=document,
        name=_value(document.text("name")) or "",
        version=_value(document.text("version")) or "",
        description=_value(document.text("description")),
        extend=document.text("extend"),
        system_prompt=document.text("system_prompt"),
        tools=document.texts("tools"),
        allowed=None,
        excluded=document.texts("exclude") or (),
        model=_value(document.text("model")),
        mcp=document.text("mcp"),
        mcp_exclude=document.texts("mcp_exclude"),
        subagents=_subagents(document),
        vars=_variables(document.table("vars")),
    )


def _kimi_cli_form(document: Table) -> AgentForm:
    document.require_known(("version", "agent"))
    version = document.text("version")
    if version is not None and version.value != "1":
        raise version.error(
            f"version {version.value} of the agent format is unknown.", hint="Write `version: 1`."
        )
    agent = document.table("agent")
    if agent is None or not len(agent.entries):
        raise document.error("“agent” is empty.", hint="Describe the agent under it, or extend another one.")
    agent.require_known(_KIMI_CLI_KEYS)
    return AgentForm(
        table=agent,
        name=_value(agent.text("name")) or "",
        version="1",
        description=_value(agent.text("when_to_use")),
        extend=agent.text("extend"),
        system_prompt=agent.text("system_prompt_path"),
        tools=agent.texts("tools"),
        allowed=agent.texts("allowed_tools") or None,
        excluded=agent.texts("exclude_tools") or (),
        model=_value(agent.text("model")),
        mcp=None,
        mcp_exclude=None,
        subagents=_subagents(agent),
        vars=_variables(agent.table("system_prompt_args")),
    )


def _subagents(agent: Table) -> Mapping[str, tuple[Text, str]] | None:
    table = agent.table("subagents")
    if table is None:
        return None
    subagents = {}
    for name in table:
        entry = table.table(name)
        path = entry.text("path") if entry is not None else None
        if entry is None or path is None:
            raise table.error(
                f"{table.path}{name} has no path.", key=name, hint="Write `path: FILE` under it."
            )
        entry.require_known(("path", "description"))
        subagents[name] = (path, " ".join((_value(entry.text("description")) or "").split()))
    return subagents


def _variables(table: Table | None) -> Mapping[str, str]:
    if table is None:
        return {}
    for name in table:
        if not _VARIABLE.match(name):
            hint = "Use letters, digits and `_`; names that begin with KIMI_ are taken."
            raise table.error(f"{table.path}{name} can't be a variable.", key=name, hint=hint)
    return {name: _value(table.text(name)) or "" for name in table}


def _value(text: Text | None) -> str | None:
    return text.value if text is not None else None

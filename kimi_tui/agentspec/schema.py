"""Schema of agent files: kimi-tui's flat format and kimi-cli's nested one (`docs/agents.md`).

In kimi-cli's format, all keys are under `agent`, next to `version: 1`.
"""

import re
from collections.abc import Mapping

from kimi_tui.agentspec.spec import ISOLATIONS, Isolation
from kimi_tui.agentspec.yaml_document import LocatedMapping, LocatedText, suggestion_hint
from kimi_tui.base.frozen import frozen

_FLAT_KEYS = (
    "name", "version", "description", "extend", "system_prompt", "tools", "exclude", "model", "mcp",
    "mcp_exclude", "subagents", "isolation", "vars",
)  # fmt: skip
_KIMI_CLI_KEYS = (
    "extend", "name", "when_to_use", "system_prompt_path", "system_prompt_args", "tools", "allowed_tools",
    "exclude_tools", "model", "subagents",
)  # fmt: skip
_VARIABLE = re.compile(r"^(?!KIMI_)[A-Za-z_][A-Za-z0-9_]*$")


@frozen(kw_only=True)
class AgentFile:
    """A parsed agent file, before inheritance. None for a key that isn't set."""

    mapping: LocatedMapping
    """The mapping that defines the agent."""
    name: str
    version: str
    description: str | None
    extend: LocatedText | None
    system_prompt: LocatedText | None
    tools: tuple[LocatedText, ...] | None
    allowed_tools: tuple[LocatedText, ...] | None
    """If set, other tools are removed."""
    excluded_tools: tuple[LocatedText, ...]
    model: str | None
    mcp: LocatedText | None
    mcp_exclude: tuple[LocatedText, ...] | None
    subagents: Mapping[str, tuple[LocatedText, str]] | None
    """Paths and descriptions by name."""
    isolation: Isolation | None
    vars: Mapping[str, str]


def parse_agent_file(document: LocatedMapping) -> AgentFile:
    """Parse the agent in `document`. Raises ConfigError for unknown keys and invalid values."""
    if "agent" in document:
        return _parse_kimi_cli_file(document)
    document.require_known(_FLAT_KEYS)
    return AgentFile(
        mapping=document,
        name=_text_value(document.text("name")) or "",
        version=_text_value(document.text("version")) or "",
        description=_text_value(document.text("description")),
        extend=document.text("extend"),
        system_prompt=document.text("system_prompt"),
        tools=document.texts("tools"),
        allowed_tools=None,
        excluded_tools=document.texts("exclude") or (),
        model=_text_value(document.text("model")),
        mcp=document.text("mcp"),
        mcp_exclude=document.texts("mcp_exclude"),
        subagents=_parse_subagents(document),
        isolation=_parse_isolation(document.text("isolation")),
        vars=_parse_variables(document.mapping("vars")),
    )


def _parse_kimi_cli_file(document: LocatedMapping) -> AgentFile:
    document.require_known(("version", "agent"))
    version = document.text("version")
    if version is not None and version.value != "1":
        raise version.error(f"unsupported agent file version {version.value}.", hint="Write `version: 1`.")
    agent = document.mapping("agent")
    if agent is None or not len(agent.entries):
        raise document.error("“agent” is empty.", hint="Define the agent under it, or extend another one.")
    agent.require_known(_KIMI_CLI_KEYS)
    return AgentFile(
        mapping=agent,
        name=_text_value(agent.text("name")) or "",
        version="1",
        description=_text_value(agent.text("when_to_use")),
        extend=agent.text("extend"),
        system_prompt=agent.text("system_prompt_path"),
        tools=agent.texts("tools"),
        allowed_tools=agent.texts("allowed_tools") or None,
        excluded_tools=agent.texts("exclude_tools") or (),
        model=_text_value(agent.text("model")),
        mcp=None,
        mcp_exclude=None,
        subagents=_parse_subagents(agent),
        isolation=None,
        vars=_parse_variables(agent.mapping("system_prompt_args")),
    )


def _parse_subagents(agent: LocatedMapping) -> Mapping[str, tuple[LocatedText, str]] | None:
    mapping = agent.mapping("subagents")
    if mapping is None:
        return None
    subagents = {}
    for name in mapping:
        entry = mapping.mapping(name)
        path = entry.text("path") if entry is not None else None
        if entry is None or path is None:
            raise mapping.error(
                f"{mapping.path}{name} has no path.", key=name, hint="Add `path: FILE` under it."
            )
        entry.require_known(("path", "description"))
        subagents[name] = (path, " ".join((_text_value(entry.text("description")) or "").split()))
    return subagents


def _parse_isolation(text: LocatedText | None) -> Isolation | None:
    if text is None:
        return None
    match text.value:
        case "workspace" | "none":
            return text.value
        case value:
            raise text.error(
                f"unknown isolation “{value}”.",
                hint=suggestion_hint(value, ISOLATIONS, what="values"),
            )


def _parse_variables(mapping: LocatedMapping | None) -> Mapping[str, str]:
    if mapping is None:
        return {}
    for name in mapping:
        if not _VARIABLE.match(name):
            hint = "Use letters, digits and `_`. Names that begin with KIMI_ are reserved."
            raise mapping.error(f"{mapping.path}{name} isn't a valid variable name.", key=name, hint=hint)
    return {name: _text_value(mapping.text(name)) or "" for name in mapping}


def _text_value(text: LocatedText | None) -> str | None:
    return text.value if text is not None else None

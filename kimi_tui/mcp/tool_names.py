"""Unique names of MCP tools for the model. A tool keeps its own name unless the name clashes."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

MAX_NAME_CHARS = 64
_FORBIDDEN = re.compile(r"[^a-zA-Z0-9_-]")

ToolKey = tuple[str, str]
"""Server name and tool name."""


def unique_tool_names(tools: Sequence[ToolKey], *, reserved_names: Collection[str]) -> Mapping[str, ToolKey]:
    """Return the tools by unique name. Providers accept the names, and none is in `reserved_names`.

    A tool keeps its name during the session as long as the set of tools doesn't change.
    """
    short_names = {tool: _sanitize_name(tool[1]) for tool in tools}
    counts = Counter(name.lower() for name in short_names.values())
    clashing = {name.lower() for name in reserved_names} | {
        name for name, count in counts.items() if count > 1
    }
    tools_by_name: dict[str, ToolKey] = {}
    for tool, name in short_names.items():
        if name.lower() in clashing:
            name = _sanitize_name(f"{tool[0]}__{tool[1]}")
        if name in tools_by_name or name in reserved_names:
            name = _shorten_name(name, tool)
        tools_by_name.setdefault(name, tool)
    return tools_by_name


def is_excluded(tool: ToolKey, excluded: Collection[str]) -> bool:
    """Return whether an agent's `mcp_exclude` names `tool`.

    Entries are TOOL, SERVER:TOOL, SERVER__TOOL, or SERVER:* for all tools of a server.
    """
    server, name = tool
    return not {name, f"{server}:{name}", f"{server}__{name}", f"{server}:*"}.isdisjoint(excluded)


def _sanitize_name(name: str) -> str:
    sanitized = _FORBIDDEN.sub("_", name) or "_"
    return sanitized if len(sanitized) <= MAX_NAME_CHARS else _shorten_name(sanitized, ("", name))


def _shorten_name(name: str, tool: ToolKey) -> str:
    digest = hashlib.sha256("\0".join(tool).encode("utf-8", "replace")).hexdigest()[:8]
    return f"{name[: MAX_NAME_CHARS - 9]}_{digest}"

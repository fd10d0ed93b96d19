"""What a model calls MCP servers' tools: by their own names, with the server's before those that clash."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

LONGEST_NAME = 64
_FORBIDDEN = re.compile(r"[^a-zA-Z0-9_-]")

McpTool = tuple[str, str]
"""A server's name, and its tool's."""


def model_names(tools: Sequence[McpTool], *, taken: Collection[str]) -> Mapping[str, McpTool]:
    """The tools by names that providers allow. `taken` are the agent's own; nothing replaces those.

    Every tool keeps its name through the session as long as the set of tools stays the same.
    """
    plain = {tool: _allowed(tool[1]) for tool in tools}
    count = Counter(name.lower() for name in plain.values())
    clashing = {name.lower() for name in taken} | {name for name, times in count.items() if times > 1}
    named: dict[str, McpTool] = {}
    for tool, name in plain.items():
        if name.lower() in clashing:
            name = _allowed(f"{tool[0]}__{tool[1]}")
        if name in named or name in taken:
            name = _shortened(name, tool)
        named.setdefault(name, tool)
    return named


def is_excluded(tool: McpTool, excluded: Collection[str]) -> bool:
    """Whether an agent's `mcp_exclude` names `tool`: TOOL, SERVER:TOOL, SERVER__TOOL, or SERVER:* for all."""
    server, name = tool
    return not {name, f"{server}:{name}", f"{server}__{name}", f"{server}:*"}.isdisjoint(excluded)


def _allowed(name: str) -> str:
    allowed = _FORBIDDEN.sub("_", name) or "_"
    return allowed if len(allowed) <= LONGEST_NAME else _shortened(allowed, ("", name))


def _shortened(name: str, tool: McpTool) -> str:
    mark = hashlib.sha256("\0".join(tool).encode("utf-8", "replace")).hexdigest()[:8]
    return f"{name[: LONGEST_NAME - 9]}_{mark}"

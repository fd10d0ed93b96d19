"""Tool names in agent files: `Bash`, `Bash as Shell`, `package.module:Class`, and kimi-cli's class paths."""

import re
from collections.abc import Collection, Mapping

from kimi_tui.agentspec.spec import ToolRef
from kimi_tui.agentspec.yaml_document import LocatedText, suggestion_hint

_ENTRY = re.compile(r"^(?P<reference>\S+)(?:\s+as\s+(?P<rename>\S+))?$")
_NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")
_CLASS_PATH = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*:[A-Za-z_]\w*$")
_KIMI_CLI = "kimi_cli."
_KIMI_CLI_NAMES: Mapping[str, str] = {
    "Agent": "Task",
    "CMD": "Bash",
    "Shell": "Bash",
    "StrReplaceFile": "EditFile",
}
"""kimi-cli's tool classes with other names in kimi-tui. The model sees kimi-cli's names."""


def parse_tool(entry: LocatedText, known: Collection[str]) -> ToolRef:
    """Parse `entry`. Raises ConfigError if `entry` is neither a tool in `known` nor a `module:Class`."""
    match = _ENTRY.match(entry.value.strip())
    if match is None:
        raise entry.error(
            f"“{entry.value}” isn't a valid tool entry.", hint="Write `Tool`, or `Tool as OtherName`."
        )
    reference, rename = match["reference"], match["rename"]
    if rename is not None and not _NAME.match(rename):
        raise entry.error(
            f"“{rename}” isn't a valid tool name.", hint="Use up to 64 letters, digits, `_` and `-`."
        )
    if reference.startswith(_KIMI_CLI):
        return _parse_kimi_cli_tool(entry, reference, rename, known)
    if ":" in reference:
        if not _CLASS_PATH.match(reference):
            raise entry.error(f"“{reference}” isn't a class path.", hint="Write it as package.module:Class.")
        return ToolRef(reference, rename)
    if reference not in known:
        raise entry.error(f"unknown tool “{reference}”.", hint=_hint(reference, known))
    return ToolRef(reference, rename if rename != reference else None)


def other_names(name: str) -> tuple[str, ...]:
    """Return the other names of the tool `name`: kimi-cli's names, or kimi-tui's name for kimi-cli's tool."""
    tui_name = _KIMI_CLI_NAMES.get(name, name)
    return tuple(it for it in (tui_name, *_names_in_kimi_cli(tui_name)) if it != name)


def _names_in_kimi_cli(name: str) -> tuple[str, ...]:
    return tuple(cli_name for cli_name, tui_name in _KIMI_CLI_NAMES.items() if tui_name == name)


def match_tools(entry: LocatedText, tools: Collection[ToolRef], known: Collection[str]) -> frozenset[ToolRef]:
    """Return the `tools` that match `entry`, by the model's name or by reference.

    Empty if the tool exists but isn't in `tools`, or if kimi-cli's tool has no equivalent in kimi-tui.

    Raises: ConfigError if the tool doesn't exist.
    """
    name = entry.value.strip()
    matches = frozenset(tool for tool in tools if tool.name == name)
    if matches:
        return matches
    if name.startswith(_KIMI_CLI) and _counterpart(name)[0] not in known:
        return frozenset()
    parsed = parse_tool(entry, known)
    return frozenset(tool for tool in tools if tool.reference == parsed.reference)


def _parse_kimi_cli_tool(
    entry: LocatedText, path: str, rename: str | None, known: Collection[str]
) -> ToolRef:
    name, cli_name = _counterpart(path)
    if name not in known:
        raise entry.error(f"kimi-cli's tool {path} has no equivalent.", hint=_hint(name, known))
    return ToolRef(name, rename or cli_name)


def _counterpart(path: str) -> tuple[str, str | None]:
    """Return kimi-tui's name for a kimi-cli class, and kimi-cli's name; None if both are the same."""
    cls = path.rpartition(":")[2]
    return (_KIMI_CLI_NAMES[cls], cls) if cls in _KIMI_CLI_NAMES else (cls, None)


def _hint(name: str, known: Collection[str]) -> str:
    tui_name = _KIMI_CLI_NAMES.get(name)
    if tui_name in known:
        return f"Write “{tui_name} as {name}”."
    return suggestion_hint(name, known, what="tools")

"""Tools as agent files name them: `Bash`, `Bash as Shell`, `package.module:Class`, and kimi-cli's paths."""

import re
from collections.abc import Collection, Mapping

from kimi_tui.agentspec.document import Text, nearest
from kimi_tui.agentspec.spec import ToolRef

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
"""Classes of kimi-cli whose tools have another name here. Their model keeps the name that its prompt uses."""


def parse_tool(entry: Text, known: Collection[str]) -> ToolRef:
    """The tool that `entry` names. Raises ConfigError when it is none of `known` and no `module:Class`."""
    match = _ENTRY.match(entry.value.strip())
    if match is None:
        raise entry.error(f"“{entry.value}” names no tool.", hint="Write `Tool`, or `Tool as OtherName`.")
    reference, rename = match["reference"], match["rename"]
    if rename is not None and not _NAME.match(rename):
        raise entry.error(
            f"a tool can't be called “{rename}”.", hint="Use up to 64 letters, digits, `_` and `-`."
        )
    if reference.startswith(_KIMI_CLI):
        return _of_kimi_cli(entry, reference, rename, known)
    if ":" in reference:
        if not _CLASS_PATH.match(reference):
            raise entry.error(f"“{reference}” is no class.", hint="Write it as package.module:Class.")
        return ToolRef(reference, rename)
    if reference not in known:
        raise entry.error(f"there is no tool “{reference}”.", hint=_hint(reference, known))
    return ToolRef(reference, rename if rename != reference else None)


def other_names(name: str) -> tuple[str, ...]:
    """What the tool called `name`, here or in kimi-cli, is called in the other."""
    ours = _KIMI_CLI_NAMES.get(name, name)
    return tuple(it for it in (ours, *_names_in_kimi_cli(ours)) if it != name)


def _names_in_kimi_cli(name: str) -> tuple[str, ...]:
    return tuple(theirs for theirs, ours in _KIMI_CLI_NAMES.items() if ours == name)


def named_tools(entry: Text, tools: Collection[ToolRef], known: Collection[str]) -> frozenset[ToolRef]:
    """Those of `tools` that `entry` names, by the name the model knows or by what they are.

    None of them when there is such a tool but not here, or a tool of kimi-cli without a counterpart.
    Raises ConfigError when there is no such tool at all.
    """
    name = entry.value.strip()
    named = frozenset(tool for tool in tools if tool.name == name)
    if named:
        return named
    if name.startswith(_KIMI_CLI) and _counterpart(name)[0] not in known:
        return frozenset()
    wanted = parse_tool(entry, known)
    return frozenset(tool for tool in tools if tool.reference == wanted.reference)


def _of_kimi_cli(entry: Text, path: str, rename: str | None, known: Collection[str]) -> ToolRef:
    name, kept_name = _counterpart(path)
    if name not in known:
        raise entry.error(f"the tool {path} of kimi-cli has no counterpart here.", hint=_hint(name, known))
    return ToolRef(name, rename or kept_name)


def _counterpart(path: str) -> tuple[str, str | None]:
    """Our tool for a class of kimi-cli, and the name to keep when ours differs."""
    cls = path.rpartition(":")[2]
    return (_KIMI_CLI_NAMES[cls], cls) if cls in _KIMI_CLI_NAMES else (cls, None)


def _hint(name: str, known: Collection[str]) -> str:
    ours = _KIMI_CLI_NAMES.get(name)
    return f"Write “{ours} as {name}”." if ours in known else nearest(name, known, what="tools")

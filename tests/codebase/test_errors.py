"""Every error that the program raises says what happened and what to do."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from kimi_tui.base import errors
from tests.codebase.source_trees import nodes_of, syntax_trees

_GAP = "\ufffc"
"""Placeholder for a part that is only known at run time."""

WITHOUT_A_HINT = {
    "A hook blocked it: \ufffc": "the hook's own text says what to do",
    "The prompt \ufffc of \ufffc is empty.": "the server has nothing to say; there is nothing to do",
    "\ufffc is a local program and needs no sign-in.": "there is nothing to do",
    "The user rejected the request.": "read by an MCP server, which can't change it",
    "Sampling is only available during a tool call.": "read by an MCP server",
    "The tool call has ended.": "read by an MCP server",
    "Sampling isn't available.": "internal: never shown",
    "The server reports: \ufffc": "the server's own words",
    "The server is being reconnected.": "it reconnects automatically",
}
"""Errors without a hint, and why they have none."""

REEXPORTED_ERRORS = {"api/agent.py", "headless/turn_runner.py"}
"""Modules that raise an error of the engine again, with both sentences in one."""


@dataclass(frozen=True)
class RaisedError:
    """A place in the code that creates an error."""

    where: str
    what: str | None
    """None if the whole text is computed elsewhere."""
    hint: str | None
    has_hint: bool
    is_from_script: bool


def find_raised() -> Iterator[RaisedError]:
    own = {
        node.name
        for tree in syntax_trees().values()
        for node in nodes_of(tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and hasattr(errors, base.id) for base in node.bases)
    }
    for path, tree in syntax_trees().items():
        calls = [
            node for node in nodes_of(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        names = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
        ours = {name for name in names if _is_error(path, name, own)}
        for call in calls:
            if isinstance(call.func, ast.Name) and call.func.id in ours and call.args:
                hints = [keyword.value for keyword in call.keywords if keyword.arg == "hint"]
                yield RaisedError(
                    where=f"{path}:{call.lineno}",
                    what=_text(call.args[0]),
                    hint=_text(hints[0]) if hints else None,
                    has_hint=bool(hints) or any(keyword.arg is None for keyword in call.keywords),
                    is_from_script=path.name == "script.py",
                )


def _is_error(path: Path, name: str, own: set[str]) -> bool:
    """Return whether a name is an error class of ours. Imports the module only if `own` has the name."""
    known = getattr(errors, name, None) if name[:1].isupper() else None
    if known is None and name in own:
        module = ".".join(("kimi_tui", *path.with_suffix("").parts))
        known = getattr(import_module(module.removesuffix(".__init__")), name, None)
    return (
        isinstance(known, type)
        and issubclass(known, errors.KimiTuiError)
        and known is not errors.MaxStepsReached
    )


def _text(node: ast.expr) -> str | None:
    """Return the text of an expression, ignoring calls that sanitize it for a terminal."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(value) or _GAP for value in values)
        case ast.Call(func=ast.Name(id="sanitize" | "sanitize_line"), args=[inner]):
            return _text(inner)
        case ast.Call(func=ast.Name(id="msg"), args=[ast.Constant(value=str(text))]):
            return re.sub(r"\{\w+(:[^}]*)?\}", _GAP, text)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return (_text(left) or _GAP) + (_text(right) or _GAP)
        case _:
            return None


@pytest.fixture(scope="module")
def all_raised() -> tuple[RaisedError, ...]:
    return tuple(find_raised())


def test_every_error_says_what_happened_and_what_to_do(all_raised: tuple[RaisedError, ...]) -> None:
    assert len(all_raised) > 200
    for one in all_raised:
        assert_has_both_sentences(one)


def assert_has_both_sentences(one: RaisedError) -> None:
    if one.what is not None:
        assert one.what.endswith((".", "?", _GAP)), one
        assert (
            one.what[:1] in (_GAP, "“", "$", "-")
            or not one.what[:1].islower()
            or one.what.startswith("kimi-tui")
        )
    if one.what in WITHOUT_A_HINT or one.is_from_script:
        return
    if one.what is None and one.where.partition(":")[0] in REEXPORTED_ERRORS:
        return
    assert one.has_hint, one
    if one.hint is not None:
        assert one.hint.endswith((".", "?", "!", _GAP)), one


def test_every_exception_is_still_needed(all_raised: tuple[RaisedError, ...]) -> None:
    without_hint = {one.what for one in all_raised if not one.has_hint}
    assert set(WITHOUT_A_HINT) - without_hint == set()

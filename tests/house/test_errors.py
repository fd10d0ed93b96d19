"""Every error that the program raises: one sentence of what happened, and one of what to do."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from kimi_tui.base import errors

SOURCE = Path(__file__).parents[2] / "kimi_tui"
_GAP = "\ufffc"
"""Stands for what is known only at run time."""

WITHOUT_A_HINT = {
    "A hook kept it from starting: \ufffc": "the hook's own words say what to do",
    "The prompt \ufffc of \ufffc is empty.": "the server has nothing to say; there is nothing to do",
    "\ufffc is a program; there is nothing to sign in to.": "there is nothing to do",
    "The user does not allow it.": "read by an MCP server, which has to live with it",
    "The model can be asked during a tool call only.": "read by an MCP server",
    "The call has ended.": "read by an MCP server",
    "There is no model to ask.": "inner: never shown by itself",
    "It says: \ufffc": "the server's own words",
    "It is connected anew.": "it mends itself",
}
"""Errors with nothing to be done about them, and why."""

PASSED_ON = {"api/agent.py", "headless/conversation.py"}
"""Where an error that the engine told is raised again, both sentences in one."""


@dataclass(frozen=True)
class Raised:
    """A place that makes an error."""

    where: str
    what: str | None
    """None when it comes from elsewhere as a whole."""
    hint: str | None
    has_hint: bool
    is_from_script: bool


def raised() -> Iterator[Raised]:
    trees = {
        path: tuple(ast.walk(ast.parse(path.read_text("utf-8")))) for path in sorted(SOURCE.rglob("*.py"))
    }
    own = {
        node.name
        for nodes in trees.values()
        for node in nodes
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and hasattr(errors, base.id) for base in node.bases)
    }
    for path, nodes in trees.items():
        calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        names = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
        ours = {name for name in names if _is_error(path, name, own)}
        for call in calls:
            if isinstance(call.func, ast.Name) and call.func.id in ours and call.args:
                hints = [keyword.value for keyword in call.keywords if keyword.arg == "hint"]
                yield Raised(
                    where=f"{path.relative_to(SOURCE)}:{call.lineno}",
                    what=_text(call.args[0]),
                    hint=_text(hints[0]) if hints else None,
                    has_hint=bool(hints) or any(keyword.arg is None for keyword in call.keywords),
                    is_from_script=path.name == "script.py",
                )


def _is_error(path: Path, name: str, own: set[str]) -> bool:
    """Whether a name is one of our errors in a module. Only for the modules' `own` ones are they imported."""
    known = getattr(errors, name, None) if name[:1].isupper() else None
    if known is None and name in own:
        module = ".".join(("kimi_tui", *path.relative_to(SOURCE).with_suffix("").parts))
        known = getattr(import_module(module.removesuffix(".__init__")), name, None)
    return (
        isinstance(known, type)
        and issubclass(known, errors.KimiTuiError)
        and known is not errors.MaxStepsReached
    )


def _text(node: ast.expr) -> str | None:
    """The text of an expression; calls that make text fit for a terminal are looked through."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(value) or _GAP for value in values)
        case ast.Call(func=ast.Name(id="plain" | "plain_line"), args=[inner]):
            return _text(inner)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return (_text(left) or _GAP) + (_text(right) or _GAP)
        case _:
            return None


@pytest.fixture(scope="module")
def all_raised() -> tuple[Raised, ...]:
    return tuple(raised())


def test_every_error_says_what_happened_and_what_to_do(all_raised: tuple[Raised, ...]) -> None:
    assert len(all_raised) > 200
    for one in all_raised:
        assert_says_both(one)


def assert_says_both(one: Raised) -> None:
    if one.what is not None:
        assert one.what.endswith((".", "?", _GAP)), one
        assert (
            one.what[:1] in (_GAP, "“", "$", "-")
            or not one.what[:1].islower()
            or one.what.startswith("kimi-tui")
        )
    if one.what in WITHOUT_A_HINT or one.is_from_script:
        return
    if one.what is None and one.where.partition(":")[0] in PASSED_ON:
        return
    assert one.has_hint, one
    if one.hint is not None:
        assert one.hint.endswith((".", "?", "!", _GAP)), one


def test_no_excuse_is_left_over(all_raised: tuple[Raised, ...]) -> None:
    told = {one.what for one in all_raised if not one.has_hint}
    assert set(WITHOUT_A_HINT) - told == set()

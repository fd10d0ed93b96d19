"""What the source says to the user: all that passes `say`, and the sentences that a front end retells."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml

from kimi_tui.base import errors
from kimi_tui.base.assets import asset_path
from kimi_tui.tui.keys import GROUPS

SOURCE = Path(__file__).parents[2] / "kimi_tui"
_READ_BY_THE_MODEL = {"FileProblem", "WebProblem"}
_FOR_PROGRAMS = {"tools", "acp", "wireserver", "api", "hooks"}
"""Packages whose errors a model, an editor or a program reads."""
_OURS = {
    name
    for name, known in vars(errors).items()
    if isinstance(known, type) and issubclass(known, errors.KimiTuiError)
}


@cache
def trees() -> dict[str, ast.Module]:
    """Every module of the source."""
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


@cache
def said() -> dict[str, str]:
    """What front ends say, with named placeholders, and where."""
    found = {key: where for where, tree in trees().items() for key in _said_in(tree)}
    for where in ("config/settings.py", "config/appearance.py"):
        found |= dict.fromkeys(_meanings_in(trees()[where]), where)
    for path in sorted(asset_path("agents").glob("*/agent.yaml")):
        found[yaml.safe_load(path.read_text())["description"]] = f"agents/{path.parent.name}"
    for title, keys in GROUPS:
        found |= {title: "tui/keys.py"} | {key.label: "tui/keys.py" for key in keys}
    return found


def _said_in(tree: ast.Module) -> Iterator[str]:
    named = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        texts: list[ast.expr] = []
        match call.func:
            case ast.Name(id="say" | "later"):
                texts = call.args[:1]
            case ast.Name(id="say_many"):
                texts = call.args[:2]
            case ast.Name(id="SlashCommand"):
                texts = [keyword.value for keyword in call.keywords if keyword.arg == "summary"]
            case ast.Name(id="LinearCommand"):
                texts = call.args[1:2]
            case ast.Name(id="option"):
                texts = [keyword.value for keyword in call.keywords if keyword.arg in ("help", "panel")]
        for text in texts:
            if isinstance(text, ast.Name):
                text = named.get(text.id, text)
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield text.value


def _meanings_in(tree: ast.Module) -> Iterator[str]:
    """What stands below the fields of the settings."""
    for table in tree.body:
        if not isinstance(table, ast.ClassDef):
            continue
        for field, below in zip(table.body, table.body[1:], strict=False):
            match field, below:
                case ast.AnnAssign(), ast.Expr(value=ast.Constant(value=str(text))):
                    yield " ".join(text.split())


@cache
def raised() -> dict[str, str]:
    """The sentences of errors that a user may read, with numbers for what differs, and where."""
    found: dict[str, str] = {}
    for where, tree in trees().items():
        if where.partition("/")[0] in _FOR_PROGRAMS:
            continue
        own = _OURS | {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
            and any(isinstance(base, ast.Name) and base.id in _OURS for base in node.bases)
        }
        told = [
            *_errors_in(tree, own),
            *(_told_in(tree) if where.startswith(("cli/", "headless/")) else ()),
            *(_announced_in(tree) if where.startswith(("engine/", "soul/")) else ()),
        ]
        found |= {template: where for text in told for template in templates_of(text)}
    return {text: where for text, where in found.items() if _says_something(text) and text not in said()}


def _errors_in(tree: ast.Module, own: set[str]) -> Iterator[ast.expr]:
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args):
            continue
        if call.func.id in own - _READ_BY_THE_MODEL:
            yield call.args[0]
            yield from (keyword.value for keyword in call.keywords if keyword.arg == "hint")


def _told_in(tree: ast.Module) -> Iterator[ast.expr]:
    """Lines and questions on the plain terminal, and the help of subcommands."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Name(id="say" | "_say" | "yes" | "_asked" | "retell" | "new_app"), args=[text, *_]
            ):
                yield text
            case ast.Call(func=ast.Attribute(attr="say", value=ast.Attribute(attr="_remarks")), args=[text]):
                yield text
            case ast.Call(func=ast.Attribute(attr="Option" | "Argument"), keywords=keywords):
                yield from (keyword.value for keyword in keywords if keyword.arg == "help")
            case ast.FunctionDef(decorator_list=[ast.Call(func=ast.Attribute(attr="command"))]):
                for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
                    yield ast.Constant(paragraph.replace("\n", " "))


def _announced_in(tree: ast.Module) -> Iterator[ast.expr]:
    """Notifications, and what slash commands do."""
    for call in ast.walk(tree):
        match call:
            case ast.Call(keywords=keywords) if keywords:
                yield from (it.value for it in keywords if it.arg in ("title", "body", "summary"))


@cache
def constants() -> frozenset[str]:
    """Every text of the source, with numbers for what differs."""
    return frozenset(
        template
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for template in templates_of(node)
    )


def templates_of(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may be, with `{1}`, `{2}` … for what is known only at run time."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            text, gaps = "", 0
            for value in values:
                if isinstance(value, ast.Constant):
                    text += value.value
                else:
                    gaps += 1
                    text += f"{{{gaps}}}"
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from templates_of(body)
            yield from templates_of(orelse)
        case ast.Call(func=ast.Name(id="plain" | "plain_line"), args=[inner]):
            yield from templates_of(inner)
        case _:
            return


def _says_something(text: str) -> bool:
    words = "".join(letter if letter.isalpha() else " " for letter in text).split()
    return len(words) > 1 and any(len(word) > 2 for word in words)

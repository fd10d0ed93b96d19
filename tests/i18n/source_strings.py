"""Translatable strings in the source: arguments of `tr` and `msg`, and errors that front ends translate."""

import ast
from collections.abc import Iterator
from functools import cache

import yaml

from kimi_tui.base import errors
from kimi_tui.base.assets import asset_path
from kimi_tui.tui.keys.keymap import GROUPS
from tests.codebase.source_trees import nodes_of, syntax_trees

_MODEL_ERRORS = {"FileProblem", "WebProblem"}
_PROGRAM_PACKAGES = {"tools", "workspaces", "mcp", "permission", "acp", "wireserver", "api", "hooks"}
"""Packages whose errors are for a model, an editor or a program."""
_PRINT_FUNCTIONS = {"print_line", "_print_line", "confirm", "_prompt", "translate_message", "new_app"}
"""Functions that print their first argument on a plain terminal."""
_ERROR_CLASSES = {
    name
    for name, known in vars(errors).items()
    if isinstance(known, type) and issubclass(known, errors.KimiTuiError)
}


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax trees of all modules by path."""
    return {path.as_posix(): tree for path, tree in syntax_trees().items()}


@cache
def translatable_strings() -> dict[str, str]:
    """Return the messages with ids, and the modules they are in."""
    strings = {key: where for where, tree in trees().items() for key in _strings_in(tree)}
    for where in ("config/settings.py", "config/startup_settings.py"):
        strings |= dict.fromkeys(_setting_descriptions_in(trees()[where]), where)
    for path in sorted(asset_path("agents").glob("*/agent.yaml")):
        strings[yaml.safe_load(path.read_text())["description"]] = f"agents/{path.parent.name}"
    for title, keys in GROUPS:
        strings |= {title: "tui/keys/keymap.py"} | {key.label: "tui/keys/tables.py" for key in keys}
    return strings


def _strings_in(tree: ast.Module) -> Iterator[str]:
    constants_by_name = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for call in nodes_of(tree):
        if not isinstance(call, ast.Call):
            continue
        texts: list[ast.expr] = []
        match call.func:
            case ast.Name(id="tr" | "tr_lazy" | "msg"):
                texts = call.args[:1]
            case ast.Name(id="tr_n" | "msg_n"):
                texts = call.args[:2]
            case ast.Name(id="SlashCommand" | "UiCommand"):
                texts = [keyword.value for keyword in call.keywords if keyword.arg == "summary"]
            case ast.Name(id="LinearCommand"):
                texts = call.args[1:2]
            case ast.Name(id="option"):
                texts = [keyword.value for keyword in call.keywords if keyword.arg in ("help", "panel")]
        for text in texts:
            if isinstance(text, ast.Name):
                text = constants_by_name.get(text.id, text)
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield text.value


def _setting_descriptions_in(tree: ast.Module) -> Iterator[str]:
    """Yield the docstrings of the settings' fields."""
    for table in tree.body:
        if not isinstance(table, ast.ClassDef):
            continue
        for field, below in zip(table.body, table.body[1:], strict=False):
            match field, below:
                case ast.AnnAssign(), ast.Expr(value=ast.Constant(value=str(text))):
                    yield " ".join(text.split())


@cache
def error_texts() -> dict[str, str]:
    """Return the texts without parameters of errors and notices that users may see, and their modules."""
    texts = {
        text: where
        for where, expressions in _shown_expressions().items()
        for node in expressions
        for text in constants_in(node)
    }
    return {
        text: where
        for text, where in texts.items()
        if _is_sentence(text) and text not in translatable_strings()
    }


def formatted_error_texts() -> list[str]:
    """Return the f-strings in errors and notices that users may see. They have no id."""
    return [
        f"{where}:{node.lineno} {ast.unparse(node)}"
        for where, expressions in _shown_expressions().items()
        for expression in expressions
        for node in formatted_texts_in(expression)
        if _is_sentence("".join(part.value for part in node.values if isinstance(part, ast.Constant)))
    ]


def composed_ids() -> list[str]:
    """Return the calls of `msg` and `msg_n` whose ids aren't literals."""
    return [
        f"{where}:{node.lineno} {ast.unparse(node)}"
        for where, tree in trees().items()
        if where != "base/message_text.py"
        for node in nodes_of(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        for text in node.args[: {"msg": 1, "msg_n": 2}.get(node.func.id, 0)]
        if not isinstance(text, ast.Constant)
    ]


@cache
def _shown_expressions() -> dict[str, list[ast.expr]]:
    """Return the texts of errors, notices and printed lines that users may see, by module."""
    expressions: dict[str, list[ast.expr]] = {}
    for where, tree in trees().items():
        if where.partition("/")[0] in _PROGRAM_PACKAGES:
            continue
        error_names = _ERROR_CLASSES | {
            node.name
            for node in nodes_of(tree)
            if isinstance(node, ast.ClassDef)
            and any(isinstance(base, ast.Name) and base.id in _ERROR_CLASSES for base in node.bases)
        }
        expressions[where] = [
            *_errors_in(tree, error_names),
            *(_printed_texts_in(tree) if where.startswith(("cli/", "headless/")) else ()),
            *(_notification_texts_in(tree) if where.startswith(("engine/", "soul/")) else ()),
        ]
    return expressions


def _errors_in(tree: ast.Module, error_names: set[str]) -> Iterator[ast.expr]:
    for call in nodes_of(tree):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args):
            continue
        if call.func.id in error_names - _MODEL_ERRORS:
            yield call.args[0]
            yield from (keyword.value for keyword in call.keywords if keyword.arg == "hint")


def _printed_texts_in(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield lines and questions of the command line, and the help of subcommands."""
    for node in nodes_of(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[text, *_]) if name in _PRINT_FUNCTIONS:
                yield text
            case ast.Call(
                func=ast.Attribute(attr="write_line", value=ast.Attribute(attr="_notices")), args=[text]
            ):
                yield text
            case ast.Call(func=ast.Attribute(attr="Option" | "Argument"), keywords=keywords):
                yield from (keyword.value for keyword in keywords if keyword.arg == "help")
            case ast.FunctionDef(decorator_list=[ast.Call(func=ast.Attribute(attr="command"))]):
                for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
                    yield ast.Constant(paragraph.replace("\n", " "))


def _notification_texts_in(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the texts of notifications and the summaries of slash commands."""
    for call in nodes_of(tree):
        match call:
            case ast.Call(keywords=keywords) if keywords:
                yield from (it.value for it in keywords if it.arg in ("title", "body", "summary"))


@cache
def constants() -> frozenset[str]:
    """Return all strings of the source."""
    return frozenset(
        text
        for tree in trees().values()
        for node in nodes_of(tree)
        if isinstance(node, ast.Constant)
        for text in constants_in(node)
    )


def constants_in(node: ast.expr) -> Iterator[str]:
    """Yield the literals that are possible values of an expression."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from constants_in(body)
            yield from constants_in(orelse)
        case ast.Call(func=ast.Name(id="sanitize" | "sanitize_line"), args=[inner]):
            yield from constants_in(inner)
        case _:
            return


def formatted_texts_in(node: ast.expr) -> Iterator[ast.JoinedStr]:
    """Yield the f-strings that are possible values of an expression."""
    match node:
        case ast.JoinedStr():
            yield node
        case ast.IfExp(body=body, orelse=orelse):
            yield from formatted_texts_in(body)
            yield from formatted_texts_in(orelse)
        case ast.Call(func=ast.Name(id="sanitize" | "sanitize_line" | "redact"), args=[inner]):
            yield from formatted_texts_in(inner)
        case _:
            return


def _is_sentence(text: str) -> bool:
    words = "".join(letter if letter.isalpha() else " " for letter in text).split()
    return len(words) > 1 and any(len(word) > 2 for word in words)

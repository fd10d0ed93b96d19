"""Structure of the code: no import cycles, small classes, collaborators that are objects with names."""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from tests.codebase.source_trees import nodes_of, syntax_trees

MAX_METHODS_PER_CLASS = 30
MAX_CALLABLE_PARAMETERS = 25
"""Constructor parameters that are bare callables: a reader can't follow a call through them by name."""
MAX_CALLABLE_FIELDS = 20
"""Fields of dataclasses that are bare callables, such as the functions in a table of commands."""
MAX_TYPE_CHECKING_IMPORTS = 80


def module_name(path: Path) -> str:
    """Return the name of the module at a path below the package's folder."""
    return ".".join(("kimi_tui", *path.with_suffix("").parts)).removesuffix(".__init__")


def imported_names(tree: ast.Module) -> Iterator[str]:
    """Yield what a module imports anywhere: at its top, in functions and for type checking."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def import_graph() -> dict[str, set[str]]:
    """Return the modules of this package that each of them imports.

    The package that contains a name is left out if the name is itself a module.
    """
    trees = {module_name(path): tree for path, tree in syntax_trees().items()}
    graph = {}
    for module, tree in trees.items():
        names = set(imported_names(tree)) & trees.keys()
        packages = {name for name in names if any(other.startswith(f"{name}.") for other in names)}
        graph[module] = names - packages - {module}
    return graph


def modules_in_cycles(graph: dict[str, set[str]]) -> set[str]:
    """Return the modules of `graph` that import themselves, or are imported between two that do."""
    importers: dict[str, set[str]] = {module: set() for module in graph}
    for module, imported in graph.items():
        for name in imported:
            importers[name].add(module)
    remaining = set(graph)
    for edges, reverse in ((graph, importers), (importers, graph)):
        removable = [module for module in remaining if not edges[module] & remaining]
        while removable:
            module = removable.pop()
            remaining.discard(module)
            removable += [it for it in reverse[module] & remaining if not edges[it] & remaining]
    return remaining


@cache
def classes() -> tuple[tuple[str, ast.ClassDef], ...]:
    return tuple(
        (module_name(path), node)
        for path, tree in syntax_trees().items()
        for node in nodes_of(tree)
        if isinstance(node, ast.ClassDef)
    )


def methods(node: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [it for it in node.body if isinstance(it, ast.FunctionDef | ast.AsyncFunctionDef)]


def callable_aliases() -> set[str]:
    """Return the names that modules give to types of callables."""
    return {
        target.id
        for tree in syntax_trees().values()
        for node in tree.body
        if isinstance(node, ast.Assign) and "Callable[" in ast.unparse(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def parameters(node: ast.ClassDef) -> Iterator[ast.expr]:
    """Yield the types of the parameters of a class's constructor."""
    for method in methods(node):
        if method.name == "__init__":
            for argument in chain(method.args.posonlyargs, method.args.args, method.args.kwonlyargs):
                if argument.annotation is not None:
                    yield argument.annotation


def dataclass_fields(node: ast.ClassDef) -> Iterator[ast.expr]:
    """Yield the types of a dataclass's fields."""
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    if any("dataclass" in decorator or "frozen" in decorator for decorator in decorators):
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign):
                yield statement.annotation


def bare_callables(types_of: Callable[[ast.ClassDef], Iterator[ast.expr]]) -> list[str]:
    """Return the classes that `types_of` finds a callable in, once for each."""
    aliases = callable_aliases()
    return [
        f"{module}.{node.name}"
        for module, node in classes()
        for annotation in types_of(node)
        if "Callable[" in (text := ast.unparse(annotation).strip("'\"")) or aliases & {*text.split(" | ")}
    ]


def test_no_modules_import_each_other() -> None:
    assert modules_in_cycles(import_graph()) == set()


def test_a_cycle_is_found_through_other_modules() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"a"}}
    assert modules_in_cycles(graph) == {"a", "b", "c"}


def test_imports_for_type_checking_only_stay_rare() -> None:
    """Each is a module that is loaded later, on purpose: most keep the first frame fast."""
    count = sum(
        len(node.body)
        for tree in syntax_trees().values()
        for node in nodes_of(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    assert count <= MAX_TYPE_CHECKING_IMPORTS


def test_no_class_has_more_methods_than_a_reader_can_remember() -> None:
    large = {
        node.name: len(methods(node)) for _, node in classes() if len(methods(node)) > MAX_METHODS_PER_CLASS
    }
    assert large == {}


def test_collaborators_are_objects_with_names() -> None:
    assert len(bare := bare_callables(parameters)) <= MAX_CALLABLE_PARAMETERS, "\n".join(bare)
    assert len(bare := bare_callables(dataclass_fields)) <= MAX_CALLABLE_FIELDS, "\n".join(bare)

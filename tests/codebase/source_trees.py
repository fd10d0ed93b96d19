"""Syntax trees of the package's modules. Parsing them takes seconds, so each process does it once."""

import ast
import gc
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import kimi_tui

SOURCE = Path(kimi_tui.__file__).parent


@cache
def syntax_trees() -> Mapping[Path, ast.Module]:
    """Return the syntax tree of each module, by its path below `SOURCE`."""
    trees = {
        path.relative_to(SOURCE): ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))
    }
    gc.freeze()  # a garbage collection would visit a million nodes
    return MappingProxyType(trees)


@cache
def nodes_of(module: ast.Module) -> tuple[ast.AST, ...]:
    """Return all nodes of a module."""
    return tuple(ast.walk(module))

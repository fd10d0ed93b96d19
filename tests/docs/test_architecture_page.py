"""The architecture page names modules and classes that exist."""

import ast
import re

from tests.codebase.source_trees import SOURCE, nodes_of, syntax_trees

PAGE = (SOURCE.parent / "docs" / "architecture.md").read_text("utf-8")
PLACES_AND_WALKS = PAGE[PAGE.index("## Where to look") : PAGE.index("## Text for users")]
CODE = re.findall(r"`([^`]+)`", PLACES_AND_WALKS)


def members_of_classes() -> dict[str, set[str]]:
    """Return the names of the methods and fields of each class."""
    members: dict[str, set[str]] = {}
    for tree in syntax_trees().values():
        for node in nodes_of(tree):
            if isinstance(node, ast.ClassDef):
                members.setdefault(node.name, set()).update(
                    item.name
                    for item in ast.walk(node)
                    if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                )
    return members


def test_every_module_on_the_page_exists() -> None:
    paths = {text for text in CODE if text.endswith(".py")}
    assert len(paths) > 5
    assert {path for path in paths if not (SOURCE / path).is_file()} == set()


def test_every_class_and_method_on_the_page_exists() -> None:
    members = members_of_classes()
    named = {match for text in CODE if (match := re.match(r"([A-Z]\w+)(?:\.(\w+))?", text))}
    assert len(named) > 20
    missing = {
        match[0]
        for match in named
        if match[1] not in members or (match[2] is not None and match[2] not in members[match[1]])
    }
    assert missing == set()

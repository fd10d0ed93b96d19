"""Names in the code: folders of a readable size, unique classes, functions that say what they do."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.codebase.source_trees import nodes_of, syntax_trees

MAX_MODULES_PER_FOLDER = 40
MAX_BARE_PARTICIPLES = 20
IRREGULAR_PARTICIPLES = frozenset({
    "begun", "bent", "born", "bought", "bound", "broken", "brought", "built", "caught", "chosen", "done",
    "drawn", "driven", "eaten", "fallen", "fed", "felt", "found", "forgotten", "given", "gone", "grown",
    "heard", "held", "hidden", "kept", "known", "laid", "led", "left", "lent", "lost", "made", "meant",
    "met", "paid", "said", "seen", "sent", "shown", "sold", "spelt", "spent", "spoken", "stood", "stuck",
    "sung", "sunk", "sworn", "taken", "taught", "thought", "thrown", "told", "torn", "understood",
    "woken", "won", "worn", "woven", "written",
})  # fmt: skip
"""Without those that are imperatives as well, such as `read`, `put`, `set`, `cut`, `split` and `run`."""
NOT_PARTICIPLES = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "speed", "succeed"})


def public_classes() -> Iterator[tuple[str, Path]]:
    for path, tree in syntax_trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, path


def functions() -> Iterator[tuple[str, Path]]:
    for path, tree in syntax_trees().items():
        for node in nodes_of(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.name, path


def is_bare_participle(name: str) -> bool:
    """Return whether a function's name is a past participle and nothing else, such as `parsed` or `drawn`."""
    word = name.strip("_")
    if "_" in word:
        return False
    return word in IRREGULAR_PARTICIPLES or (word.endswith("ed") and word not in NOT_PARTICIPLES)


def test_no_folder_has_more_modules_than_a_reader_can_scan() -> None:
    sizes = Counter(path.parent for path in syntax_trees() if path.name != "__init__.py")
    assert {folder: size for folder, size in sizes.items() if size > MAX_MODULES_PER_FOLDER} == {}


def test_no_public_class_name_occurs_twice() -> None:
    places: dict[str, list[str]] = {}
    for name, path in public_classes():
        places.setdefault(name, []).append(path.as_posix())
    repeated = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert repeated == {"KimiTui": ["api/agent.py", "harbor.py"]}, "only Harbor's agent has a name in use"


def test_functions_are_named_by_what_they_do() -> None:
    participles = [f"{path}: {name}" for name, path in functions() if is_bare_participle(name)]
    assert len(participles) <= MAX_BARE_PARTICIPLES, "\n".join(participles)

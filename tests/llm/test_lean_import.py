"""SDKs are imported without unused modules, which are imported on access."""

import subprocess
import sys
from pathlib import Path

import pytest

from kimi_tui.llm.transport.lean_import import import_lean, parse_reexports


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    """Return a function that writes a package named after the test. Afterwards, it's removed from
    `sys.modules`.
    """
    name = f"made_{request.node.name.lower()}"
    monkeypatch.syspath_prepend(tmp_path)

    def write(files: dict[str, str]) -> str:
        for path, text in files.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return name

    yield write
    for known in [known for known in sys.modules if known.startswith(name)]:
        del sys.modules[known]


def imported_modules(name: str) -> set[str]:
    """Return the imported modules of a package."""
    return {known.removeprefix(name) for known in sys.modules if known.startswith(f"{name}.")}


def test_a_package_of_reexports_imports_a_module_on_access(package):
    name = package(
        {
            "__init__.py": "from . import types\nVERSION = 1",
            "types/__init__.py": "# by it\nfrom .cat import Cat as Cat\nfrom .dog import (\n Dog as Dog,\n)",
            "types/cat.py": "class Cat: ...",
            "types/dog.py": "class Dog: ...",
        }
    )
    types = import_lean(name).types
    assert imported_modules(name) == {".types"}
    assert types.Dog.__module__ == f"{name}.types.dog"
    assert imported_modules(name) == {".types", ".types.dog"}
    assert {"Cat", "Dog"} <= set(dir(types))
    with pytest.raises(AttributeError, match="has no attribute 'Cow'"):
        types.Cow  # noqa: B018


def test_star_imports_and_module_access_work_as_usual(package):
    name = package(
        {
            "__init__.py": "from . import types",
            "types/__init__.py": "from .cat import Cat as Cat, _paws\nfrom .dog import Dog as Dog\n",
            "types/cat.py": "class Cat: ...\n_paws = 4\nlives = 9",
            "types/dog.py": "class Dog: ...",
        }
    )
    types = import_lean(name).types
    assert types.cat.lives == 9
    assert types._paws == 4
    namespace: dict[str, object] = {}
    exec(f"from {name}.types import *", namespace)  # a syntax error in a function
    assert {"Cat", "Dog"} == namespace.keys() - {"__builtins__"}


def test_a_package_with_other_code_is_imported_as_usual(package):
    name = package(
        {
            "__init__.py": "from .types import Cat",
            "types/__init__.py": "from .cat import Cat\nCat.lives = 9",
            "types/cat.py": "class Cat: ...",
        }
    )
    assert import_lean(name).Cat.lives == 9


def test_modules_that_depend_on_import_order_are_imported_in_that_order(package):
    name = package(
        {
            "__init__.py": "from .types import B",
            "types/__init__.py": "from .a import A\nfrom .b import B",
            "types/a.py": "A = 1\nfrom .b import B",  # must be imported first
            "types/b.py": "from .a import A\nB = A + 1",
        }
    )
    assert import_lean(name).B == 2


def test_a_loaded_package_is_returned_unchanged():
    assert import_lean("json") is sys.modules["json"]


def test_a_missing_package_raises():
    with pytest.raises(ModuleNotFoundError, match="no_such_sdk"):
        import_lean("no_such_sdk")


@pytest.mark.parametrize(
    "source",
    [
        "from .a import A\nA.b = 1",
        "import os",
        "from .a import *",
        '"""Words."""',
        "from os import path",
        "from .a import a",
    ],
)
def test_a_package_with_anything_but_relative_imports_has_no_reexports(source: str):
    assert parse_reexports(source) is None


def test_reexports_are_parsed_with_their_modules():
    source = (
        "from __future__ import annotations\nfrom . import sub as sub\nfrom ..up import (\n  X,\n  Y as Z,)"
    )
    assert parse_reexports(source) == {"sub": (".", "sub"), "X": ("..up", "X"), "Z": ("..up", "Y")}


def test_openai_is_imported_without_most_of_its_types():
    finished = subprocess.run(
        [sys.executable, "-c", _OPENAI], capture_output=True, text=True, check=True
    ).stdout.split()
    imported_count, total_count, is_same = int(finished[0]), int(finished[1]), finished[2]
    assert imported_count < total_count / 10
    assert is_same == "True"


_OPENAI = """
import sys
from pathlib import Path
from kimi_tui.llm.transport.lean_import import import_lean
openai = import_lean("openai")
import openai.types.chat
openai.AsyncOpenAI(api_key="none").chat
types = [name for name in sys.modules if name.startswith("openai.types.")]
print(len(types), len(list(Path(openai.types.__path__[0]).rglob("*.py"))))
print(openai.types.chat.ChatCompletion is sys.modules["openai.types.chat.chat_completion"].ChatCompletion)
"""

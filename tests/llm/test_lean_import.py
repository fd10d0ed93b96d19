"""SDKs are imported without the modules that nobody asked for, and whoever asks later gets them."""

import subprocess
import sys
from pathlib import Path

import pytest

from kimi_tui.llm.lean_import import handed_on, import_lean


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    """Writes a package that is named after the test, and forgets it afterwards."""
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


def brought(name: str) -> set[str]:
    """What of a package is imported."""
    return {known.removeprefix(name) for known in sys.modules if known.startswith(f"{name}.")}


def test_a_package_that_hands_names_on_brings_a_module_when_its_name_is_asked_for(package):
    name = package(
        {
            "__init__.py": "from . import types\nVERSION = 1",
            "types/__init__.py": "# by it\nfrom .cat import Cat as Cat\nfrom .dog import (\n Dog as Dog,\n)",
            "types/cat.py": "class Cat: ...",
            "types/dog.py": "class Dog: ...",
        }
    )
    types = import_lean(name).types
    assert brought(name) == {".types"}
    assert types.Dog.__module__ == f"{name}.types.dog"
    assert brought(name) == {".types", ".types.dog"}
    assert {"Cat", "Dog"} <= set(dir(types))
    with pytest.raises(AttributeError, match="has no attribute 'Cow'"):
        types.Cow  # noqa: B018


def test_whoever_takes_all_names_or_a_module_gets_them_as_ever(package):
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
    taken: dict[str, object] = {}
    exec(f"from {name}.types import *", taken)  # it can't stand in a function
    assert {"Cat", "Dog"} == taken.keys() - {"__builtins__"}


def test_a_package_that_does_anything_else_is_imported_as_ever(package):
    name = package(
        {
            "__init__.py": "from .types import Cat",
            "types/__init__.py": "from .cat import Cat\nCat.lives = 9",
            "types/cat.py": "class Cat: ...",
        }
    )
    assert import_lean(name).Cat.lives == 9


def test_modules_that_need_the_order_of_their_package_get_it(package):
    name = package(
        {
            "__init__.py": "from .types import B",
            "types/__init__.py": "from .a import A\nfrom .b import B",
            "types/a.py": "A = 1\nfrom .b import B",  # imported first, it is far enough for the other
            "types/b.py": "from .a import A\nB = A + 1",
        }
    )
    assert import_lean(name).B == 2


def test_a_package_that_is_there_already_is_left_as_it_is():
    assert import_lean("json") is sys.modules["json"]


def test_what_is_missing_is_missing():
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
def test_only_imports_of_its_own_names_count_as_handing_on(source: str):
    assert handed_on(source) is None


def test_names_are_found_where_they_come_from():
    source = (
        "from __future__ import annotations\nfrom . import sub as sub\nfrom ..up import (\n  X,\n  Y as Z,)"
    )
    assert handed_on(source) == {"sub": (".", "sub"), "X": ("..up", "X"), "Z": ("..up", "Y")}


def test_openai_comes_without_most_of_its_types_and_has_them_all():
    finished = subprocess.run(
        [sys.executable, "-c", _OPENAI], capture_output=True, text=True, check=True
    ).stdout.split()
    brought_along, there_are, is_same = int(finished[0]), int(finished[1]), finished[2]
    assert brought_along < there_are / 10
    assert is_same == "True"


_OPENAI = """
import sys
from pathlib import Path
from kimi_tui.llm.lean_import import import_lean
openai = import_lean("openai")
import openai.types.chat
openai.AsyncOpenAI(api_key="none").chat
types = [name for name in sys.modules if name.startswith("openai.types.")]
print(len(types), len(list(Path(openai.types.__path__[0]).rglob("*.py"))))
print(openai.types.chat.ChatCompletion is sys.modules["openai.types.chat.chat_completion"].ChatCompletion)
"""

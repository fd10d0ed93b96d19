"""Ways to weaken a check: each one is noticed, and fixing the code isn't."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.engine.goal.check_guard import CheckGuard
from tests.engine.timeline_harness import TimelineHarness

CHECK = "python -m pytest -q tests && ./check.sh && ../outside.sh"
INSTALLED = ".venv/lib/python3.11/site-packages/pytest/__init__.py"
RUST = """pub fn twice(n: u32) -> u32 {
    n + n
}

#[cfg(test)]
mod tests {
    #[test]
    fn two() {
        let expected = 4;
        assert_eq!(super::twice(2), expected);
    }
}
"""
DOCTEST = '''def twice(word):
    """Repeat.

    >>> twice("a")
    'aa'
    """
    return word * 2
'''
PROJECT = {
    "app/__init__.py": "",
    "app/names.py": "def upper(name):\n    return name\n",
    "tests/test_names.py": "from app.names import upper\n\ndef test_upper():\n    assert upper('a') == 'A'\n",
    "tests/data/expected.json": '{"a": "A"}\n',
    "conftest.py": "import sys\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q --doctest-modules'\n",
    "Makefile": "test:\n\tpytest\n",
    "package.json": '{"scripts": {"test": "jest"}}\n',
    "check.sh": "#!/bin/sh\ngrep -q A app/names.py\n",
    ".github/workflows/ci.yml": "run: pytest\n",
    ".gitignore": ".venv/\nnode_modules/\ngenerated/\n",
    INSTALLED: "version = 1\n",
    "node_modules/jest/index.js": "run()\n",
    "web/button.test.ts": "expect(1).toBe(1)\n",
    "pkg/names_test.go": "func TestUpper(t *testing.T) {}\n",
    ".venv/lib/python3.11/site-packages/hypothesis/__init__.py": "def given(): ...\n",
    "app/words.py": DOCTEST,
    "core/lib.rs": RUST,
    "data/expected.txt": "A\n",
    "tests/test_data.py": "from pathlib import Path\nEXPECTED = Path('data/expected.txt').read_text()\n",
    "index.html": "<p>old</p>\n",
    "tests/test_page.sh": "grep -q new index.html\n",
    "ops/check_all.sh": "pytest\n",
    "ops/verify.js": "run()\n",
    "ops/plugin.py": "def pytest_configure(): ...\n",
    "noxfile.py": "session.run('sh', 'ops/check_all.sh')\nsession.run('pytest', '-p', 'ops.plugin')\n",
    "justfile": "test:\n\tnode ops/verify.js\n",
}
TEST = "tests/test_names.py"


def write(path: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)

    return change


def append(path: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        with (root / path).open("a") as file:
            file.write(text)

    return change


def replace(path: str, old: str, new: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        text = (root / path).read_text()
        assert old in text
        (root / path).write_text(text.replace(old, new))

    return change


def link_tests_elsewhere(root: Path) -> None:
    (root / "tests").rename(root / "old")
    (root / "other").mkdir()
    (root / "tests").symlink_to("other")


def replace_script_by_link(root: Path) -> None:
    (root / "check.sh").unlink()
    (root / "check.sh").symlink_to("/bin/true")


def edit_with_the_old_time(root: Path) -> None:
    file = root / INSTALLED
    info = file.stat()
    file.write_text("version = 2\n")
    os.utime(file, ns=(info.st_atime_ns, info.st_mtime_ns))


WAYS: dict[str, Callable[[Path], None]] = {
    "delete a test file": lambda root: (root / TEST).unlink(),
    "delete the tests": lambda root: shutil.rmtree(root / "tests"),
    "empty a test file": write(TEST, ""),
    "rename a test file": lambda root: (root / TEST).rename(root / "tests/names.py"),
    "rename a test": replace(TEST, "def test_upper", "def upper_works"),
    "weaken an assertion": replace(TEST, "== 'A'", "in 'aA'"),
    "remove an assertion": replace(TEST, "assert upper('a') == 'A'", "upper('a')"),
    "return before the assertion": replace(TEST, "    assert", "    return\n    assert"),
    "catch the error": append(TEST, "try: test_upper()\nexcept Exception: pass\n"),
    "skip a test": replace(TEST, "def test", "import pytest\n@pytest.mark.skip\ndef test"),
    "expect the failure": replace(TEST, "def test", "import pytest\n@pytest.mark.xfail\ndef test"),
    "skip the module": append(TEST, "import pytest; pytest.skip(allow_module_level=True)\n"),
    "end the run in a test": append(TEST, "import os; os._exit(0)\n"),
    "change expected data": write("tests/data/expected.json", '{"a": "a"}\n'),
    "make a test unreadable to pytest": lambda root: (root / TEST).chmod(0),
    "add a conftest in tests": write("tests/conftest.py", "collect_ignore = ['test_names.py']\n"),
    "ignore tests in conftest": append("conftest.py", "collect_ignore_glob = ['*']\n"),
    "hook in conftest": append("conftest.py", "def pytest_sessionfinish(session): session.exitstatus = 0\n"),
    "patch the code in conftest": append("conftest.py", "import app.names; app.names.upper = str.upper\n"),
    "add a conftest elsewhere": write("app/conftest.py", "1\n"),
    "deselect in pyproject": append("pyproject.toml", "testpaths = ['app']\n"),
    "add pytest.ini": write("pytest.ini", "[pytest]\naddopts = --collect-only\n"),
    "add .pytest.ini": write(".pytest.ini", "[pytest]\naddopts = --co\n"),
    "add tox.ini": write("tox.ini", "[pytest]\naddopts = -k nothing\n"),
    "add setup.cfg": write("setup.cfg", "[tool:pytest]\naddopts = --co\n"),
    "change the Makefile": write("Makefile", "test:\n\ttrue\n"),
    "add a makefile that takes precedence": write("GNUmakefile", "test:\n\ttrue\n"),
    "change the script of the check": write("check.sh", "#!/bin/sh\nexit 0\n"),
    "replace the script by a link": replace_script_by_link,
    "change npm's test script": replace("package.json", "jest", "true"),
    "add jest.config.js": write("jest.config.js", "module.exports = {testPathIgnorePatterns: ['.']}\n"),
    "add vitest.config.ts": write("vitest.config.ts", "export default {}\n"),
    "change a TypeScript test": write("web/button.test.ts", "\n"),
    "change a Go test": write("pkg/names_test.go", "package pkg\n"),
    "add a snapshot": write("web/__snapshots__/button.snap", "x\n"),
    "change CI": write(".github/workflows/ci.yml", "run: true\n"),
    "add sitecustomize.py": write("sitecustomize.py", "import sys\n"),
    "add usercustomize.py": write("usercustomize.py", "import sys\n"),
    "add a module named pytest": write("pytest.py", "raise SystemExit(0)\n"),
    "add a package named pytest": write("pytest/__main__.py", "\n"),
    "shadow a standard module": write("unittest.py", "\n"),
    "shadow another standard module": write("json.py", "\n"),
    "add a program named pytest": write("tools/pytest", "#!/bin/sh\n"),
    "add a program named python": write(".direnv/python", "#!/bin/sh\n"),
    "add a .env file": write(".env", "PYTEST_ADDOPTS=--co\n"),
    "add a .pth file": write(".venv/lib/python3.11/site-packages/x.pth", "import os\n"),
    "change the installed pytest": write(INSTALLED, "version = 2\n"),
    "change it and set its time back": edit_with_the_old_time,
    "change an installed runner": write("node_modules/jest/index.js", "\n"),
    "change .gitattributes": write(".gitattributes", "tests export-ignore\n"),
    "link tests elsewhere": link_tests_elsewhere,
    "exit in the code": append("app/names.py", "import sys\nsys.exit(0)\n"),
    "exit hard in the code": append("app/names.py", "import os\nos._exit(0)\n"),
    "skip in the code": append("app/names.py", "import pytest\npytest.skip('x', allow_module_level=True)\n"),
    "notice the test in the code": append("app/names.py", "import sys\nIS_TEST = 'x' in sys.modules\n"),
    "notice it by the environment": append("app/names.py", "T = getenv('PYTEST_CURRENT_TEST')\n"),
    "return what equals anything": append("app/names.py", "def __eq__(self, other): return True\n"),
    "exit at the end": append("app/names.py", "import atexit\n"),
    "hide it in a file without lines": write("app/data.bin", "\0" * 20),
}
LATER_WAYS: dict[str, Callable[[Path], None]] = {
    # beside or above the project
    "pytest.ini above the project": write("../pytest.ini", "[pytest]\naddopts = --co\n"),
    "cargo settings above the project": write("../.cargo/config.toml", "[target.x]\nrunner = 'true'\n"),
    "a runner above the project": write("../node_modules/jest/index.js", "\n"),
    "a workspace above the project": write("../go.work", "go 1.22\n"),
    "a script of the check above the project": write("../outside.sh", "exit 0\n"),
    # files of the user
    "cargo settings of the user": write("../home/.cargo/config.toml", "[build]\n"),
    "Go flags of the user": write("../home/.config/go/env", "GOFLAGS=-run=^$\n"),
    "RSpec options of the user": write("../home/.rspec", "--dry-run\n"),
    "a plugin for all programs of the user": write(
        "../home/.local/lib/python3.11/site-packages/evil-1.dist-info/entry_points.txt", "[pytest11]\nx = x\n"
    ),
    "Gradle scripts of the user": write("../home/.gradle/init.d/skip.gradle", "\n"),
    # modules and plugins
    "a module with the name of an installed package": write("hypothesis.py", "def given(): ...\n"),
    "a package with that name in src": write("src/hypothesis/__init__.py", "def given(): ...\n"),
    "a package named sitecustomize": write("src/sitecustomize/__init__.py", "1\n"),
    "compiled sitecustomize": write("lib/sitecustomize.pyc", "x"),
    # what protected files name
    "data that a test reads": write("data/expected.txt", "a\n"),
    "a script that the configuration runs": write("ops/check_all.sh", "true\n"),
    "a program that an interpreter runs": write("ops/verify.js", "\n"),
    "a plugin that the configuration loads": write("ops/plugin.py", "\n"),
    # tests with other names
    "a test of unittest": write("web/testnames.py", "\n"),
    "test.js": write("test.js", "\n"),
    "a test with a dash": write("web/button-test.js", "\n"),
    "a directory of tests of one kind": write("integration_tests/login.py", "\n"),
    "tests of a Swift target": write("AppTests/Login.swift", "\n"),
    "recorded responses": write("app/cassettes/login.yaml", "\n"),
    "an approved text": write("app/render.approved.txt", "\n"),
    "an amber snapshot": write("app/render.ambr", "\n"),
    "bats": write("checks.bats", "\n"),
    # tests in the code
    "a test in Rust code": replace("core/lib.rs", "expected = 4", "expected = 2"),
    "a deleted test in Rust code": replace("core/lib.rs", RUST[RUST.index("\n#[cfg") :], ""),
    "a return in a test in Rust code": replace("core/lib.rs", "fn two() {", "fn two() {\n        return;"),
    "the result in a doctest": replace("app/words.py", "'aa'", "'a'"),
    "a deleted doctest": replace("app/words.py", ">>> twice(\"a\")\n    'aa'", ""),
    # settings of linters
    "flake8": write(".flake8", "[flake8]\nexclude = .\n"),
    "mypy": write(".mypy.ini", "[mypy]\nignore_errors = True\n"),
    "ESLint": write("eslint.config.mjs", "export default []\n"),
    # lines of the code
    "another name of _exit": append("app/names.py", "from os import _exit as e\n"),
    "replace the program": append("app/names.py", "import os\nos.execvp('true', ['true'])\n"),
    "look for the runner's process": append("app/names.py", "open('/proc/self/cmdline')\n"),
    "find the tests in memory": append("app/names.py", "import gc\ngc.get_objects()\n"),
    "replace the code of a test": append("app/names.py", "f.__code__ = g.__code__\n"),
    "another encoding": append("app/rot.py", "# coding: rot13\n"),
    "letters that look different": append("app/names.py", "import os\nos._\uff45xit(0)\n"),
    "a name in parts": append("app/names.py", "import os\ngetattr(os, '_ex' + 'it')(0)\n"),
    "code from a text": append("app/names.py", "exec(bytes.fromhex('00'))\n"),
    "notice the test in Rust": append("core/lib.rs", "pub fn f() -> bool { cfg!(test) }\n"),
    "notice it by an attribute": append("core/lib.rs", "#[cfg(not(test))]\nfn f() {}\n"),
    "replace expect": write("web/a.js", "globalThis.expect = () => ok\n"),
    "replace assert": write("web/a.js", "const a = require('node:assert')\n"),
    "exit in ignored code": write("generated/names.py", "import os\nos._exit(0)\n"),
    "exit with a computed status": write("pkg/a.go", "func init() { os.Exit(len(none)) }\n"),
}
"""Ways that were found later."""
WAYS |= LATER_WAYS
HARMLESS: dict[str, Callable[[Path], None]] = {
    "fix the code": replace("app/names.py", "return name", "return name.upper()"),
    "add a module": write("app/places.py", "def here():\n    return 1\n"),
    "write docs": write("docs/names.md", "# Names\n"),
    "a function beside a doctest": append("app/words.py", "def thrice(word):\n    return word * 3\n"),
    "a function beside a test in Rust": replace("core/lib.rs", "    n + n", "    2 * n"),
    "a new doctest": write("app/more.py", '"""\n>>> 1\n1\n"""\n'),
    "a page that a test reads": write("index.html", "<p>new</p>\n"),
    "data that no test reads": write("data/cities.txt", "A\n"),
    "a module named latest": write("latest/contest.py", "1\n"),
    "ignored code": write("generated/names.py", "NAMES = []\n"),
    "caches of test runs": write("tests/__pycache__/test_names.cpython-311.pyc", "x"),
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


async def names_of_changes(folder: Path, change: Callable[[Path], None], check: str = CHECK) -> list[str]:
    harness = TimelineHarness(folder)
    for path, text in PROJECT.items():
        write(path, text)(harness.work)
    await harness.open()
    commands = harness.timeline.checkpoint_commands
    guard = CheckGuard(
        check, work_dir=harness.work, views=commands.views, worker=harness.timeline.files.worker
    )
    await guard.begin()
    change(harness.work)
    report = await guard.report()
    await harness.close()
    assert report.is_empty == (not report.names)
    return report.names


@pytest.mark.parametrize("way", WAYS)
async def test_each_way_to_weaken_a_check_is_noticed(tmp_path: Path, way: str) -> None:
    assert await names_of_changes(tmp_path, WAYS[way])


@pytest.mark.parametrize("change", HARMLESS)
async def test_other_changes_are_not_reported(tmp_path: Path, change: str) -> None:
    assert await names_of_changes(tmp_path, HARMLESS[change]) == []


@pytest.mark.parametrize(
    "check",
    [
        "ruff check app && mypy app/names.py",
        "cd app && python -m pytest",
        "pytest app -q",
        "grep -q A app/names.py",
        "gcc app/names.py -o app/names",
    ],
)
async def test_code_that_a_check_names_is_not_protected(tmp_path: Path, check: str) -> None:
    assert await names_of_changes(tmp_path, HARMLESS["fix the code"], check) == []


@pytest.mark.parametrize(
    ("check", "change"),
    [
        ("cd ops && ./verify.js", write("ops/verify.js", "\n")),
        ("cd app && python -m pytest", write("app/hypothesis.py", "\n")),
        ("cd app && python -m pytest", write("app/json.py", "\n")),
        ("pytest web", write("web/helpers.ts", "\n")),
        ("uv run ruff check app", append("app/names.py", "import os  # noqa\n")),
        ("make lint", append("app/names.py", "x = 1  # type: ignore\n")),
    ],
)
async def test_changes_that_matter_to_one_check(
    tmp_path: Path, check: str, change: Callable[[Path], None]
) -> None:
    assert await names_of_changes(tmp_path, change, check)


async def test_packages_of_programs_elsewhere_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = tmp_path / "environment"
    package = environment / "lib" / "python3.11" / "site-packages" / "_pytest" / "main.py"
    for file in (environment / "bin" / "pytest", package):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", str(environment / "bin"), prepend=os.pathsep)

    assert await names_of_changes(tmp_path, lambda _root: package.unlink()) == [str(package)]

"""Files that decide whether a check passes: tests, their configuration and the programs that run them."""

import fnmatch
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import PurePosixPath

from kimi_tui.engine.goal.named_paths import NamedPaths

_FOLDERS = frozenset(
    {
        ".buildkite", ".cargo", ".circleci", ".config", ".github", ".gitlab", ".husky", ".mvn", ".nox",
        ".tox", ".venv", "bin", "ci", "cypress", "e2e", "env", "features", "node_modules", "scripts",
        "site-packages", "testdata", "venv",
    }
)  # fmt: skip
"""Directories with programs and settings that run tests."""
_TEST_FOLDER = re.compile(
    r"(?:^|[._-])(?:tests?|testing|specs?|mocks|fixtures?|snapshots?|screenshots|goldens?|cassettes|baselines?"
    r"|expected|approvals?|doctests?)(?:$|[._-])",
    re.IGNORECASE,
)
"""Name of a directory with tests or expected results."""
_CAMEL_CASE_TESTS = re.compile(r"[a-z0-9](?:Tests?|Specs?|TestCase)(?:\.\w+)?$")
_SOURCE_FOLDERS = frozenset({"lib", "src"})
CACHES = frozenset({".cache", ".git", ".hg", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"})
"""Cache directories of programs. The check doesn't use compiled files in these directories."""
ENVIRONMENT_FOLDERS = frozenset({".nox", ".tox", ".venv", "env", "node_modules", "site-packages", "venv"})
"""Directories with installed packages, which checkpoints usually don't cover."""
_TESTS = (
    "*-spec.*", "*-test.*", "*.ambr", "*.approved.*", "*.baseline", "*.bats", "*.cy.*", "*.e2e*", "*.expect",
    "*.expected", "*.feature", "*.gold", "*.golden", "*.robot", "*.snap", "*.snapshot", "*.spec", "*.spec.*",
    "*.test", "*.test.*", "*_spec.*", "*_test.*", "*_tests.*", "run-tests*", "run_tests*", "runtests*",
    "spec.*", "specs.*", "test*.py", "test-*", "test.*", "test_*", "tests.*",
)  # fmt: skip
"""Names of tests, in lower case."""
_SETTINGS = (
    "*.egg-link", "*.mk", "*.pth", ".babelrc*", ".bazelrc", ".bunfig.toml", ".clang-tidy", ".coveragerc",
    ".env*", ".eslint*", ".flake8", ".gitattributes", ".gitlab-ci.yml", ".golangci.*", ".mocharc*",
    ".mypy.ini", ".npmrc", ".nycrc*", ".pre-commit-config.yaml", ".pylintrc*", ".pytest.ini", ".pytest.toml",
    ".python-version", ".rspec", ".rubocop*", ".ruff.toml", ".testcaferc*", ".tool-versions", ".travis.yml",
    ".yarnrc*", "appveyor.yml", "ava.config.*", "azure-pipelines.yml", "babel.config.*", "biome.json*",
    "build.gradle*", "build.rs", "build.sbt", "build.xml", "build.zig", "bunfig.toml", "cargo.lock",
    "cargo.toml", "clippy.toml", "cmakelists.txt", "codecov.yml", "compose*.y*ml", "composer.json",
    "conftest.py", "ctest*", "cypress.config.*", "deno.json*", "docker-compose*", "dockerfile*",
    "entry_points.txt", "eslint.config.*", "gemfile*", "gnumakefile", "go.mod", "go.sum", "go.work",
    "gradle.properties", "gradlew*", "jenkinsfile", "jest.config.*", "jest.setup.*", "justfile",
    "karma.conf*",
    "makefile*", "meson.build", "mix.exs", "mvnw*", "mypy.ini", "nose.cfg", "noxfile.py", "nx.json",
    "package-lock.json", "package.json", "phpstan.neon*", "phpunit.xml*", "pipfile*", "playwright.config.*",
    "pnpm-*.yaml", "poetry.lock", "pom.xml", "pylintrc", "pyproject.toml", "pyrightconfig.json", "pytest.ini",
    "pytest.toml", "rakefile", "requirements*.txt", "ruff.toml", "rustfmt.toml", "setup.cfg", "setup.py",
    "sitecustomize.*", "taskfile.*", "tox.ini", "tox.toml", "tsconfig*.json", "turbo.json", "unittest.cfg",
    "usercustomize.*", "uv.lock", "uv.toml", "vite.config.*", "vitest.*", "wscript", "yarn.lock",
)  # fmt: skip
"""Names of settings and build files, in lower case."""
_STARTUP_MODULES = frozenset({"sitecustomize", "usercustomize"})
RUNNERS = frozenset(
    {
        "_pytest", "ava", "bash", "bun", "bundle", "cargo", "coverage", "ctest", "deno", "dotnet", "env",
        "go", "gradle", "grep", "jest", "just", "make", "mocha", "mvn", "mypy", "node", "nose", "nox", "npm",
        "npx", "phpunit", "pip", "playwright", "pluggy", "pnpm", "poetry", "pytest", "pytest_cov", "python",
        "python3", "rspec", "ruff", "sh", "tox", "unittest", "uv", "vitest", "yarn",
    }
)  # fmt: skip
"""Programs and modules that run tests. A file with such a name may shadow one of them."""


class ProtectedFiles:
    """Decides which paths are protected for one check. Paths are relative to the working directory.

    `paths` are the files at the start. `installed` are the installed top-level modules.
    """

    def __init__(self, check: str, *, paths: Collection[str] = (), installed: Collection[str] = ()) -> None:
        named = NamedPaths(check)
        self.outside: Collection[str] = named.outside
        self._named = frozenset(named.inside)
        self._test_folders = tuple(f"{name}/" for name in self._named if _has_mostly_tests(name, paths))
        self._roots = [PurePosixPath(folder).parts for folder in named.folders]
        own = {self._shadowed_module(path.lower().split("/")) for path in paths}
        self._modules = RUNNERS | sys.stdlib_module_names | (frozenset(installed) - own)
        self.programs: Collection[str] = RUNNERS | {name.rpartition("/")[2] for name in self._named}
        """Names of the programs that the check may start."""

    def is_protected(self, path: str) -> bool:
        """Return whether the file or directory at `path` is a test, or decides how tests run."""
        path = path.rstrip("/")
        names = path.split("/")
        parts = [name.lower() for name in names]
        return not is_cache(path) and (
            not _FOLDERS.isdisjoint(parts)
            or any(_CAMEL_CASE_TESTS.search(name) for name in names)
            or any(_TEST_FOLDER.search(name) for name in names[:-1])
            or _TEST_FOLDER.fullmatch(names[-1]) is not None
            or _is_test_name(parts[-1])
            or is_settings_file(path)
            or path in self._named
            or path.startswith(self._test_folders)
            or parts[-1] in RUNNERS
            or not _STARTUP_MODULES.isdisjoint(parts)
            or self._shadowed_module(parts) in self._modules
        )

    def _shadowed_module(self, parts: Sequence[str]) -> str:
        """Return the name of the module that a path defines for programs started in the working directory."""
        for root in self._roots:
            if root and tuple(parts[: len(root)]) == root:
                parts = parts[len(root) :]
                break
        within = parts[1:] if len(parts) > 1 and parts[0] in _SOURCE_FOLDERS else parts
        return within[0].partition(".")[0] if within else ""


def is_settings_file(path: str) -> bool:
    """Return whether a file has the name of a settings or build file."""
    return _is_settings_name(path.rpartition("/")[2].lower())


def is_cache(path: str) -> bool:
    """Return whether a path is a cache directory or in one."""
    return not CACHES.isdisjoint(path.rstrip("/").split("/"))


def _has_mostly_tests(folder: str, paths: Iterable[str]) -> bool:
    """Return whether at least half of the files below a directory have names of tests."""
    below = [path for path in paths if path.startswith(f"{folder}/")]
    tests = [path for path in below if _is_test_name(path.rpartition("/")[2].lower())]
    return bool(tests) and 2 * len(tests) >= len(below)


def _is_test_name(name: str) -> bool:
    return _pattern_of(_TESTS).match(name) is not None


def _is_settings_name(name: str) -> bool:
    return _pattern_of(_SETTINGS).match(name) is not None


@cache
def _pattern_of(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for `globs`. Compiling it would delay the start of each session."""
    return re.compile("|".join(map(fnmatch.translate, globs)))

"""Which files decide whether a check passes: tests, their configuration, and what runs them."""

import fnmatch
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Sequence

_FOLDERS = frozenset(
    {
        "__mocks__", "__snapshots__", "__tests__", ".buildkite", ".cargo", ".circleci", ".config", ".github",
        ".gitlab", ".husky", ".mvn", ".nox", ".tox", ".venv", "bin", "ci", "cypress", "e2e", "env",
        "features", "fixtures", "golden", "node_modules", "scripts", "site-packages", "snapshots", "spec",
        "specs", "test", "test_data", "testdata", "testing", "tests", "venv",
    }
)  # fmt: skip
"""Directories with tests, or with programs and settings that run them."""
_SOURCE_FOLDERS = frozenset({"lib", "src"})
CACHES = frozenset({".cache", ".git", ".hg", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"})
"""Directories that programs write to by themselves. The check doesn't use the compiled files in them."""
ENVIRONMENT_FOLDERS = frozenset({".nox", ".tox", ".venv", "env", "node_modules", "site-packages", "venv"})
"""Directories with installed packages, which checkpoints usually don't cover."""
_PATTERNS = (
    "*.egg-link", "*.feature", "*.golden", "*.mk", "*.pth", "*.snap", "*.spec.*", "*.test.*", "*_spec.*",
    "*_test.*", "*_tests.*", "*test.java", "*test.kt", "*tests.cs", "*test.php", "*test.swift",
    ".babelrc*", ".coveragerc", ".env*", ".gitattributes", ".gitlab-ci.yml", ".mocharc*", ".npmrc",
    ".nycrc*", ".pre-commit-config.yaml", ".pytest.ini", ".python-version", ".rspec", ".testcaferc*",
    ".tool-versions", ".travis.yml", ".yarnrc*", "appveyor.yml", "ava.config.*", "azure-pipelines.yml",
    "babel.config.*", "build.gradle*", "build.rs", "build.sbt", "build.xml", "build.zig", "cargo.lock",
    "cargo.toml", "cmakelists.txt", "codecov.yml", "compose*.y*ml", "composer.json", "conftest.py",
    "ctest*", "cypress.config.*", "deno.json*", "docker-compose*", "dockerfile*", "entry_points.txt",
    "gemfile*", "gnumakefile", "go.mod", "go.sum", "go.work", "gradlew*", "jenkinsfile", "jest.config.*",
    "jest.setup.*", "justfile", "karma.conf*", "makefile*", "meson.build", "mix.exs", "mvnw*", "nose.cfg",
    "noxfile.py", "nx.json", "package-lock.json", "package.json", "phpunit.xml*", "pipfile*",
    "playwright.config.*", "pnpm-*.yaml", "poetry.lock", "pom.xml", "pyproject.toml", "pytest.ini",
    "pytest.toml", "rakefile", "requirements*.txt", "run_tests*", "run-tests*", "runtests*", "setup.cfg",
    "setup.py", "sitecustomize.py", "taskfile.*", "test_*", "test-*", "tests.*", "tox.ini", "tox.toml",
    "tsconfig*.json", "turbo.json", "unittest.cfg", "usercustomize.py", "uv.lock", "uv.toml",
    "vite.config.*", "vitest.*", "wscript", "yarn.lock",
)  # fmt: skip
"""Names of files, in lower case."""
RUNNERS = frozenset(
    {
        "_pytest", "ava", "bash", "bun", "bundle", "cargo", "coverage", "ctest", "deno", "dotnet", "env",
        "go", "gradle", "grep", "jest", "just", "make", "mocha", "mvn", "mypy", "node", "nose", "nox", "npm",
        "npx", "phpunit", "pip", "playwright", "pluggy", "pnpm", "poetry", "pytest", "pytest_cov", "python",
        "python3", "rspec", "ruff", "sh", "tox", "unittest", "uv", "vitest", "yarn",
    }
)  # fmt: skip
"""Programs and modules that run tests. A file with such a name may take their place."""
_SUSPICIOUS = re.compile(
    r"pytest|unittest|skiptest|importorskip|\bjest\b|vitest|\bmocha\b|coverage|"
    r"sys\.exit|os\._exit|os\.kill|os\.abort|systemexit|atexit|process\.exit|\bexit\s*\(\s*0?\s*\)|quit\s*\(|"
    r"sys\.modules|sys\.meta_path|sys\.path_hooks|sys\.argv|sys\.gettrace|sys\.settrace|setprofile|"
    r"_getframe|inspect\.stack|traceback\.|builtins|__import__|importlib|monkeypatch|__eq__|__bool__|"
    r"node_env|process\.argv|process\.env|require\.cache|\bcfg\(\s*test|testing\.|runtime\.caller|"
    r"excepthook|assertionerror|-o\b.*optimize|pythonoptimize|__debug__",
    re.IGNORECASE,
)


class ProtectedFiles:
    """Decides for one check which paths are protected. Paths are relative to the working directory."""

    def __init__(self, check: str) -> None:
        self._named = frozenset(_names_in(check))
        self.programs: Collection[str] = RUNNERS | {name.rpartition("/")[2] for name in self._named}
        """Names of the programs that the check may start."""

    def is_protected(self, path: str) -> bool:
        """Return whether the file or directory at `path` is a test, or decides how tests run."""
        parts = [part.lower() for part in path.rstrip("/").split("/")]
        name = parts[-1]
        return not is_cache(path) and (
            not _FOLDERS.isdisjoint(parts)
            or any(fnmatch.fnmatchcase(name, pattern) for pattern in _PATTERNS)
            or any(path == named or path.startswith(f"{named}/") for named in self._named)
            or name in RUNNERS
            or _shadowed_module(parts) in RUNNERS | sys.stdlib_module_names
        )


def is_cache(path: str) -> bool:
    """Return whether a path is in a directory that programs write to by themselves, or is one."""
    return not CACHES.isdisjoint(path.rstrip("/").split("/"))


def _shadowed_module(parts: Sequence[str]) -> str:
    """Return the name of the module that a path defines for programs started in the working directory."""
    within = parts[1:] if parts[0] in _SOURCE_FOLDERS and len(parts) > 1 else parts
    return within[0].partition(".")[0]


def suspicious_lines(added: Iterable[str]) -> list[str]:
    """Return the added lines of other files that mention what runs tests, or that can end a run early."""
    return [line for line in added if _SUSPICIOUS.search(line)]


def _names_in(check: str) -> Sequence[str]:
    """Return the words of a command that may be paths, also those inside of quotes."""
    try:
        words = shlex.split(check)
    except ValueError:
        words = check.split()
    parts = [part for word in words for part in re.split(r"[\s;&|()<>=\"'`$]+", word)]
    names = [part.partition("::")[0].removeprefix("./").rstrip("/") for part in parts]
    return [name for name in names if name and name != "." and not name.startswith("-")]

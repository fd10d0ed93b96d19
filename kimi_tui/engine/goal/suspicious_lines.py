"""Lines of code that mention a test runner, or that can end a run early."""

import re
import unicodedata
from collections.abc import Iterable

_SUSPICIOUS = re.compile(
    r"pytest|unittest|skiptest|importorskip|\bjest\b|vitest|\bmocha\b|\bchai\b|coverage|"
    # the end of the process
    r"os\._exit|\b_exit\b|os\.(?:kill|abort|exec|posix_spawn)|\bexec(?:v|l|ve|vp|lp|vpe|le|lpe)\s*\(|"
    r"systemexit|sys\.exit|atexit|process\.(?:exit|reallyexit|abort|kill)|\bexit\s*\(|quit\s*\(|"
    # the interpreter, the stack, and other modules' objects
    r"sys\.(?:modules|meta_path|path_hooks|argv|gettrace|settrace|orig_argv|flags)|setprofile|"
    r"_getframe|_current_frames|inspect\.|traceback\.|builtins|__import__|importlib|monkeypatch|"
    r"\bgc\.|__code__|__globals__|__subclasses__|__eq__|__ne__|__bool__|__contains__|__instancecheck__|"
    r"import\s+__main__|getattr\(\s*(?:os|sys|signal|ctypes|posix)\b|\bctypes\b|\bfrida\b|"
    r"excepthook|assertionerror|-o\b.*optimize|pythonoptimize|__debug__|/proc/|\bpsutil\b|"
    # code that can't be read
    r"(?<![.\w])(?:eval|exec)\s*\(|new\s+function\s*\(|coding[:=]\s*(?!utf-?8\b|ascii\b)[\w-]+|"
    # other languages
    r"node_env|process\.(?:argv|env)|require\.cache|globalthis|\bglobal\.\w+\s*=|"
    r"(?:require\(|from\s|import\s)\s*['\"](?:node:)?(?:assert|test|vm)\b|"
    r"\b(?:object|array|string|function|error|map|set|json|math|date|promise)\.(?:prototype\.)?\w+\s*=(?!=)|"
    r"\bcfg(?:_attr)?!?\(.*\btest\b|testing\.|runtime\.caller|syscall\.exit|go:build|"
    # exclusion from coverage
    r"no\s*cover|(?:istanbul|c8|v8)\s+ignore",
    re.IGNORECASE,
)
_IGNORED_WARNING = re.compile(
    r"noqa|type:\s*ignore|(?:pyright|mypy|ruff|ty):\s*ignore|pylint:\s*disable|eslint-disable|"
    r"@ts-(?:ignore|nocheck|expect-error)|biome-ignore|nolint|#!?\[allow\(|rubocop:disable|"
    r"@suppresswarnings|shellcheck\s+disable|phpstan-ignore|nosec",
    re.IGNORECASE,
)
_LINTER = re.compile(
    r"\b(?:ruff|flake8|pylint|mypy|pyright|ty|tsc|eslint|biome|clippy|golangci-lint|rubocop|phpstan|shellcheck|"
    r"lint|check|make|just|tox|nox|pre-commit|npm|pnpm|yarn|bun)\b"
)
"""Programs that report warnings, or may run one that does."""


class SuspiciousLines:
    """Finds suspicious lines for one check."""

    def __init__(self, check: str) -> None:
        self._has_linter = _LINTER.search(check) is not None

    def find(self, added: Iterable[str]) -> list[str]:
        """Return the suspicious lines among `added`."""
        return [line for line in added if self._is_suspicious(unicodedata.normalize("NFKC", line))]

    def _is_suspicious(self, line: str) -> bool:
        if _SUSPICIOUS.search(line):
            return True
        return self._has_linter and _IGNORED_WARNING.search(line) is not None

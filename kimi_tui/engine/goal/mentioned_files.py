"""Search for data files and scripts that tests, settings and build files mention by name."""

import re
from collections.abc import Mapping

from kimi_tui.engine.goal.protected_files import ENVIRONMENT_FOLDERS, ProtectedFiles, is_settings_file
from kimi_tui.history.snapshots.blob_store import BlobMissing, BlobStore
from kimi_tui.history.snapshots.entry import Entry

_DATA = frozenset(
    {
        "ambr", "bin", "csv", "dat", "db", "expected", "jsonl", "log", "out", "parquet", "snap", "sqlite",
        "tsv",
    }
)  # fmt: skip
_DATA_OR_SOURCES = frozenset(
    {"cfg", "html", "ini", "json", "md", "properties", "sql", "svg", "toml", "txt", "xml", "yaml", "yml"}
)
"""Extensions of data files or of code under test. They count only if the path looks like expected results."""
_EXPECTED = re.compile(
    r"answer|approved|baseline|case|correct|data|expect|fixture|golden|output|reference|result|sample|snap"
)
_SCRIPTS = frozenset(("awk", "bash", "bat", "cmd", "fish", "inc", "ksh", "mk", "ps1", "sed", "sh", "zsh"))
_CODE = frozenset(("cjs", "js", "mjs", "php", "pl", "py", "rb", "ts"))
"""Extensions, without the dot."""
_MAX_BYTES = 1_000_000
_APP = re.compile(rb'[\s"]*(?:start|dev|serve|run|watch|preview|build)(?:$|[\s":])')
"""A key or target that runs the program itself."""


class MentionedFiles:
    """Searches protected files and scripts, as they were at the start, for the names of other files."""

    def __init__(self, at_start: Mapping[str, Entry], blobs: BlobStore, protected: ProtectedFiles) -> None:
        self._at_start = at_start
        self._blobs = blobs
        self._protected = protected
        self._texts: dict[str, bytes] | None = None
        """Contents of the protected files and scripts, read on demand."""

    def is_mentioned(self, path: str) -> bool:
        """Return whether a test reads the file at `path`, or settings or a script run the file."""
        name = path.rpartition("/")[2]
        extension = name.rpartition(".")[2].lower()
        if path not in self._at_start:
            return False
        is_script = _is_script(path)
        if is_script or _is_data(path, extension):
            pattern = re.compile(rb"(?<![\w.-])" + re.escape(name.encode()) + rb"(?![\w-])")
            return any(
                pattern.search(text)
                for other, text in self._read().items()
                if other != path and (not is_script or _is_runner(other))
            )
        return extension in _CODE and any(
            _runs_code(path, text)
            for other, text in self._read().items()
            if other != path and _is_runner(other)
        )

    def has_word(self, word: bytes) -> bool:
        """Return whether a protected file or script contains `word`."""
        return any(word in text for text in self._read().values())

    def _read(self) -> Mapping[str, bytes]:
        if self._texts is None:
            self._texts = {
                path: content
                for path, entry in self._at_start.items()
                if (self._protected.is_protected(path) or _is_script(path))
                and ENVIRONMENT_FOLDERS.isdisjoint(path.split("/"))
                and (content := self._content_of(entry)) is not None
            }
        return self._texts

    def _content_of(self, entry: Entry) -> bytes | None:
        if entry.kind != "file" or entry.size > _MAX_BYTES:
            return None
        try:
            return self._blobs.read(entry.ref)
        except BlobMissing:
            return None


def _is_data(path: str, extension: str) -> bool:
    is_like_results = _EXPECTED.search(path.lower()) is not None
    return extension in _DATA or (extension in _DATA_OR_SOURCES and is_like_results)


def _is_script(path: str) -> bool:
    name = path.rpartition("/")[2]
    return "." not in name or name.rpartition(".")[2].lower() in _SCRIPTS


def _is_runner(path: str) -> bool:
    """Return whether a file may define how a check runs: settings, build files and scripts."""
    return (
        is_settings_file(path) or _is_script(path) or path.startswith((".github/", ".gitlab", ".circleci/"))
    )


def _runs_code(path: str, text: bytes) -> bool:
    """Return whether `text` runs the code at `path` with an interpreter, or loads the code as a plugin."""
    module = re.escape(path.rpartition(".")[0].replace("/", ".").encode())
    name = re.escape(path.encode())
    pattern = re.compile(
        rb"\b(?:python3?|node|ruby|perl|php|deno|bun|tsx|ts-node)\s+(?:-\S+\s+)*(?:\./)?"
        + name
        + rb"(?![\w.-])"
        rb"|(?:-[pm]\b|plugins?\b|require\b|setup\w*\b|runner\b)[\s\"'\[(=:,]+(?:\./)?(?:"
        + module
        + rb"|"
        + name
        + rb")(?![\w-])"
    )
    target = b""
    for line in text.splitlines():
        if line[:1].strip() or line.lstrip().startswith(b'"'):
            target = line
        if pattern.search(line) and not _APP.match(target):
            return True
    return False

"""Search program in Python, used if ripgrep is missing or doesn't support the pattern.

Runs as a separate process, because a pattern can keep Python busy forever. Takes a `query.Query` as JSON and
prints what ripgrep prints for `programs.build_ripgrep_command`.
"""

import errno
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from kimi_tui.base.no_follow import open_no_follow
from kimi_tui.tools.search.file_walk import DirectoryWalk, FoundFile
from kimi_tui.tools.search.glob_pattern import InvalidPattern, compile_glob
from kimi_tui.tools.search.query import MAX_COLUMNS, Query

_MAX_FILE_BYTES = 64 << 20
_SNIFF_BYTES = 8192
_TYPES = {
    "c": "*.[ch]",
    "cpp": "*.{cpp,cc,cxx,hpp,hh,hxx,h,inl}",
    "cs": "*.cs",
    "csharp": "*.cs",
    "css": "*.{css,scss}",
    "go": "*.go",
    "html": "*.{html,htm,ejs}",
    "java": "*.{java,jsp}",
    "js": "*.{js,jsx,cjs,mjs,vue}",
    "json": "*.json",
    "kotlin": "*.{kt,kts}",
    "lua": "*.lua",
    "markdown": "*.{md,markdown,mdx}",
    "md": "*.{md,markdown,mdx}",
    "php": "*.php",
    "py": "*.{py,pyi}",
    "python": "*.{py,pyi}",
    "rb": "*.{rb,gemspec,rake}",
    "ruby": "*.{rb,gemspec,rake}",
    "rs": "*.rs",
    "rust": "*.rs",
    "sh": "*.{sh,bash,zsh,ksh}",
    "sql": "*.{sql,psql}",
    "swift": "*.swift",
    "toml": "*.toml",
    "ts": "*.{ts,tsx,cts,mts}",
    "typescript": "*.{ts,tsx,cts,mts}",
    "txt": "*.txt",
    "xml": "*.{xml,xsd,xsl,xslt,svg}",
    "yaml": "*.{yaml,yml}",
}


class InvalidQuery(Exception):
    """Raised for an invalid query. The message says why."""


def main(arguments: list[str]) -> int:
    """Run the query. Return 0 if there were matches, 1 if not, 2 for an invalid query."""
    values = json.loads(arguments[0])
    query = Query(**{**values, "globs": tuple(values["globs"])})
    try:
        search = PythonSearch(query, sys.stdout.buffer)
    except InvalidQuery as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    return search.run()


class PythonSearch:
    """A single search."""

    def __init__(self, query: Query, output: BinaryIO) -> None:
        self._query = query
        self._output = output
        self._regex = _compile_pattern(query)
        self._included, self._excluded = _compile_globs(query)

    def run(self) -> int:
        """Print the matches and return the exit status."""
        status = 1
        for path, name in self._iter_files():
            try:
                if self._print_matches(path, name):
                    status = min(status, 0)
            except OSError as error:
                message = f"{name}: {error.strerror} (os error {error.errno})"
                print(message.encode("utf-8", "replace").decode(), file=sys.stderr)  # noqa: T201
        self._output.flush()
        return status

    def _iter_files(self) -> Iterator[tuple[str, str]]:
        """Yield the path and relative path of each file to search. The path is empty for standard input."""
        if self._query.file:
            yield "", self._query.file
            return
        for found in DirectoryWalk(Path(self._query.root + self._query.folder), seconds=float("inf")):
            if found.is_regular and self._is_included(found):
                yield found.path, found.relative

    def _is_included(self, found: FoundFile) -> bool:
        name = found.relative.lower() if self._query.mode == "files" else found.relative
        if any(regex.match(name) for regex in self._excluded):
            return False
        if self._included:
            return any(regex.match(name) for regex in self._included)
        return not found.is_ignored

    def _print_matches(self, path: str, name: str) -> bool:
        """Print the matches of a file. Return whether there are any."""
        encoded = os.fsencode(f".{os.sep}{name}") + b"\0"
        if self._query.mode == "files":
            self._output.write(encoded)
            return True
        text = _read_text(path)
        if text is None:
            return False
        spans = [match.span() for match in self._find_matches(text)]
        match self._query.mode:
            case _ if not spans:
                return False
            case "files_with_matches":
                self._output.write(encoded)
            case "count":
                self._output.write(encoded + b"%d\n" % len(spans))
            case "content":
                self._print_lines(encoded, text, spans)
        return True

    def _find_matches(self, text: str) -> Iterator[re.Match[str]]:
        if self._query.is_multiline:
            yield from self._regex.finditer(text)
            return
        at = 0
        for line in text.split("\n"):
            end = at + len(line) - line.endswith("\r")
            if first := self._regex.search(text, at, end):
                yield from self._regex.finditer(text, at, end) if self._query.mode == "count" else (first,)
            at += len(line) + 1

    def _print_lines(self, name: bytes, text: str, spans: list[tuple[int, int]]) -> None:
        lines = text.split("\n")
        matched: set[int] = set()
        at = number = 0
        for start, end in spans:
            number += text.count("\n", at, start)
            at = start
            matched.update(range(number, number + text.count("\n", start, max(start, end - 1)) + 1))
        printed = {
            index
            for number in matched
            for index in range(number - self._query.before, number + self._query.after + 1)
            if 0 <= index < len(lines) - (lines[-1] == "")
        }
        for number in sorted(printed):
            line, kind = lines[number], b":" if number in matched else b"-"
            if len(line) > MAX_COLUMNS:
                line = f"{line[:MAX_COLUMNS]} [... omitted end of long line]"
            self._output.write(
                b"%s%d%s%s\n" % (name, number + 1, kind, line.encode("utf-8", "surrogateescape"))
            )


def _compile_pattern(query: Query) -> re.Pattern[str]:
    flags = (
        re.MULTILINE | (re.IGNORECASE if query.ignores_case else 0) | (re.DOTALL if query.is_multiline else 0)
    )
    try:
        return re.compile(query.pattern, flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidQuery(f"regex parse error: {error}") from error


def _compile_globs(query: Query) -> tuple[list[re.Pattern[str]], list[re.Pattern[str]]]:
    """Return the patterns that files must match, and those that they must not match."""
    included = [glob for glob in query.globs if not glob.startswith("!")]
    excluded = [glob[1:] for glob in query.globs if glob.startswith("!")]
    if query.file_type:
        if query.file_type not in _TYPES:
            raise InvalidQuery(f"unrecognized file type: {query.file_type}; known types: {', '.join(_TYPES)}")
        included.append(_TYPES[query.file_type])
    try:
        return [_compile_glob(glob) for glob in included], [_compile_glob(glob) for glob in excluded]
    except InvalidPattern as error:
        raise InvalidQuery(f"error parsing glob: {error}") from error


def _compile_glob(glob: str) -> re.Pattern[str]:
    """Compile a pattern as in an ignore file: without a slash it matches names at any depth."""
    bare = glob.strip("/")
    return compile_glob(bare if "/" in glob.rstrip("/") else f"**/{bare}")


def _read_text(path: str) -> str | None:
    """Return a file's text, or None if it is binary. Raises OSError, also if it is too large."""
    with os.fdopen(open_no_follow(Path(path), os.O_RDONLY) if path else sys.stdin.fileno(), "rb") as file:
        head = file.read(_SNIFF_BYTES)
        is_wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
        if b"\0" in head and not is_wide:
            return None
        if os.fstat(file.fileno()).st_size > _MAX_FILE_BYTES:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        data = head + file.read()
    return data.decode("utf-16", "replace") if is_wide else data.decode("utf-8", "surrogateescape")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

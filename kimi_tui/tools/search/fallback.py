"""Our own search program, for where ripgrep is missing or its patterns don't suffice.

It runs as a process of its own, since a pattern can keep Python busy for ever. It is given a `query.Query`
as JSON and prints what ripgrep would print for `engine.ripgrep_command`.
"""

import errno
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from kimi_tui.base.resolved_path import open_resolved
from kimi_tui.tools.search.pattern import BadPattern, glob_regex
from kimi_tui.tools.search.query import MAX_COLUMNS, Query
from kimi_tui.tools.search.walk import Found, Walk

_MAX_FILE_BYTES = 64 << 20
_SNIFFED = 8192
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


class BadQuery(Exception):
    """The query can't be answered; the text says why."""


def main(arguments: list[str]) -> int:
    """Answer the query. 0: something was found, 1: nothing was, 2: there was an error."""
    values = json.loads(arguments[0])
    query = Query(**{**values, "globs": tuple(values["globs"])})
    try:
        search = Search(query, sys.stdout.buffer)
    except BadQuery as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    return search.run()


class Search:
    """One search."""

    def __init__(self, query: Query, output: BinaryIO) -> None:
        self._query = query
        self._output = output
        self._regex = _compiled(query)
        self._wanted, self._unwanted = _globs(query)

    def run(self) -> int:
        """Print what is found. The exit status."""
        status = 1
        for path, name in self._files():
            try:
                if self._report(path, name):
                    status = min(status, 0)
            except OSError as error:
                message = f"{name}: {error.strerror} (os error {error.errno})"
                print(message.encode("utf-8", "replace").decode(), file=sys.stderr)  # noqa: T201
        self._output.flush()
        return status

    def _files(self) -> Iterator[tuple[str, str]]:
        """Path and relative path of each file to look at; no path for what comes in as input."""
        if self._query.file:
            yield "", self._query.file
            return
        for found in Walk(Path(self._query.folder), seconds=float("inf")):
            if found.is_regular and self._is_wanted(found):
                yield found.path, found.relative

    def _is_wanted(self, found: Found) -> bool:
        name = found.relative.lower() if self._query.mode == "files" else found.relative
        if any(regex.match(name) for regex in self._unwanted):
            return False
        if self._wanted:
            return any(regex.match(name) for regex in self._wanted)
        return not found.is_ignored

    def _report(self, path: str, name: str) -> bool:
        """Print what there is to say of a file. Whether there was anything."""
        encoded = os.fsencode(f".{os.sep}{name}") + b"\0"
        if self._query.mode == "files":
            self._output.write(encoded)
            return True
        text = _text(path)
        if text is None:
            return False
        spans = [match.span() for match in self._matches(text)]
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

    def _matches(self, text: str) -> Iterator[re.Match[str]]:
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
        shown = {
            near
            for number in matched
            for near in range(number - self._query.before, number + self._query.after + 1)
            if 0 <= near < len(lines) - (lines[-1] == "")
        }
        for number in sorted(shown):
            line, kind = lines[number], b":" if number in matched else b"-"
            if len(line) > MAX_COLUMNS:
                line = f"{line[:MAX_COLUMNS]} [... omitted end of long line]"
            self._output.write(
                b"%s%d%s%s\n" % (name, number + 1, kind, line.encode("utf-8", "surrogateescape"))
            )


def _compiled(query: Query) -> re.Pattern[str]:
    flags = (
        re.MULTILINE | (re.IGNORECASE if query.ignores_case else 0) | (re.DOTALL if query.is_multiline else 0)
    )
    try:
        return re.compile(query.pattern, flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadQuery(f"regex parse error: {error}") from error


def _globs(query: Query) -> tuple[list[re.Pattern[str]], list[re.Pattern[str]]]:
    """What files must match, and what they must not."""
    wanted = [glob for glob in query.globs if not glob.startswith("!")]
    unwanted = [glob[1:] for glob in query.globs if glob.startswith("!")]
    if query.file_type:
        if query.file_type not in _TYPES:
            raise BadQuery(f"unrecognized file type: {query.file_type}; known are {', '.join(_TYPES)}")
        wanted.append(_TYPES[query.file_type])
    try:
        return [_anywhere(glob) for glob in wanted], [_anywhere(glob) for glob in unwanted]
    except BadPattern as error:
        raise BadQuery(f"error parsing glob: {error}") from error


def _anywhere(glob: str) -> re.Pattern[str]:
    """As in an ignore file: without a slash a glob is about names at any depth."""
    bare = glob.strip("/")
    return glob_regex(bare if "/" in glob.rstrip("/") else f"**/{bare}")


def _text(path: str) -> str | None:
    """The text of a file; None when there is none in it. Raises OSError for a file too large, too."""
    with os.fdopen(open_resolved(Path(path), os.O_RDONLY) if path else sys.stdin.fileno(), "rb") as file:
        head = file.read(_SNIFFED)
        is_wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
        if b"\0" in head and not is_wide:
            return None
        if os.fstat(file.fileno()).st_size > _MAX_FILE_BYTES:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        data = head + file.read()
    return data.decode("utf-16", "replace") if is_wide else data.decode("utf-8", "surrogateescape")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

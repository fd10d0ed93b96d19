r"""Parser for the requests that the demo model understands.

::

    read FILE [FILE ...]             edit FILE: OLD -> NEW            write FILE: TEXT
    run COMMAND                      search PATTERN [in PATH]         list [FOLDER]
    todo A; B; C                     think THOUGHT                    ask QUESTION? [A; B]

`then` joins several actions. It only counts if one of these verbs follows it. Quotes protect `then` and `->`.
Around a file, pattern, OLD, NEW or TEXT, quotes are stripped, and inside double quotes `\n` is a line break.
Todo items take marks: `[x] done; [>] in progress; pending`. The verbs have Chinese names too (读, 改, 写,
运行, 搜索, 列出, 待办, 想, 问), joined by 然后.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Literal

from kimi_tui.base.frozen import frozen

TodoMark = Literal["pending", "in_progress", "done"]


@frozen
class DemoRead:
    """Read files."""

    paths: tuple[str, ...]


@frozen
class DemoEdit:
    """Replace the single occurrence of `old` in the file."""

    path: str
    old: str
    new: str


@frozen
class DemoWrite:
    """Write a whole file."""

    path: str
    text: str


@frozen
class DemoRun:
    """Run a shell command."""

    command: str


@frozen
class DemoSearch:
    """Search files for a regular expression."""

    pattern: str
    path: str | None = None


@frozen
class DemoListDirectory:
    """List a directory."""

    path: str = "."


@frozen
class DemoTodo:
    """Set the todo list."""

    items: tuple[tuple[str, TodoMark], ...]


@frozen
class DemoThink:
    """Think aloud."""

    thought: str


@frozen
class DemoAsk:
    """Ask the user. `options` is empty if the request has none."""

    question: str
    options: tuple[str, ...] = ()


DemoAction = (
    DemoRead
    | DemoEdit
    | DemoWrite
    | DemoRun
    | DemoSearch
    | DemoListDirectory
    | DemoTodo
    | DemoThink
    | DemoAsk
)


@frozen
class DemoRequestPart:
    """One action of a request."""

    text: str
    """The action as the user wrote it."""
    action: DemoAction


def parse_request(text: str) -> tuple[DemoRequestPart, ...]:
    """Return the parts of a request; empty if the request doesn't match the grammar."""
    text = _PLEASE.sub("", text.strip())
    if not _VERB.match(text):
        return ()
    parts = [_parse_part(piece) for piece in _split(text)]
    parsed = tuple(part for part in parts if part is not None)
    return parsed if len(parsed) == len(parts) else ()


_PLEASE = re.compile(r"^(?:please\s+|请\s*)", re.IGNORECASE)
_THEN = re.compile(r"(?<=\s)then(?=\s)|然后", re.IGNORECASE)
_QUOTED = re.compile(r"""(?<![^\s:=(,;：])(?:"(?:\\.|[^"\\])*"|'[^'\n]*')(?=$|[\s,;:)。，；：])""", re.DOTALL)
_VERBS = {
    "读": "read", "读取": "read", "改": "edit", "编辑": "edit", "写": "write", "写入": "write", "运行": "run",
    "搜索": "search", "列出": "list", "待办": "todo", "想": "think", "问": "ask",
}  # fmt: skip
_VERB = re.compile(
    rf"(?P<verb>read|edit|write|run|search|list|todo|think|ask|{'|'.join(_VERBS)})(?=$|[\s:：])",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"""(?P<path>"[^"\n]+"|'[^'\n]+'|(?:[a-z]:[\\/])?[^\s:：'"]+)\s*(?::(?:[ \t]*\n|\s+|$)|：[ \t]*\n?)""",
    re.IGNORECASE,
)
_ARROW = re.compile(r"(?<!\S)(?:->|→)(?!\S)")
_WORDS = re.compile(r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s,，、])+""")
_QUESTION = re.compile(r"^(?P<question>.+?[?？])\s*(?P<options>.*)$", re.DOTALL)
_MARK = re.compile(r"^\[(?P<mark>[ x>])\]\s*(?P<title>.*)$", re.IGNORECASE | re.DOTALL)
_MARKS: dict[str, TodoMark] = {" ": "pending", "x": "done", ">": "in_progress"}
_SEPARATORS = " \t\r\n,;，；"
_PROSE = frozenset({"the", "a", "an", "my", "our", "your", "all", "this", "that", "it", "some"})
"""Words that never start a command."""


def _split(text: str) -> list[str]:
    conjunctions = [match.span() for match in _find_outside_quotes(_THEN, text)]
    borders = [*(start for start, _ in conjunctions[1:]), len(text), len(text)]
    pieces, begin = [], 0
    for index, (start, end) in enumerate(conjunctions):
        # The next part may itself contain a `then`, so try it up to the next one and up to the one after.
        if _parse_part(text[end : borders[index]]) or _parse_part(text[end : borders[index + 1]]):
            pieces.append(_strip_conjunction(text[begin:start]))
            begin = end
    return [*pieces, text[begin:]]


def _strip_conjunction(piece: str) -> str:
    """Return `piece` without the comma and the `and` before a `then`."""
    piece = piece.rstrip(_SEPARATORS)
    return piece[:-4].rstrip(_SEPARATORS) if piece.lower().endswith((" and", "\nand")) else piece


def _find_outside_quotes(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    quotes = [quote.span() for quote in _QUOTED.finditer(text)]
    starts = [start for start, _ in quotes]
    for match in pattern.finditer(text):
        before = bisect_left(starts, match.start()) - 1
        if before < 0 or quotes[before][1] <= match.end():
            yield match


def _parse_part(text: str) -> DemoRequestPart | None:
    text = text.strip()
    match = _VERB.match(text)
    if match is None:
        return None
    verb = match["verb"].lower()
    action = _PARSERS[_VERBS.get(verb, verb)](text[match.end() :].lstrip(" \t:：").rstrip())
    return DemoRequestPart(text, action) if action is not None else None


def _parse_read(rest: str) -> DemoAction | None:
    names = [_unquote(word) for word in _WORDS.findall(rest) if word.lower() != "and"]
    if len(names) > 1 and not all(re.search(r"[./\\]", name) for name in names):
        return None  # several words must all look like file names
    names = [name.rstrip("?？。") for name in names]
    if not names or not all(names) or names[0].lower() in ("it", "this", "that"):
        return None
    return DemoRead(tuple(names))


def _parse_edit(rest: str) -> DemoAction | None:
    file = _FILE.match(rest)
    if file is None:
        return None
    change = rest[file.end() :]
    arrow = next(_find_outside_quotes(_ARROW, change), None)
    if arrow is None:
        return None
    old, new = change[: arrow.start()].strip(), change[arrow.end() :].strip()
    return DemoEdit(_unquote(file["path"]), _unquote(old), _unquote(new)) if _unquote(old) else None


def _parse_write(rest: str) -> DemoAction | None:
    file = _FILE.match(rest)
    if file is None:
        return None
    text = _unquote(rest[file.end() :])
    return DemoWrite(_unquote(file["path"]), text if text.endswith("\n") or not text else f"{text}\n")


def _parse_run(rest: str) -> DemoAction | None:
    return DemoRun(rest) if rest and rest.split()[0].lower() not in _PROSE else None


def _parse_search(rest: str) -> DemoAction | None:
    rest = re.sub(r"^for\s+", "", rest, flags=re.IGNORECASE)
    words = rest.rsplit(maxsplit=2)
    if len(words) == 3 and words[1] == "in" and not _QUOTED.fullmatch(rest):
        return DemoSearch(_unquote(words[0]), _unquote(words[2]))
    return DemoSearch(_unquote(rest)) if rest else None


def _parse_list(rest: str) -> DemoAction | None:
    words = _WORDS.findall(rest)
    return DemoListDirectory(_unquote(words[0]) if words else ".") if len(words) <= 1 else None


def _parse_todo(rest: str) -> DemoAction | None:
    titles = [title.strip() for title in re.split(r"[;；\n]", rest)]
    return DemoTodo(tuple(_parse_todo_item(title) for title in titles if title)) if any(titles) else None


def _parse_think(rest: str) -> DemoAction | None:
    return DemoThink(rest) if rest else None


def _parse_ask(rest: str) -> DemoAction | None:
    match = _QUESTION.match(rest)
    if match is None:
        return DemoAsk(rest) if rest else None
    options = (option.strip() for option in re.split(r"[;；]", match["options"]))
    return DemoAsk(match["question"], tuple(option for option in options if option))


_PARSERS: dict[str, Callable[[str], DemoAction | None]] = {
    "read": _parse_read,
    "edit": _parse_edit,
    "write": _parse_write,
    "run": _parse_run,
    "search": _parse_search,
    "list": _parse_list,
    "todo": _parse_todo,
    "think": _parse_think,
    "ask": _parse_ask,
}


def _parse_todo_item(title: str) -> tuple[str, TodoMark]:
    match = _MARK.match(title)
    return (match["title"], _MARKS[match["mark"].lower()]) if match else (title, "pending")


def _unquote(text: str) -> str:
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"":
        return text
    if text[0] == '"':
        try:
            return str(json.loads(text, strict=False))
        except ValueError:
            pass
    return text[1:-1]

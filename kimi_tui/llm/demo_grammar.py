"""The demo model's grammar: what it understands of a request.

::

    read FILE [FILE ...]             edit FILE: OLD -> NEW            write FILE: TEXT
    run COMMAND                      search PATTERN [in PATH]         list [FOLDER]
    todo A; B; C                     think THOUGHT                    ask QUESTION? [A; B]

Several are joined by `then`, which counts only where one of these follows it. Quotes protect `then` and `->`;
around a file, pattern, OLD, NEW or TEXT they are stripped, and inside double ones `\\n` is a line break.
Todos take marks: `[x] done; [>] begun; open`. The verbs have Chinese names too (读, 改, 写, 运行, 搜索, 列出,
待办, 想, 问), joined by 然后.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

TodoMark = Literal["pending", "in_progress", "done"]


@dataclass(frozen=True, slots=True)
class Read:
    """Read files."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `old`, which stands once in a file."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Write:
    """Write a whole file."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """Run a shell command."""

    command: str


@dataclass(frozen=True, slots=True)
class Search:
    """Search files for a regular expression."""

    pattern: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class ListFolder:
    """List a folder."""

    path: str = "."


@dataclass(frozen=True, slots=True)
class Todo:
    """Set the todo list."""

    items: tuple[tuple[str, TodoMark], ...]


@dataclass(frozen=True, slots=True)
class Think:
    """Think aloud."""

    thought: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the user; `options` is empty when the request names none."""

    question: str
    options: tuple[str, ...] = ()


Act = Read | Edit | Write | Run | Search | ListFolder | Todo | Think | Ask


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a request."""

    words: str
    """As the user wrote it."""
    act: Act


def parse_request(text: str) -> tuple[Part, ...]:
    """The parts of a request; none when it is not of this grammar."""
    text = _POLITE.sub("", text.strip())
    if not _VERB.match(text):
        return ()
    parts = [_part(piece) for piece in _split(text)]
    known = tuple(part for part in parts if part is not None)
    return known if len(known) == len(parts) else ()


_POLITE = re.compile(r"^(?:please\s+|请\s*)", re.IGNORECASE)
_JOINT = re.compile(r"(?<=\s)then(?=\s)|然后", re.IGNORECASE)
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
_LINKS = " \t\r\n,;，；"
_PROSE = frozenset({"the", "a", "an", "my", "our", "your", "all", "this", "that", "it", "some"})
"""Words that no command begins with."""


def _split(text: str) -> list[str]:
    joints = [joint.span() for joint in _outside_quotes(_JOINT, text)]
    borders = [*(start for start, _ in joints[1:]), len(text), len(text)]
    pieces, begin = [], 0
    for index, (start, end) in enumerate(joints):
        # the part that follows may hold a `then` of its own: it is read up to the next one, and the one after
        if _part(text[end : borders[index]]) or _part(text[end : borders[index + 1]]):
            pieces.append(_without_link(text[begin:start]))
            begin = end
    return [*pieces, text[begin:]]


def _without_link(piece: str) -> str:
    """`piece` without the comma and the `and` before a `then`."""
    piece = piece.rstrip(_LINKS)
    return piece[:-4].rstrip(_LINKS) if piece.lower().endswith((" and", "\nand")) else piece


def _outside_quotes(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    quotes = [quote.span() for quote in _QUOTED.finditer(text)]
    starts = [start for start, _ in quotes]
    for match in pattern.finditer(text):
        before = bisect_left(starts, match.start()) - 1
        if before < 0 or quotes[before][1] <= match.end():
            yield match


def _part(words: str) -> Part | None:
    words = words.strip()
    match = _VERB.match(words)
    if match is None:
        return None
    verb = match["verb"].lower()
    act = _READERS[_VERBS.get(verb, verb)](words[match.end() :].lstrip(" \t:：").rstrip())
    return Part(words, act) if act is not None else None


def _read(rest: str) -> Act | None:
    names = [_unquoted(word) for word in _WORDS.findall(rest) if word.lower() != "and"]
    if len(names) > 1 and not all(re.search(r"[./\\]", name) for name in names):
        return None  # several words are files only when they look like files
    names = [name.rstrip("?？。") for name in names]
    if not names or not all(names) or names[0].lower() in ("it", "this", "that"):
        return None
    return Read(tuple(names))


def _edit(rest: str) -> Act | None:
    file = _FILE.match(rest)
    if file is None:
        return None
    change = rest[file.end() :]
    arrow = next(_outside_quotes(_ARROW, change), None)
    if arrow is None:
        return None
    old, new = change[: arrow.start()].strip(), change[arrow.end() :].strip()
    return Edit(_unquoted(file["path"]), _unquoted(old), _unquoted(new)) if _unquoted(old) else None


def _write(rest: str) -> Act | None:
    file = _FILE.match(rest)
    if file is None:
        return None
    text = _unquoted(rest[file.end() :])
    return Write(_unquoted(file["path"]), text if text.endswith("\n") or not text else f"{text}\n")


def _run(rest: str) -> Act | None:
    return Run(rest) if rest and rest.split()[0].lower() not in _PROSE else None


def _search(rest: str) -> Act | None:
    rest = re.sub(r"^for\s+", "", rest, flags=re.IGNORECASE)
    words = rest.rsplit(maxsplit=2)
    if len(words) == 3 and words[1] == "in" and not _QUOTED.fullmatch(rest):
        return Search(_unquoted(words[0]), _unquoted(words[2]))
    return Search(_unquoted(rest)) if rest else None


def _list(rest: str) -> Act | None:
    words = _WORDS.findall(rest)
    return ListFolder(_unquoted(words[0]) if words else ".") if len(words) <= 1 else None


def _todo(rest: str) -> Act | None:
    titles = [title.strip() for title in re.split(r"[;；\n]", rest)]
    return Todo(tuple(_marked(title) for title in titles if title)) if any(titles) else None


def _think(rest: str) -> Act | None:
    return Think(rest) if rest else None


def _ask(rest: str) -> Act | None:
    match = _QUESTION.match(rest)
    if match is None:
        return Ask(rest) if rest else None
    options = (option.strip() for option in re.split(r"[;；]", match["options"]))
    return Ask(match["question"], tuple(option for option in options if option))


_READERS: dict[str, Callable[[str], Act | None]] = {
    "read": _read,
    "edit": _edit,
    "write": _write,
    "run": _run,
    "search": _search,
    "list": _list,
    "todo": _todo,
    "think": _think,
    "ask": _ask,
}


def _marked(title: str) -> tuple[str, TodoMark]:
    match = _MARK.match(title)
    return (match["title"], _MARKS[match["mark"].lower()]) if match else (title, "pending")


def _unquoted(text: str) -> str:
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"":
        return text
    if text[0] == '"':
        try:
            return str(json.loads(text, strict=False))
        except ValueError:
            pass
    return text[1:-1]

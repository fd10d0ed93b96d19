"""The catalogues beside the source: complete, current, and with the same placeholders."""

import ast
import re
from collections.abc import Iterator

import pytest

from kimi_tui.base.assets import asset_path
from kimi_tui.language.catalogue import parsed
from tests.language.sources import constants, raised, said, trees

CHINESE = parsed(asset_path("languages", "zh.po").read_text("utf-8")).entries
WAYS = ("going back", "undoing", "redoing", "switching")
_CJK = r"[\u3400-\u9fff]"


def stanzas(keys: dict[str, str]) -> str:
    """What is to be written into the catalogue for `keys`."""
    return "\n".join(
        f'# {where}\nmsgid "{key}"\nmsgstr ""\n'.replace("\n\n", "\\n") for key, where in keys.items()
    )


def test_all_that_the_front_ends_say_is_in_the_chinese_catalogue() -> None:
    missing = {key: where for key, where in said().items() if key not in CHINESE}

    assert not missing, f"languages/zh.po lacks:\n\n{stanzas(missing)}"


def test_all_that_front_ends_retell_of_errors_is_in_the_chinese_catalogue() -> None:
    missing = {key: where for key, where in raised().items() if key not in CHINESE}

    assert not missing, f"languages/zh.po lacks:\n\n{stanzas(missing)}"


COUNTED = (
    *("line", "lines", "file", "files", "match", "matches", "entry", "entries", "task", "tasks"),
    *("matching line", "matching lines"),
)
COMPOSED = {
    *(f"{when}{way} to {{1}}" for when in ("", "before ", "after ") for way in WAYS),
    *(f"{when}going back to {{1}} “{{2}}”" for when in ("", "before ", "after ")),
    "timed out",
    *(f"{{1}} {noun}" for noun in (*COUNTED, "match in {2}", "matches in {2}")),
    "{1} doesn't exist.",
}
"""What is put together from words of the source."""


def test_the_chinese_catalogue_holds_nothing_that_nobody_says() -> None:
    known = said().keys() | raised().keys() | constants() | COMPOSED
    stale = [key for key in CHINESE if key not in known]

    assert not stale, "languages/zh.po has what the source has not"


def test_every_entry_is_translated() -> None:
    assert not [key for key, told in CHINESE.items() if not told.strip()]


@pytest.mark.parametrize("keys", [said, raised, constants])
def test_translations_have_the_placeholders_of_their_keys(keys: object) -> None:
    assert callable(keys)
    wrong = {
        key: told
        for key, told in CHINESE.items()
        if key in keys() and "{" in key and _placeholders(key) != _placeholders(told)
    }

    assert not wrong


def test_what_is_said_can_be_said_in_chinese() -> None:
    values = {"share": 0.5, "wait": 1.0, "before": 1, "after": 2}
    for key in said():
        names = _placeholders(key)
        if names:
            CHINESE[key].format(**{name: values.get(name, 3) for name in names})


def test_chinese_sentences_end_in_chinese_stops() -> None:
    assert not [told for told in CHINESE.values() if re.search(rf"{_CJK}[,.;:!?](?:\s|$|{_CJK})", told)]


def test_chinese_and_latin_words_stand_apart() -> None:
    close = rf"{_CJK}[A-Za-z0-9`]|[A-Za-z0-9`]{_CJK}"

    assert not [told for told in CHINESE.values() if re.search(close, told)]


def test_the_mark_of_what_is_new_below_needs_no_more_cells_in_chinese() -> None:
    from kimi_tui.language.width import cells
    from kimi_tui.tui.transcript.canvas import PILL

    assert cells(CHINESE[PILL]) <= cells(PILL)


# nothing past `say`

_PROSE = re.compile(r"[a-z’']{2,}[,.:;?!]? +[a-z’']{2,}|[a-z]{2,} …|(?-i:^[A-Z][a-z]+\.$)", re.IGNORECASE)
_SAYING = {"say", "say_many", "later", "retell", "Key", "_key", "SlashCommand", "LinearCommand"}
_NOT_SHOWN = {"compile", "query_one", "query", "cast", "RunSlash"}
_QUIET = ("$", "bold", "dim", "#", "on ", "\\", "-", "ref:", "Token.", "Kimi (Moonshot AI)")
UNSAID = {
    "tui/commands/personal.py": "what a bug report quotes stays English",
    "tui/personal_desk.py": "what a bug report quotes stays English",
    "tui/approvals/review.py": "the model reads why its calls were rejected",
    "tui/keys.py": "the groups' titles, and complaints, which are retold",
    "tui/state.py": "what the agent does, which is retold",
    "tui/prompt/paste.py": "a token that stands in the prompt, and may be sent",
    "tui/prompt/shell_line.py": "names of programs",
    "tui/images/clipboard.py": "a program in PowerShell",
    "tui/external_editor.py": "errors, which are retold",
    "tui/linear/line_input.py": "what readline is told",
}
"""Modules with words that are not said, and why."""


def _unsaid(tree: ast.Module) -> Iterator[tuple[int, str]]:
    quiet: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                quiet.add(id(node.value))
            case ast.Call(func=ast.Name(id=name)) if name in _SAYING | _NOT_SHOWN or _is_error(name):
                quiet |= _inside(node)
            case ast.Call(func=ast.Attribute(attr=name, value=owner)):
                is_log = isinstance(owner, ast.Name) and owner.id in ("logger", "re")
                is_log = is_log or (isinstance(owner, ast.Attribute) and owner.attr == "log")
                if is_log or name in _NOT_SHOWN:
                    quiet |= _inside(node)
            case ast.Assign(targets=[ast.Name(id="DEFAULT_CSS" | "BINDING_GROUP_TITLE")]):
                quiet |= _inside(node.value)
            case ast.AnnAssign():
                quiet |= _inside(node.annotation)
            case ast.Dict():
                quiet |= {id(key) for key in node.keys}
            case ast.Compare():
                quiet |= _inside(node)
            case ast.keyword(arg="classes"):
                quiet |= _inside(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for annotation in (node.returns, *(it.annotation for it in node.args.args)):
                    quiet |= _inside(annotation) if annotation is not None else set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in quiet:
            continue
        if _PROSE.search(node.value) and not node.value.startswith(_QUIET):
            yield node.lineno, node.value


def _inside(node: ast.AST) -> set[int]:
    return {id(inner) for inner in ast.walk(node)}


def _is_error(name: str) -> bool:
    return name.endswith(("Error", "Problem", "ModelNotSet"))


def _placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)(?::[^}]*)?\}", text))


def test_the_app_shows_no_words_past_say() -> None:
    found = [
        f"{where}:{line} {text!r}"
        for where, tree in trees().items()
        if where.startswith("tui/") and where not in UNSAID
        for line, text in _unsaid(tree)
    ]

    assert not found, "\n".join(found)

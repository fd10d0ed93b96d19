"""The catalogs are complete and current, and have the same placeholders as the source."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from kimi_tui.base.assets import asset_path
from kimi_tui.i18n.catalog import parse_catalog
from tests.codebase.source_trees import nodes_of
from tests.i18n.source_strings import (
    composed_ids,
    constants,
    error_texts,
    formatted_error_texts,
    translatable_strings,
    trees,
)

CATALOG = asset_path("languages", "zh.po").read_text("utf-8")
CHINESE = parse_catalog(CATALOG).entries
_CJK = r"[\u3400-\u9fff]"


def format_entries(keys: dict[str, str]) -> str:
    """Return the entries to add to the catalog for `keys`."""
    return "\n".join(
        f'# {where}\nmsgid "{key}"\nmsgstr ""\n'.replace("\n\n", "\\n") for key, where in keys.items()
    )


def test_the_chinese_catalog_has_all_messages_with_ids() -> None:
    missing = {key: where for key, where in translatable_strings().items() if key not in CHINESE}

    assert not missing, f"languages/zh.po lacks:\n\n{format_entries(missing)}"


def test_the_chinese_catalog_has_all_errors() -> None:
    missing = {key: where for key, where in error_texts().items() if key not in CHINESE}

    assert not missing, f"languages/zh.po lacks:\n\n{format_entries(missing)}"


def test_errors_with_parameters_have_ids() -> None:
    assert not formatted_error_texts(), "Use msg() instead of an f-string"


def test_ids_are_literals() -> None:
    assert not composed_ids()


COMPOSED = {"timed out"}
"""Messages that are composed from parts at run time."""


def test_the_chinese_catalog_has_no_stale_entries() -> None:
    known = translatable_strings().keys() | error_texts().keys() | constants() | COMPOSED
    stale = [key for key in CHINESE if key not in known]

    assert not stale, "languages/zh.po has entries that the source doesn't have"


def test_no_message_has_two_entries() -> None:
    ids = re.findall(r"^(?:msgctxt .*\n)?msgid .*\n", CATALOG, re.MULTILINE)

    assert [each for each, count in Counter(ids).items() if count > 1 and each != 'msgid ""\n'] == []


def test_every_entry_is_translated() -> None:
    assert not [key for key, translation in CHINESE.items() if not translation.strip()]


def test_translations_have_the_same_placeholders() -> None:
    wrong = {
        key: translation
        for key, translation in CHINESE.items()
        if "{" in key and _placeholders(key) != _placeholders(translation)
    }

    assert not wrong


def test_translations_can_be_formatted() -> None:
    values = {"share": 0.5, "wait": 1.0, "before": 1, "after": 2}
    for key in translatable_strings():
        names = _placeholders(key)
        if names:
            CHINESE[key].format(**{name: values.get(name, 3) for name in names})


def test_chinese_text_uses_full_width_punctuation() -> None:
    assert not [
        translation
        for translation in CHINESE.values()
        if re.search(rf"{_CJK}[,.;:!?](?:\s|$|{_CJK})", translation)
    ]


def test_chinese_and_latin_words_are_separated() -> None:
    close = rf"{_CJK}[A-Za-z0-9`]|[A-Za-z0-9`]{_CJK}"

    assert not [translation for translation in CHINESE.values() if re.search(close, translation)]


def test_the_new_below_label_is_no_wider_in_chinese() -> None:
    from kimi_tui.frontend.text.cell_width import cell_len
    from kimi_tui.tui.transcript.row_cache import NEW_BELOW_LABEL

    assert cell_len(CHINESE[NEW_BELOW_LABEL]) <= cell_len(NEW_BELOW_LABEL)


# untranslated text

_PROSE = re.compile(r"[a-z’']{2,}[,.:;?!]? +[a-z’']{2,}|[a-z]{2,} …|(?-i:^[A-Z][a-z]+\.$)", re.IGNORECASE)
_TRANSLATION_CALLS = {
    "tr",
    "tr_n",
    "tr_lazy",
    "msg",
    "msg_n",
    "translate_message",
    "Key",
    "_binding",
    "SlashCommand",
    "UiCommand",
    "LinearCommand",
}
_NOT_SHOWN = {"compile", "query_one", "query", "cast", "RunSlash"}
_UNTRANSLATED_PREFIXES = ("$", "bold", "dim", "#", "on ", "\\", "-", "ref:", "Token.", "Kimi (Moonshot AI)")
UNTRANSLATED = {
    "tui/commands/user.py": "text quoted in bug reports stays English",
    "tui/commands/diagnostic_facts.py": "text quoted in bug reports stays English",
    "tui/approvals/batch_review.py": "rejection reasons are read by the model",
    "tui/keys/keymap.py": "group titles and error messages are translated where they are shown",
    "frontend/session_state.py": "activity labels are translated where they are shown",
    "frontend/paste_folding.py": "placeholders in the prompt may be sent to the model",
    "frontend/shell_line.py": "program names",
    "frontend/clipboard_image.py": "a PowerShell script",
    "frontend/external_editor.py": "errors are translated where they are shown",
    "frontend/fleet/progress.py": "SQL",
    "frontend/fleet/task_list.py": "SQL",
    "linear/line_input.py": "readline configuration",
}
"""Modules with untranslated text, and the reason."""


def _untranslated_strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    quiet: set[int] = set()
    for node in nodes_of(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                quiet.add(id(node.value))
            case ast.Call(func=ast.Name(id=name)) if name in _TRANSLATION_CALLS | _NOT_SHOWN or _is_error(
                name
            ):
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
    for node in nodes_of(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in quiet:
            continue
        if _PROSE.search(node.value) and not node.value.startswith(_UNTRANSLATED_PREFIXES):
            yield node.lineno, node.value


def _inside(node: ast.AST) -> set[int]:
    return {id(inner) for inner in ast.walk(node)}


def _is_error(name: str) -> bool:
    return name.endswith(("Error", "Problem", "ModelNotSet"))


def _placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)(?::[^}]*)?\}", text))


def test_the_front_ends_show_no_untranslated_text() -> None:
    untranslated = [
        f"{where}:{line} {text!r}"
        for where, tree in trees().items()
        if where.startswith(("tui/", "linear/", "frontend/")) and where not in UNTRANSLATED
        for line, text in _untranslated_strings(tree)
    ]

    assert not untranslated, "\n".join(untranslated)

"""Lines of the settings dialog: all settings by section, or the settings that match a query."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import assert_never

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.text.cell_width import cell_len, pad_right
from kimi_tui.frontend.text.setting_labels import ADVANCED, KEYS, SECTIONS, label_of
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.widgets import fuzzy
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.settings import Setting

EDIT_FILE = "@edit-file"
"""Value of the line that opens the config file in the user's editor."""
FOLD_KEYS = "@keys"
FOLD_ADVANCED = "@advanced"
FOLDS = (FOLD_KEYS, FOLD_ADVANCED)
"""Values of the lines that show or hide a long section."""
_MIN_WORD_QUERY = 3
"""Minimum length of a query that also searches keys, synonyms and descriptions."""


def sectioned_choices(settings: Sequence[Setting], open_folds: Collection[str]) -> list[Choice]:
    """Return the settings by section, appearance first. Keys and advanced settings are folded."""
    by_key = {setting.key: setting for setting in settings}
    width = _note_width(settings)
    choices: list[Choice] = []
    for section, labels in SECTIONS:
        lines = [_choice(by_key[label.key], width) for label in labels if label.key in by_key]
        if lines:
            choices += [_heading(tr(section)), *lines]
    keys = [it for it in settings if _is_key(it)]
    advanced = [it for it in settings if not _is_key(it) and label_of(it.key) is None]
    choices.append(_heading(tr("More")))
    for fold, title, members in ((FOLD_KEYS, KEYS, keys), (FOLD_ADVANCED, ADVANCED, advanced)):
        is_open = fold in open_folds
        title_text = f"{'▾' if is_open else '▸'} {tr(title)} ({len(members)})"
        if members or fold == FOLD_ADVANCED:
            choices.append(Choice(value=fold, label=title_text, indent=2))
        if is_open and fold == FOLD_ADVANCED:
            choices.append(Choice(value=EDIT_FILE, label=tr("Edit config.toml in your editor"), indent=4))
        if is_open:
            choices += [replace(_choice(it, width), indent=4) for it in members]
    return choices


def matching_choices(settings: Sequence[Setting], query: str) -> list[Choice]:
    """Return the settings whose label, key, synonyms or description match `query`, best match first."""
    ranked: list[tuple[float, Choice]] = []
    width = _note_width(settings)
    for setting in settings:
        choice = replace(_choice(setting, width), indent=0)
        if (by_label := fuzzy.match(query, choice.label)) is not None and _is_close(by_label, query):
            ranked.append((by_label.score + 20, replace(choice, matched_positions=by_label.positions)))
        elif len(query) >= _MIN_WORD_QUERY and (rank := _word_rank(setting, query.lower())) is not None:
            ranked.append((rank, choice))
    ranked.sort(key=lambda pair: -pair[0])
    return [choice for _, choice in ranked]


def display_value(setting: Setting) -> str:
    """Return the value for the list. Switches are words, and secrets are hidden."""
    match setting.kind:
        case "secret":
            return tr("set (hidden)") if setting.value else ""
        case "switch":
            return {"true": tr("on"), "false": tr("off")}.get(setting.value, sanitize_line(setting.value))
        case _:
            return sanitize_line(setting.value)


def setting_title(setting: Setting) -> str:
    """Return the label of a setting, or its key if it has no label."""
    label = label_of(setting.key)
    if label is not None:
        return tr(label.label)
    return setting.meaning if _is_key(setting) else setting.key


def _choice(setting: Setting, note_width: int) -> Choice:
    return Choice(
        value=setting.key,
        label=setting_title(setting),
        detail=display_value(setting),
        note=pad_right(_short_origin(setting), note_width) if note_width else "",
        indent=2,
    )


def _note_width(settings: Sequence[Setting]) -> int:
    """Return the common width of the notes in cells, so that the values are aligned."""
    return max((cell_len(_short_origin(it)) for it in settings), default=0)


def _heading(text: str) -> Choice:
    return Choice(value="", label=text, is_heading=True)


def _is_key(setting: Setting) -> bool:
    return setting.key.startswith("keymap.")


def _is_close(match: fuzzy.Match, query: str) -> bool:
    """Return whether the characters of a match are close together. Otherwise, long labels match by chance."""
    return match.positions[-1] - match.positions[0] < 2 * len(query)


def _word_rank(setting: Setting, query: str) -> float | None:
    label = label_of(setting.key)
    if label is not None and any(query in word for word in label.synonyms):
        return 10.0
    if query in setting.key.lower():
        return 5.0
    return 0.0 if query in tr(sanitize_line(setting.meaning)).lower() else None


def _short_origin(setting: Setting) -> str:
    match setting.origin:
        case "default":
            return ""
        case "user":
            return tr("user")
        case "project":
            return tr("project")
        case "environment":
            return tr("environment")
        case "option":
            return tr("option")
        case _:
            assert_never(setting.origin)

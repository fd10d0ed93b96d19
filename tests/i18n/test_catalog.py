"""Message catalogs: parsing and lookup."""

import pytest

from kimi_tui.i18n.catalog import Catalog, parse_catalog

GERMAN = Catalog(
    {
        "{count} files": "{count} Dateien",
        "No file {1}.": "Es gibt keine Datei {1}.",
        "{1} can't be read: {2}.": "{1} ist nicht lesbar: {2}.",
        "{1}, line {2}: {3} is missing.": "In {1} fehlt {3} (Zeile {2}).",
        "it is too large": "zu groß",
        "Exit.": "Gehen.",
    }
)


def test_messages_without_a_translation_stay_english() -> None:
    assert GERMAN.gettext("{count} folders") == "{count} folders"
    assert GERMAN.translate_message("No folder x.") == "No folder x."


def test_a_finished_text_is_translated_by_its_template() -> None:
    assert GERMAN.translate_message("No file a b.txt.") == "Es gibt keine Datei a b.txt."
    assert GERMAN.translate_message("Exit.") == "Gehen."


def test_a_translation_can_reorder_the_gaps() -> None:
    assert GERMAN.translate_message("x.toml, line 3: model is missing.") == "In x.toml fehlt model (Zeile 3)."


def test_known_text_in_a_gap_is_translated_too() -> None:
    assert (
        GERMAN.translate_message("a.png can't be read: it is too large.")
        == "a.png ist nicht lesbar: zu groß."
    )
    assert GERMAN.translate_message("a.png can't be read: EIO.") == "a.png ist nicht lesbar: EIO."


def test_the_most_specific_template_matches_first() -> None:
    both = Catalog({"{1} is{2}": "A {1}{2}", "{1} is missing.": "B {1}"})

    assert both.translate_message("it is missing.") == "B it"


def test_a_short_template_does_not_match_longer_text_by_chance() -> None:
    short = Catalog({"step {1}": "Schritt {1}", "{1}: {2} is {3}.": "{1}: {2} ist {3}."})

    assert short.translate_message("step 3") == "Schritt 3"
    assert short.translate_message("step by step") == "step by step"
    assert short.translate_message("x.toml, line 1: theme is 3.") == "x.toml, line 1: theme ist 3."
    assert short.translate_message("Note: No file. It is here.") == "Note: No file. It is here."


@pytest.mark.parametrize("text", ["", "{1}", "{count} files", "No file", "No file ."])
def test_unusual_texts_do_not_raise(text: str) -> None:
    GERMAN.translate_message(text)


def test_braces_in_user_text_are_kept() -> None:
    assert GERMAN.translate_message("No file {2}{x}.") == "Es gibt keine Datei {2}{x}."


def test_catalogs_use_the_format_of_gettext() -> None:
    text = (
        '# a comment\nmsgid ""\nmsgstr "Language: de\\n"\n\n'
        'msgid "one"\nmsgstr "eins"\n\n'
        'msgid "say \\"two\\"\\n"\nmsgstr ""\n"sag "\n"\\"zwei\\"\\n"\n'
    )

    assert parse_catalog(text).entries == {"one": "eins", 'say "two"\n': 'sag "zwei"\n'}

"""Catalogues: what is found in them, and how."""

import pytest

from kimi_tui.language.catalogue import Catalogue, parsed

GERMAN = Catalogue(
    {
        "{count} files": "{count} Dateien",
        "There is no file {1}.": "Es gibt keine Datei {1}.",
        "{1} can't be read: {2}.": "{1} ist nicht lesbar: {2}.",
        "{1}, line {2}: {3} is missing.": "In {1} fehlt {3} (Zeile {2}).",
        "it is too large": "zu groß",
        "Leave.": "Gehen.",
    }
)


def test_what_a_catalogue_lacks_stays_english() -> None:
    assert GERMAN.said("{count} folders") == "{count} folders"
    assert GERMAN.retold("There is no folder x.") == "There is no folder x."


def test_a_finished_text_is_found_by_its_template() -> None:
    assert GERMAN.retold("There is no file a b.txt.") == "Es gibt keine Datei a b.txt."
    assert GERMAN.retold("Leave.") == "Gehen."


def test_a_translation_may_put_the_gaps_in_another_order() -> None:
    assert GERMAN.retold("x.toml, line 3: model is missing.") == "In x.toml fehlt model (Zeile 3)."


def test_what_stands_in_a_gap_is_told_too_when_it_is_known() -> None:
    assert GERMAN.retold("a.png can't be read: it is too large.") == "a.png ist nicht lesbar: zu groß."
    assert GERMAN.retold("a.png can't be read: EIO.") == "a.png ist nicht lesbar: EIO."


def test_the_template_that_says_most_goes_first() -> None:
    both = Catalogue({"{1} is{2}": "A {1}{2}", "{1} is missing.": "B {1}"})

    assert both.retold("it is missing.") == "B it"


def test_a_template_of_few_letters_does_not_take_what_only_looks_like_it() -> None:
    short = Catalogue({"step {1}": "Schritt {1}", "{1}: {2} is {3}.": "{1}: {2} ist {3}."})

    assert short.retold("step 3") == "Schritt 3"
    assert short.retold("step by step") == "step by step"
    assert short.retold("x.toml, line 1: theme is 3.") == "x.toml, line 1: theme ist 3."
    assert short.retold("Note: There is none. It is here.") == "Note: There is none. It is here."


@pytest.mark.parametrize("text", ["", "{1}", "{count} files", "There is no file", "There is no file ."])
def test_odd_texts_do_no_harm(text: str) -> None:
    GERMAN.retold(text)


def test_braces_in_what_a_user_wrote_stay_as_they_are() -> None:
    assert GERMAN.retold("There is no file {2}{x}.") == "Es gibt keine Datei {2}{x}."


def test_a_catalogue_is_written_as_gettext_does() -> None:
    text = (
        '# a remark\nmsgid ""\nmsgstr "Language: de\\n"\n\n'
        'msgid "one"\nmsgstr "eins"\n\n'
        'msgid "say \\"two\\"\\n"\nmsgstr ""\n"sag "\n"\\"zwei\\"\\n"\n'
    )

    assert parsed(text).entries == {"one": "eins", 'say "two"\n': 'sag "zwei"\n'}

"""Message catalogs: parsing and lookup."""

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.i18n.catalog import Catalog, parse_catalog

GERMAN = Catalog(
    {
        "{count} files": "{count} Dateien",
        "No file {path}.": "Es gibt keine Datei {path}.",
        "{path} can't be read: {reason}.": "{path} ist nicht lesbar: {reason}.",
        "{path}, line {line}: {key} is missing.": "In {path} fehlt {key} (Zeile {line}).",
        "it is too large": "zu groß",
        "Exit.": "Gehen.",
    }
)


def test_messages_without_a_translation_stay_english() -> None:
    assert GERMAN.gettext("{count} folders") == "{count} folders"
    assert GERMAN.translate_message("No folder x.") == "No folder x."
    assert GERMAN.translate_message(msg("No folder {path}.", path="x")) == "No folder x."


def test_a_message_is_translated_by_its_id() -> None:
    assert GERMAN.translate_message(msg("No file {path}.", path="a b.txt")) == "Es gibt keine Datei a b.txt."
    assert GERMAN.translate_message("Exit.") == "Gehen."


def test_a_translation_can_reorder_the_parameters() -> None:
    missing = msg("{path}, line {line}: {key} is missing.", path="x.toml", line=3, key="model")

    assert GERMAN.translate_message(missing) == "In x.toml fehlt model (Zeile 3)."


def test_a_message_in_a_parameter_is_translated_too() -> None:
    too_large = msg("{path} can't be read: {reason}.", path="a.png", reason=msg("it is too large"))

    assert GERMAN.translate_message(too_large) == "a.png ist nicht lesbar: zu groß."


def test_text_in_a_parameter_is_never_translated() -> None:
    assert GERMAN.translate_message(msg("No file {path}.", path="Exit.")) == "Es gibt keine Datei Exit.."


def test_the_text_of_an_error_is_translated_sentence_by_sentence() -> None:
    error = KimiTuiError(msg("No file {path}.", path="x"), hint="Exit.")

    assert GERMAN.translate_message(str(error)) == "Es gibt keine Datei x. Gehen."


def test_braces_in_parameters_are_not_placeholders() -> None:
    assert GERMAN.translate_message(msg("No file {path}.", path="{2}{x}")) == "Es gibt keine Datei {2}{x}."


def test_catalogs_use_the_format_of_gettext() -> None:
    text = (
        '# a comment\nmsgid ""\nmsgstr "Language: de\\n"\n\n'
        'msgid "one"\nmsgstr "eins"\n\n'
        'msgid "say \\"two\\"\\n"\nmsgstr ""\n"sag "\n"\\"zwei\\"\\n"\n'
    )

    assert parse_catalog(text).entries == {"one": "eins", 'say "two"\n': 'sag "zwei"\n'}

"""Translation into the user's language."""

import subprocess
import sys

import pytest

from kimi_tui.i18n.translate import set_language, tr, tr_n, translate_message


def test_english_messages_come_from_the_code() -> None:
    assert tr("Nothing to undo.") == "Nothing to undo."
    assert tr("{count:,} files", count=1234) == "1,234 files"
    assert translate_message("No file x.") == "No file x."


def test_singular_and_plural() -> None:
    assert [tr_n("{count} file", "{count} files", count) for count in (0, 1, 2)] == [
        "0 files",
        "1 file",
        "2 files",
    ]


@pytest.mark.usefixtures("chinese")
def test_chinese_messages_come_from_the_catalog() -> None:
    assert tr("quit") == "退出"
    assert "3" in tr_n("{count} file", "{count} files", 3)


def test_braces_in_values_are_not_placeholders() -> None:
    assert tr("“{name}”", name="{0.__class__}") == "“{0.__class__}”"


def test_english_loads_no_catalog() -> None:
    code = (
        "import sys; opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "from kimi_tui.i18n.translate import tr, set_language\n"
        "set_language('auto', environ={'LANG': 'en_US.UTF-8'}); tr('quit')\n"
        "print([path for path in opened if path.endswith('.po')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_the_language_can_be_changed_back() -> None:
    set_language("zh")
    set_language("auto", environ={})

    assert tr("quit") == "quit"

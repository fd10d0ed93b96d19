"""Saying things in the user's language."""

import subprocess
import sys

import pytest

from kimi_tui.language.saying import retell, say, say_many, speak
from kimi_tui.language.width import cells, padded


def test_english_is_what_the_code_says() -> None:
    assert say("There is nothing to undo.") == "There is nothing to undo."
    assert say("{count:,} files", count=1234) == "1,234 files"
    assert retell("There is no file x.") == "There is no file x."


def test_one_and_many_are_said_apart() -> None:
    assert [say_many("{count} file", "{count} files", count) for count in (0, 1, 2)] == [
        "0 files",
        "1 file",
        "2 files",
    ]


@pytest.mark.usefixtures("chinese")
def test_chinese_is_what_the_catalogue_says() -> None:
    assert say("quit") == "退出"
    assert "3" in say_many("{count} file", "{count} files", 3)


def test_a_users_braces_are_no_placeholders() -> None:
    assert say("“{name}”", name="{0.__class__}") == "“{0.__class__}”"


def test_english_reads_no_catalogue() -> None:
    code = (
        "import sys; opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "from kimi_tui.language.saying import say, speak\n"
        "speak('auto', environ={'LANG': 'en_US.UTF-8'}); say('quit')\n"
        "print([path for path in opened if path.endswith('.po')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_the_language_can_be_changed_back() -> None:
    speak("zh")
    speak("auto", environ={})

    assert say("quit") == "quit"


def test_wide_characters_take_two_cells() -> None:
    assert cells("abc") == 3
    assert cells("检查点") == 6
    assert cells("é") == cells("e\u0301") == 1
    assert cells("🙂") == 2
    assert padded("时间线", 8) == "时间线  "
    assert padded("timeline", 4) == "timeline"

"""The help of subcommands, in the user's language from edge to edge."""

import re
from collections.abc import Iterator

import pytest

from kimi_tui.cli.commands.subcommands import run_subcommand
from kimi_tui.cli.main import SUBCOMMANDS
from kimi_tui.cli.vocabulary import subcommands
from kimi_tui.language.saying import speak

_COMMAND_LINE = re.compile(r"kimi-tui[ a-z-]+")
_ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The help is Chinese, on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    speak("zh")
    yield
    speak("en")


@pytest.mark.usefixtures("chinese")
def test_each_subcommands_help_is_all_chinese_and_none_of_it_is_cut_off(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [(it.name, *below) for it in subcommands() if it.name in SUBCOMMANDS for below in ((), *it.below)]
    for name, *below in words:
        run_subcommand([name, *below[:1], "--help"])
        shown = capsys.readouterr().out
        assert "用法：" in shown, shown
        for foreign in (
            "Usage",
            "Options",
            "Arguments",
            "Commands",
            "Show this",
            "[default",
            "[required",
            "…",
        ):
            assert foreign not in shown, shown
        assert "[[" not in shown, shown
        assert not _ENGLISH.search(_COMMAND_LINE.sub("", shown)), shown


def test_english_help_names_types_and_what_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    run_subcommand(["checkpoints", "revert", "--help"])
    shown = capsys.readouterr().out
    for word in ("Usage: kimi-tui checkpoints revert", "Options", "Arguments", "[required]"):
        assert word in shown
    assert "<bool>" not in shown  # a flag takes no value
    assert "<int>" in shown

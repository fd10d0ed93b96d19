"""Translated help of subcommands."""

import re
from collections.abc import Iterator

import pytest

from kimi_tui.cli.commands.runner import run_subcommand
from kimi_tui.cli.main import SUBCOMMANDS
from kimi_tui.cli.option_catalog import subcommands
from kimi_tui.i18n.translate import set_language

_COMMAND_LINE = re.compile(r"kimi-tui[ a-z-]+")
_ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use Chinese, on a terminal with 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    set_language("zh")
    yield
    set_language("en")


@pytest.mark.usefixtures("chinese")
def test_the_help_of_subcommands_is_completely_translated_and_not_truncated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    commands = [
        (it.name, *below) for it in subcommands() if it.name in SUBCOMMANDS for below in ((), *it.subcommands)
    ]
    for name, *below in commands:
        run_subcommand([name, *below[:1], "--help"])
        shown = capsys.readouterr().out
        assert "用法：" in shown, shown
        for english in (
            "Usage",
            "Options",
            "Arguments",
            "Commands",
            "Show this",
            "[default",
            "[required",
            "…",
        ):
            assert english not in shown, shown
        assert "[[" not in shown, shown
        assert not _ENGLISH.search(_COMMAND_LINE.sub("", shown)), shown


def test_english_help_names_types_and_what_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    run_subcommand(["checkpoints", "revert", "--help"])
    shown = capsys.readouterr().out
    for word in ("Usage: kimi-tui checkpoints revert", "Options", "Arguments", "[required]"):
        assert word in shown
    assert "<bool>" not in shown  # a flag takes no value
    assert "<int>" in shown

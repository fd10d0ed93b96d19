"""docs/language.md: its config examples work."""

from pathlib import Path

import pytest

from tests.docs.pages import examples
from tests.e2e.program import Program


@pytest.mark.parametrize("example", examples("language.md", language="toml"), ids=lambda one: one.heading)
def test_the_configured_language_is_chinese(example, tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.configure(example.text)

    finished = program.run("sessions", "list")

    assert "没有会话" in finished.stderr


def test_the_default_language_follows_the_locale(tmp_path: Path) -> None:
    program = Program(tmp_path, env={"LANG": "zh_CN.UTF-8"})

    finished = program.run("--fork")

    assert finished.exit_code == 2
    assert finished.stderr == "--fork 需要一个会话。请加上 --continue 或 --session ID。\n"

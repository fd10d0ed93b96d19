"""What programs that we start see of the environment."""

import pytest

from kimi_tui.base.child_environment import helper_environment, without_values
from kimi_tui.base.secrets import keep_hidden


def test_a_variable_is_withheld_for_what_it_holds_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOON", "SAME", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "other" if name == "GITHUB_TOKEN" else "the-key-in-use")
    keys: set[str] = set()
    seen = without_values(lambda: keys, but=["SAME"])
    assert seen()["MOON"] == "the-key-in-use"
    keys.add("the-key-in-use")
    assert "MOON" not in seen()
    assert (seen()["SAME"], seen()["GITHUB_TOKEN"]) == ("the-key-in-use", "other")


def test_helpers_see_nothing_that_is_or_sounds_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_hidden(["nobodys-business"])
    monkeypatch.setenv("GITHUB_TOKEN", "x")
    monkeypatch.setenv("DATABASE", "postgres://me:nobodys-business@host")
    monkeypatch.setenv("LANG", "C.UTF-8")
    seen = helper_environment()
    assert not {"GITHUB_TOKEN", "DATABASE"} & seen.keys()
    assert {"LANG", "PATH"} <= seen.keys()

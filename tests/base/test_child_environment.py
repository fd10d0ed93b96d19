"""Environment of child processes."""

import pytest

from kimi_tui.base.child_environment import FilteredEnvironment, helper_environment
from kimi_tui.base.redaction import register_secrets


class UsedKeys:
    """The API keys of the models in use."""

    def __init__(self, *keys: str) -> None:
        self.used_keys = set(keys)


def test_a_variable_with_a_secret_value_is_removed_unless_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOON", "SAME", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "other" if name == "GITHUB_TOKEN" else "the-key-in-use")
    models = UsedKeys()
    environment = FilteredEnvironment(models, keep=["SAME"])
    assert environment.variables()["MOON"] == "the-key-in-use"
    models.used_keys.add("the-key-in-use")
    variables = environment.variables()
    assert "MOON" not in variables
    assert (variables["SAME"], variables["GITHUB_TOKEN"]) == ("the-key-in-use", "other")


def test_helpers_get_no_secret_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    register_secrets(["nobodys-business"])
    monkeypatch.setenv("GITHUB_TOKEN", "x")
    monkeypatch.setenv("DATABASE", "postgres://me:nobodys-business@host")
    monkeypatch.setenv("LANG", "C.UTF-8")
    environment = helper_environment()
    assert not {"GITHUB_TOKEN", "DATABASE"} & environment.keys()
    assert {"LANG", "PATH"} <= environment.keys()

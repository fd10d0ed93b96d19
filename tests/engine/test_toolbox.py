"""Which of an agent's tools a model gets."""

import pytest

from kimi_tui.engine.toolbox import BUILTIN_TOOLS, suits

SEEING = frozenset({"image_in"})


@pytest.mark.parametrize("reference", ["ReadMediaFile", BUILTIN_TOOLS["ReadMediaFile"]])
def test_only_models_that_see_are_shown_pictures(reference: str) -> None:
    assert suits(reference, SEEING)
    assert not suits(reference, frozenset({"thinking"}))


def test_every_other_tool_is_for_every_model() -> None:
    assert all(suits(name, frozenset()) for name in BUILTIN_TOOLS if name != "ReadMediaFile")

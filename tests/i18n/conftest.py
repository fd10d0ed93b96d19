"""Fixture for tests in Chinese."""

from collections.abc import Iterator

import pytest

from kimi_tui.i18n.translate import set_language


@pytest.fixture
def chinese() -> Iterator[None]:
    set_language("zh")
    yield
    set_language("en")

"""A process that speaks Chinese for a while."""

from collections.abc import Iterator

import pytest

from kimi_tui.language.saying import speak


@pytest.fixture
def chinese() -> Iterator[None]:
    speak("zh")
    yield
    speak("en")

"""Which language is spoken."""

import pytest

from kimi_tui.config.language import language_in
from kimi_tui.language.choice import chosen_language


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh"}, "zh"),
        ({"LANG": "zh-Hans"}, "zh"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "zhuang"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
    ],
)
def test_auto_follows_the_locale_of_messages(environ: dict[str, str], language: str) -> None:
    assert chosen_language("auto", environ) == language


def test_the_setting_goes_before_the_locale() -> None:
    assert chosen_language("en", {"LANG": "zh_CN.UTF-8"}) == "en"
    assert chosen_language("zh", {"LANG": "en_US.UTF-8"}) == "zh"


@pytest.mark.parametrize("data", [{}, {"language": "klingon"}, {"language": 3}, {"language": ["zh"]}])
def test_a_setting_that_is_not_right_counts_as_none_until_it_is_complained_about(
    data: dict[str, object],
) -> None:
    assert language_in(data) == "auto"


def test_the_setting_is_taken_from_the_config() -> None:
    assert language_in({"language": "zh"}) == "zh"

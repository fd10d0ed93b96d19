"""Language detection."""

import pytest

from kimi_tui.config.language_setting import language_setting
from kimi_tui.i18n.locale import detect_language


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
def test_auto_uses_the_locale_of_messages(environ: dict[str, str], language: str) -> None:
    assert detect_language("auto", environ) == language


def test_the_setting_overrides_the_locale() -> None:
    assert detect_language("en", {"LANG": "zh_CN.UTF-8"}) == "en"
    assert detect_language("zh", {"LANG": "en_US.UTF-8"}) == "zh"


@pytest.mark.parametrize("data", [{}, {"language": "klingon"}, {"language": 3}, {"language": ["zh"]}])
def test_an_invalid_setting_is_ignored_until_it_is_reported(
    data: dict[str, object],
) -> None:
    assert language_setting(data) == "auto"


def test_the_setting_is_read_from_the_config() -> None:
    assert language_setting({"language": "zh"}) == "zh"

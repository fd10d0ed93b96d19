"""Reasons of file system errors."""

from pathlib import Path

import pytest

from kimi_tui.base.disk_errors import reason_of


def test_a_reason_has_no_error_number_and_no_file_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        (tmp_path / "missing").read_text()
    assert reason_of(caught.value) == "No such file or directory"


def test_a_decoding_error_has_a_plain_reason() -> None:
    with pytest.raises(UnicodeDecodeError) as caught:
        b"\xff\xfe".decode()
    assert reason_of(caught.value) == "it is not UTF-8 text"


def test_the_reason_of_another_error_is_its_message() -> None:
    assert reason_of(ValueError("embedded null byte")) == "embedded null byte"

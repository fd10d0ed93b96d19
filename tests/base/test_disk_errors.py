"""How a disk's refusals are told."""

from pathlib import Path

import pytest

from kimi_tui.base.disk_errors import reason_of


def test_a_reason_has_neither_the_errors_number_nor_the_files_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        (tmp_path / "nothing").read_text()
    assert reason_of(caught.value) == "No such file or directory"


def test_a_reason_has_no_words_of_codecs() -> None:
    with pytest.raises(UnicodeDecodeError) as caught:
        b"\xff\xfe".decode()
    assert reason_of(caught.value) == "it is not UTF-8 text"


def test_what_is_no_refusal_of_the_disk_says_what_it_says() -> None:
    assert reason_of(ValueError("embedded null byte")) == "embedded null byte"

"""Deprecated names of the Python API still work, with a warning, for one release."""

from pathlib import Path

import pytest

import kimi_tui
from kimi_tui import KimiTui


def test_the_old_name_of_the_validation_error_still_works() -> None:
    with pytest.warns(DeprecationWarning, match="use OutputValidationError"):
        old = kimi_tui.OutputMisfit  # type: ignore[attr-defined]
    assert old is kimi_tui.OutputValidationError


def test_share_dir_still_names_the_data_directory(tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning, match="use data_dir"):
        agent = KimiTui.create(share_dir=tmp_path, demo=True)
    assert agent._options.data_dir == tmp_path

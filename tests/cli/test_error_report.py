"""Error reports contain no secrets."""

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.cli.error_report import print_crash, print_error

KEY, TOKEN = "unguessable-key-of-the-environment", "sk-0123456789abcdef"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("SHOP_API_KEY", KEY)
    monkeypatch.setenv("KIMI_SHARE_DIR", str(tmp_path))


def raise_and_catch(error: Exception) -> Exception:
    """Return `error` with a cause that contains secrets."""
    try:
        raise OSError(f"token={TOKEN}; {KEY}") from None
    except OSError as cause:
        error.__cause__ = cause
        return error


@pytest.mark.parametrize("arguments", [[], ["--debug"]])
def test_error_reports_contain_no_secrets(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    print_error(ConfigError(f"It says {KEY} and {TOKEN}."), arguments)
    error = raise_and_catch(ConfigError("It does not work."))
    assert isinstance(error, ConfigError)
    print_error(error, arguments)
    print_crash(raise_and_catch(ValueError(f"{KEY} {TOKEN}")), arguments)
    text = capsys.readouterr().err
    assert "[hidden]" in text
    assert KEY not in text
    assert TOKEN not in text
    assert ("Traceback" in text) == bool(arguments)

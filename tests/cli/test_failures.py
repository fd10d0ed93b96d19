"""What ended the process, told without what must stay with the user."""

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.cli.failures import tell, tell_unexpected

KEY, TOKEN = "unguessable-key-of-the-environment", "sk-0123456789abcdef"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("SHOP_API_KEY", KEY)
    monkeypatch.setenv("KIMI_SHARE_DIR", str(tmp_path))


def raised(error: Exception) -> Exception:
    """`error` as it comes out of a function that had secrets at hand."""
    try:
        raise OSError(f"token={TOKEN}; {KEY}") from None
    except OSError as cause:
        error.__cause__ = cause
        return error


@pytest.mark.parametrize("arguments", [[], ["--debug"]])
def test_no_secret_is_told_with_an_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    tell(ConfigError(f"It says {KEY} and {TOKEN}."), arguments)
    error = raised(ConfigError("It does not work."))
    assert isinstance(error, ConfigError)
    tell(error, arguments)
    tell_unexpected(raised(ValueError(f"{KEY} {TOKEN}")), arguments)
    told = capsys.readouterr().err
    assert "[hidden]" in told
    assert KEY not in told
    assert TOKEN not in told
    assert ("Traceback" in told) == bool(arguments)

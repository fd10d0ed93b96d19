"""The log is a private file without secrets, and nothing is written to the screen."""

import logging
import stat

import pytest

from kimi_tui.base.logging import LogFile, log_path, log_tail, start_logging
from kimi_tui.base.redaction import register_secrets


@pytest.fixture(autouse=True)
def restore_loggers():
    root, package = logging.getLogger(), logging.getLogger("kimi_tui")
    before = (root.handlers[:], root.level, package.level)
    yield
    for handler in [handler for handler in root.handlers if isinstance(handler, LogFile)]:
        handler.close()
    root.handlers, level, package_level = before
    root.setLevel(level)
    package.setLevel(package_level)


def read_log(data_dir):
    return log_path(data_dir).read_text("utf-8")


def test_a_record_goes_to_a_private_file_and_not_to_the_screen(tmp_path, capfd):
    start_logging(tmp_path / "data", environ={})
    logging.getLogger("kimi_tui.engine").info("turn %d", 7)
    logging.getLogger("httpx").warning("slow")
    text = read_log(tmp_path / "data")
    assert "kimi_tui.engine: turn 7" in text
    assert "httpx: slow" in text
    assert stat.S_IMODE(log_path(tmp_path / "data").stat().st_mode) == 0o600
    assert capfd.readouterr() == ("", "")


def test_the_level_is_applied(tmp_path):
    start_logging(tmp_path, level="error", environ={})
    logging.getLogger("kimi_tui.x").warning("quiet")
    logging.getLogger("kimi_tui.x").error("loud")
    assert "quiet" not in read_log(tmp_path)
    assert "loud" in read_log(tmp_path)


@pytest.mark.parametrize(
    "message",
    [
        "key is hush-hush",
        "from env: environment-value",
        "Authorization: Bearer SECRET123",
        "headers={'x-api-key': 'SECRET123'}",
        'api_key="SECRET123"',
        "sk-SECRET123abc",
    ],
)
def test_keys_are_redacted(tmp_path, message):
    start_logging(tmp_path, environ={"SOME_API_KEY": "environment-value", "HOME": "/home/me"})
    register_secrets(["hush-hush"])
    logging.getLogger("kimi_tui").error("%s at /home/me", message)
    text = read_log(tmp_path)
    assert "[hidden]" in text
    for secret in ("hush-hush", "environment-value", "SECRET123"):
        assert secret not in text
    assert "/home/me" in text


def test_keys_in_a_traceback_are_redacted(tmp_path):
    start_logging(tmp_path, environ={})
    register_secrets(["hush-hush"])
    try:
        raise ValueError("bad key hush-hush")
    except ValueError:
        logging.getLogger("kimi_tui").exception("failed")
    assert "ValueError: bad key [hidden]" in read_log(tmp_path)


def test_write_errors_are_ignored(tmp_path, capfd):
    start_logging(tmp_path, environ={})
    log_path(tmp_path).mkdir()
    logging.getLogger("kimi_tui").error("lost")
    assert capfd.readouterr() == ("", "")


def test_starting_again_replaces_the_log_file(tmp_path):
    start_logging(tmp_path / "a", environ={})
    start_logging(tmp_path / "b", environ={})
    logging.getLogger("kimi_tui").error("here")
    assert "here" in read_log(tmp_path / "b")
    assert not log_path(tmp_path / "a").exists()


def test_the_tail_has_the_last_lines_without_secrets(tmp_path):
    assert log_tail(tmp_path) == []
    path = log_path(tmp_path)
    path.parent.mkdir()
    path.write_text("".join(f"line {number}\n" for number in range(5_000)) + "token=abcdefgh\n")
    assert log_tail(tmp_path, lines=3) == ["line 4998", "line 4999", "token=[hidden]"]

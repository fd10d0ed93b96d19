"""The log: a private file, no secrets, nothing on the screen."""

import logging
import stat

import pytest

from kimi_tui.base.logging import LogFile, end_of_log, log_path, start_logging
from kimi_tui.base.secrets import keep_hidden


@pytest.fixture(autouse=True)
def loggers_as_they_were():
    root, ours = logging.getLogger(), logging.getLogger("kimi_tui")
    before = (root.handlers[:], root.level, ours.level)
    yield
    for handler in [handler for handler in root.handlers if isinstance(handler, LogFile)]:
        handler.close()
    root.handlers, level, our_level = before
    root.setLevel(level)
    ours.setLevel(our_level)


def logged(share_dir):
    return log_path(share_dir).read_text("utf-8")


def test_a_line_lands_in_a_file_for_the_owner_alone_and_not_on_the_screen(tmp_path, capfd):
    start_logging(tmp_path / "share", environ={})
    logging.getLogger("kimi_tui.engine").info("turn %d", 7)
    logging.getLogger("httpx").warning("slow")
    text = logged(tmp_path / "share")
    assert "kimi_tui.engine: turn 7" in text
    assert "httpx: slow" in text
    assert stat.S_IMODE(log_path(tmp_path / "share").stat().st_mode) == 0o600
    assert capfd.readouterr() == ("", "")


def test_the_level_is_that_which_was_asked_for(tmp_path):
    start_logging(tmp_path, level="error", environ={})
    logging.getLogger("kimi_tui.x").warning("quiet")
    logging.getLogger("kimi_tui.x").error("loud")
    assert "quiet" not in logged(tmp_path)
    assert "loud" in logged(tmp_path)


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
def test_keys_are_blacked_out(tmp_path, message):
    start_logging(tmp_path, environ={"SOME_API_KEY": "environment-value", "HOME": "/home/me"})
    keep_hidden(["hush-hush"])
    logging.getLogger("kimi_tui").error("%s at /home/me", message)
    text = logged(tmp_path)
    assert "[hidden]" in text
    for secret in ("hush-hush", "environment-value", "SECRET123"):
        assert secret not in text
    assert "/home/me" in text


def test_keys_in_a_traceback_are_blacked_out_too(tmp_path):
    start_logging(tmp_path, environ={})
    keep_hidden(["hush-hush"])
    try:
        raise ValueError("bad key hush-hush")
    except ValueError:
        logging.getLogger("kimi_tui").exception("failed")
    assert "ValueError: bad key [hidden]" in logged(tmp_path)


def test_a_log_that_cannot_be_written_is_silent(tmp_path, capfd):
    start_logging(tmp_path, environ={})
    log_path(tmp_path).mkdir()
    logging.getLogger("kimi_tui").error("lost")
    assert capfd.readouterr() == ("", "")


def test_starting_anew_replaces_the_file_that_was_logged_to(tmp_path):
    start_logging(tmp_path / "a", environ={})
    start_logging(tmp_path / "b", environ={})
    logging.getLogger("kimi_tui").error("here")
    assert "here" in logged(tmp_path / "b")
    assert not log_path(tmp_path / "a").exists()


def test_the_end_of_the_log_is_its_last_lines_without_secrets(tmp_path):
    assert end_of_log(tmp_path) == []
    path = log_path(tmp_path)
    path.parent.mkdir()
    path.write_text("".join(f"line {number}\n" for number in range(5_000)) + "token=abcdefgh\n")
    assert end_of_log(tmp_path, lines=3) == ["line 4998", "line 4999", "token=[hidden]"]

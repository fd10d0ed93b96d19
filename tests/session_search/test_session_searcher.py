"""Searches in the messages of all sessions."""

import sqlite3
from pathlib import Path

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import Message
from kimi_tui.history.session import SessionStore
from kimi_tui.session_search.session_searcher import FILE_NAME, SessionSearcher
from kimi_tui.wire.message_search import MessageMatch
from tests.session_search.session_files import WORK_DIR, SessionFiles, call, result


@pytest.fixture
def searcher(tmp_path: Path) -> SessionSearcher:
    return SessionSearcher(tmp_path)


def find(searcher: SessionSearcher, text: str) -> list[MessageMatch]:
    searcher.update()
    return list(searcher.search(text).matches)


def passages(searcher: SessionSearcher, text: str) -> list[str]:
    return [match.passage for match in find(searcher, text)]


def test_a_message_is_found_by_its_words_in_any_order(tmp_path: Path, searcher: SessionSearcher) -> None:
    SessionFiles(tmp_path).add_prompt("The login form returns 500")

    assert passages(searcher, "form login") == ["The login form returns 500"]
    assert passages(searcher, "LOGIN") == ["The login form returns 500"]
    assert passages(searcher, "login page") == []


def test_the_last_word_may_be_incomplete(tmp_path: Path, searcher: SessionSearcher) -> None:
    SessionFiles(tmp_path).add_prompt("Validate the signature")

    assert passages(searcher, "validate sig") == ["Validate the signature"]


def test_words_in_quotes_must_follow_each_other(tmp_path: Path, searcher: SessionSearcher) -> None:
    session = SessionFiles(tmp_path)
    session.add_prompt("revert the plan")
    session.add_prompt("plan the revert")

    assert passages(searcher, '"the plan"') == ["revert the plan"]


@pytest.mark.parametrize("words", ["查点", "检查点", "点", "时间 检查", "回到检查点"])
def test_chinese_words_of_any_length_are_found(tmp_path: Path, searcher: SessionSearcher, words: str) -> None:
    SessionFiles(tmp_path).add_prompt("时间线：回到检查点7")

    assert passages(searcher, words) == ["时间线：回到检查点7"]


def test_pairs_that_are_not_adjacent_do_not_match(tmp_path: Path, searcher: SessionSearcher) -> None:
    SessionFiles(tmp_path).add_prompt("检查代码，查点心")

    assert passages(searcher, "检查点") == []


@pytest.mark.parametrize("words", ["cafe", "café", "CAFÉ", "validate_form", "a.py"])
def test_accents_and_punctuation(tmp_path: Path, searcher: SessionSearcher, words: str) -> None:
    SessionFiles(tmp_path).add_prompt("The Café calls validate_form in a.py")

    assert len(find(searcher, words)) == 1


def test_calls_and_their_output_are_found_with_their_speaker(
    tmp_path: Path, searcher: SessionSearcher
) -> None:
    session = SessionFiles(tmp_path)
    session.add(call("Bash", '{"command": "pytest -k \\"login\\""}'), result("3 passed, 1 failed"))

    (command,) = find(searcher, "pytest")
    assert (command.speaker, command.passage) == ("agent", 'Bash pytest -k "login"')
    (output,) = find(searcher, "failed")
    assert (output.speaker, output.passage) == ("tool", "3 passed, 1 failed")


def test_system_notes_are_not_messages(tmp_path: Path, searcher: SessionSearcher) -> None:
    SessionFiles(tmp_path).add(Message("user", (TextPart("<system>The todo list is empty</system>"),)))

    assert passages(searcher, "todo") == []


def test_a_match_names_its_session_checkpoint_and_place(tmp_path: Path, searcher: SessionSearcher) -> None:
    session = SessionFiles(tmp_path, "fix-login")
    session.add_prompt("hello")
    session.add_prompt(f"{'x ' * 3_000}needle{' y' * 3_000}")

    (match,) = find(searcher, "needle")
    assert (match.session_id, match.checkpoint, match.time, match.work_dir) == ("fix-login", 1, 1_001.0, "")
    ((start, end),) = match.matches
    assert match.passage[start:end] == "needle"
    assert len(match.passage) <= 2_000


def test_newer_messages_come_first(tmp_path: Path, searcher: SessionSearcher) -> None:
    session = SessionFiles(tmp_path)
    for number in range(3):
        session.add_prompt(f"try {number}")

    assert passages(searcher, "try") == ["try 2", "try 1", "try 0"]
    searcher.update()
    matches = searcher.search("try", limit=2)
    assert ([match.passage for match in matches.matches], matches.has_more) == (["try 2", "try 1"], True)


def test_new_messages_are_indexed_and_old_ones_not_again(tmp_path: Path, searcher: SessionSearcher) -> None:
    session = SessionFiles(tmp_path)
    session.add_prompt("first try")
    assert passages(searcher, "try") == ["first try"]

    session.add_prompt("second try")
    assert passages(searcher, "try") == ["second try", "first try"]


def test_a_reverted_message_is_found_and_not_on_the_current_branch(
    tmp_path: Path, searcher: SessionSearcher
) -> None:
    session = SessionFiles(tmp_path)
    session.add_prompt("kept needle")
    session.add_prompt("reverted needle")
    assert [match.is_on_current_branch for match in find(searcher, "needle")] == [True, True]

    session.revert(1)
    session.add_prompt("new needle")

    matches = find(searcher, "needle")
    assert {(match.passage, match.is_on_current_branch) for match in matches} == {
        ("new needle", True),
        ("reverted needle", False),
        ("kept needle", True),
    }
    assert len(matches) == 3


def test_the_order_of_indexing_and_reverts_makes_no_difference(tmp_path: Path) -> None:
    session = SessionFiles(tmp_path)
    early = SessionSearcher(tmp_path)
    for number in range(6):
        session.add_prompt(f"needle {number}")
        early.update()
        if number % 2:
            session.revert(number)
            early.update()
    early_matches = {(it.passage, it.checkpoint, it.is_on_current_branch) for it in find(early, "needle")}
    early.close()
    (tmp_path / FILE_NAME).unlink()

    late = SessionSearcher(tmp_path)
    assert {
        (it.passage, it.checkpoint, it.is_on_current_branch) for it in find(late, "needle")
    } == early_matches
    assert len(early_matches) == 6


def test_messages_of_sub_agents_belong_to_the_session(tmp_path: Path, searcher: SessionSearcher) -> None:
    SessionFiles(tmp_path).add_prompt("hello")
    SessionFiles(tmp_path, subagent="a1").add_prompt("explore the parser")

    (match,) = find(searcher, "parser")
    assert match.session_id == "s1"


def test_a_deleted_session_is_not_found(tmp_path: Path, searcher: SessionSearcher) -> None:
    for name in ("s1", "s2", "s3"):
        SessionFiles(tmp_path, name).add_prompt(f"needle {name}")
    assert len(find(searcher, "needle")) == 3

    store = SessionStore(tmp_path)
    store.delete(store.create(WORK_DIR, "s2"))

    assert sorted(passages(searcher, "needle")) == ["needle s1", "needle s3"]


def test_many_deleted_sessions_leave_no_words_in_the_index(tmp_path: Path, searcher: SessionSearcher) -> None:
    SessionFiles(tmp_path, "s1").add_prompt("needle")
    SessionFiles(tmp_path, "s2").add_prompt("classified")
    searcher.update()
    store = SessionStore(tmp_path)
    store.delete(store.create(WORK_DIR, "s2"))
    searcher.update()
    searcher.close()

    database = b"".join(path.read_bytes() for path in tmp_path.glob(f"{FILE_NAME}*"))
    assert b"needle" in database
    assert b"classified" not in database


def test_a_damaged_index_is_built_again(tmp_path: Path, searcher: SessionSearcher) -> None:
    SessionFiles(tmp_path).add_prompt("needle")
    (tmp_path / FILE_NAME).write_bytes(b"not a database" * 100)

    assert passages(searcher, "needle") == ["needle"]


def test_an_index_of_another_version_is_built_again(tmp_path: Path, searcher: SessionSearcher) -> None:
    SessionFiles(tmp_path).add_prompt("needle")
    searcher.update()
    searcher.close()
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()

    assert passages(searcher, "needle") == ["needle"]


def test_indexing_continues_where_it_was_stopped(tmp_path: Path, searcher: SessionSearcher) -> None:
    session = SessionFiles(tmp_path)
    for number in range(40):
        session.add_prompt(f"needle {number} " + "word " * 20_000)
    seen = []
    while not seen or seen[-1] < 1:
        seen.append(searcher.update(deadline=0))
        searcher.close()  # as after a kill: only what is in the database counts

    assert len(seen) > 2
    assert seen == sorted(seen)
    assert len(find(searcher, "needle")) == 40


def test_damaged_lines_and_binary_text_are_skipped(tmp_path: Path, searcher: SessionSearcher) -> None:
    session = SessionFiles(tmp_path)
    session.add_prompt("first needle")
    with session.journal.open("ab") as file:
        file.write(
            b'{"role":"user","content":"torn\n\xff\xfe{"role":"user"}\n[1]\n{"role":"user","content":7}\n'
        )
    session.add_prompt("second needle \0 \x1b[31m")
    with session.journal.open("ab") as file:
        file.write(b'{"role":"user","content":"third needle')  # a write in progress

    assert len(find(searcher, "needle")) == 2


@pytest.mark.parametrize("text", ["", "  ", "…", '"', "* OR NOT (", "-", "a* NEAR b"])
def test_any_text_can_be_searched(tmp_path: Path, searcher: SessionSearcher, text: str) -> None:
    SessionFiles(tmp_path).add_prompt("hello")

    assert find(searcher, text) == []


def test_the_index_is_private(tmp_path: Path, searcher: SessionSearcher) -> None:
    SessionFiles(tmp_path).add_prompt("hello")
    searcher.update()

    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob(f"{FILE_NAME}*")} == {0o600}

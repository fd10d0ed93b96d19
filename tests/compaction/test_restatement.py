"""What is restated after a compaction."""

from kimi_tui.base.content import TextPart
from kimi_tui.base.message import Message
from kimi_tui.compaction.restatement import MOST_FILES, files_in_play, is_restatement, restatement
from kimi_tui.wire.display import TodoItem
from tests.compaction.conversations import note, said, step


def test_todos_and_files_are_named() -> None:
    stated = restatement([TodoItem("mend it", "in_progress")], ["src/a.py"], under_way=True).text
    assert "[in_progress] mend it" in stated
    assert "src/a.py" in stated
    assert "still holds" in stated


def test_without_a_request_under_way_none_is_spoken_of() -> None:
    assert "request" not in restatement([], [], under_way=False).text


def test_it_is_known_by_its_words_and_the_users_words_are_not_taken_for_it() -> None:
    stated = restatement([], ["a"], under_way=True)
    assert is_restatement(stated)
    assert not is_restatement(said("The conversation was compacted."))
    assert not is_restatement(Message("user", (*stated.content, TextPart("and do it"))))
    assert not is_restatement(note("CHECKPOINT 1"))


def test_files_come_from_calls_each_once_the_latest_last() -> None:
    history = [
        *step(1, "text", path="a.py"), *step(2, "text", file_path="b.py"), *step(3, "text", path="a.py"),
        *step(4, "<system>ERROR: no such file</system>", path="gone.py"), *step(5, "x", command="ls"),
    ]  # fmt: skip
    assert files_in_play(history) == ["b.py", "a.py"]


def test_files_of_an_earlier_compaction_are_not_forgotten() -> None:
    before = restatement([TodoItem("- a trap")], ["a.py", "b.py"], under_way=True)
    assert files_in_play([before, *step(1, "text", path="c.py")]) == ["a.py", "b.py", "c.py"]


def test_only_the_latest_files_are_named() -> None:
    history = [message for n in range(40) for message in step(n, "x", path=f"{n}.py")]
    files = files_in_play(history)
    assert len(files) == MOST_FILES
    assert files[-1] == "39.py"


def test_a_path_stays_on_its_line() -> None:
    assert files_in_play(step(1, "x", path="a\nb.py")) == files_in_play(step(1, "x", path="a b.py"))

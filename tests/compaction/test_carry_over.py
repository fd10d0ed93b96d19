"""Carry-over note after a compaction."""

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import Message
from kimi_tui.compaction.carry_over import MAX_FILES, build_carry_over, is_carry_over, touched_files
from kimi_tui.wire.display_blocks import TodoItem
from tests.compaction.conversations import note, tool_step, user


def test_the_note_lists_todos_and_files() -> None:
    carry_over = build_carry_over([TodoItem("fix it", "in_progress")], ["src/a.py"], in_progress=True).text
    assert "[in_progress] fix it" in carry_over
    assert "src/a.py" in carry_over
    assert "still in progress" in carry_over


def test_without_a_request_in_progress_the_note_mentions_none() -> None:
    assert "request" not in build_carry_over([], [], in_progress=False).text


def test_user_messages_are_not_mistaken_for_the_note() -> None:
    carry_over = build_carry_over([], ["a"], in_progress=True)
    assert is_carry_over(carry_over)
    assert not is_carry_over(user("The conversation was compacted."))
    assert not is_carry_over(Message("user", (*carry_over.content, TextPart("and do it"))))
    assert not is_carry_over(note("CHECKPOINT 1"))


def test_files_of_successful_calls_are_listed_once_latest_last() -> None:
    history = [
        *tool_step(1, "text", path="a.py"),
        *tool_step(2, "text", file_path="b.py"),
        *tool_step(3, "text", path="a.py"),
        *tool_step(4, "<system>ERROR: no such file</system>", path="gone.py"),
        *tool_step(5, "x", command="ls"),
    ]
    assert touched_files(history) == ["b.py", "a.py"]


def test_files_of_an_earlier_note_are_kept() -> None:
    earlier_note = build_carry_over([TodoItem("- a trap")], ["a.py", "b.py"], in_progress=True)
    assert touched_files([earlier_note, *tool_step(1, "text", path="c.py")]) == ["a.py", "b.py", "c.py"]


def test_only_the_latest_files_are_listed() -> None:
    history = [message for n in range(40) for message in tool_step(n, "x", path=f"{n}.py")]
    files = touched_files(history)
    assert len(files) == MAX_FILES
    assert files[-1] == "39.py"


def test_a_line_break_in_a_path_is_replaced() -> None:
    assert touched_files(tool_step(1, "x", path="a\nb.py")) == touched_files(tool_step(1, "x", path="a b.py"))

"""A closed terminal ends the program without losing the conversation."""

from tests.e2e.program import Program, script
from tests.e2e.screen import Screen


def journal(program: Program) -> str:
    (path,) = program.context_files
    return path.read_text()


def test_closing_the_terminal_during_a_response_ends_the_program(program: Program) -> None:
    program.script(script("text: I begin", "chunk: 200", "text: " + "and go on " * 2000))
    screen = Screen(program)
    screen.wait_for("Ask anything")
    screen.type("tell me")
    screen.press("enter")
    screen.wait_for("and go on")
    screen.close_terminal()
    screen.wait()
    assert "tell me" in journal(program)
    assert "I begin" in journal(program)


def test_the_line_that_is_printed_on_exit_is_no_error_without_a_terminal(program: Program) -> None:
    program.script("text: hello")
    screen = Screen(program)
    screen.wait_for("Ask anything")
    screen.type("tell me")
    screen.press("enter")
    screen.wait_for("hello")
    screen.close_terminal()
    screen.wait()
    log = "".join(path.read_text() for path in (program.data_dir / "logs").iterdir())
    assert "can't print to the terminal" in log
    assert "internal error" not in log
    assert "Traceback" not in log

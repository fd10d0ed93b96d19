"""A terminal that goes away takes the program with it, and nothing that was said."""

from tests.e2e.program import Program, script
from tests.e2e.screen import Screen


def journal(program: Program) -> str:
    (path,) = program.context_files
    return path.read_text()


def test_the_program_ends_with_its_terminal_in_the_middle_of_an_answer(program: Program) -> None:
    program.script(script("text: I begin", "chunk: 200", "text: " + "and go on " * 2000))
    screen = Screen(program)
    screen.until("Ask anything")
    screen.type("tell me")
    screen.press("enter")
    screen.until("and go on")
    screen.vanish()
    screen.wait()
    assert "tell me" in journal(program)
    assert "I begin" in journal(program)

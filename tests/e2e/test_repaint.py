"""What the screen shows after many small frames is what it shows when all is drawn anew."""

from tests.e2e.program import Program, script
from tests.e2e.screen import Screen

PARAGRAPHS = [
    f"**{number}** 请看第{number}行，`code_{number}` and then some words to fill the line with. " * 2
    + "- a list"
    for number in range(30)
]


def without_bar(text: str) -> list[str]:
    """The screen without the column of the scroll bar, which goes by guessed heights."""
    return [line.rstrip(" ▁▂▃▄▅▆▇█") for line in text.split("\n")[1:-5]]


def test_a_streamed_answer_looks_the_same_when_it_is_drawn_anew(program: Program) -> None:
    program.script(
        script("chunk: 3000", *(f"text: {text}\\n\\n" for text in PARAGRAPHS), "text: that is all")
    )
    screen = Screen(program, columns=90, lines=24)
    try:
        screen.until("Ask anything")
        screen.type("看")
        screen.until("看")
        screen.press("enter")
        screen.until(lambda text: "that is all" in text and "interrupts" not in text)
        screen.type("next 你好")
        screen.until("next 你好")
        streamed = screen.rest()
        screen.resize(80, 20)
        screen.until(lambda text: any(len(line) == 80 and line.endswith("╮") for line in text.split("\n")))
        screen.rest()
        screen.resize(90, 24)
        screen.until(lambda text: any(len(line) == 90 and line.endswith("╮") for line in text.split("\n")))
        assert without_bar(screen.rest()) == without_bar(streamed)
    finally:
        screen.close()

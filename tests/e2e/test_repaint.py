"""The screen after many incremental frames equals a full repaint."""

from tests.e2e.program import Program, script
from tests.e2e.screen import Screen

PARAGRAPHS = [
    f"**{number}** 请看第{number}行，`code_{number}` and then some words to fill the line with. " * 2
    + "- a list"
    for number in range(30)
]


def without_scroll_bar(text: str) -> list[str]:
    """Return the lines without the column of the scroll bar, whose position depends on estimated heights."""
    return [line.rstrip(" ▁▂▃▄▅▆▇█") for line in text.split("\n")[1:-5]]


def test_a_streamed_response_looks_the_same_after_a_full_repaint(program: Program) -> None:
    program.script(
        script("chunk: 3000", *(f"text: {text}\\n\\n" for text in PARAGRAPHS), "text: that is all")
    )
    screen = Screen(program, columns=90, lines=24)
    try:
        screen.wait_for("Ask anything")
        screen.type("看")
        screen.wait_for("看")
        screen.press("enter")
        screen.wait_for(lambda text: "that is all" in text and "to interrupt" not in text)
        screen.type("next 你好")
        screen.wait_for("next 你好")
        streamed = screen.wait_until_idle()
        screen.resize(80, 20)
        screen.wait_for(lambda text: any(len(line) == 80 and line.endswith("╮") for line in text.split("\n")))
        screen.wait_until_idle()
        screen.resize(90, 24)
        screen.wait_for(lambda text: any(len(line) == 90 and line.endswith("╮") for line in text.split("\n")))
        assert without_scroll_bar(screen.wait_until_idle()) == without_scroll_bar(streamed)
    finally:
        screen.close()

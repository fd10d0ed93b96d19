"""Minimal Markdown view of a stream: `python -m benchmarks.baselines.block_view URL`.

Rich renders each complete block once, and the incomplete one up to 20 times a second. An input is below the
view. There is no folding, selection, search or storage. This is the minimum cost of streaming Markdown to a
terminal with Textual.
"""

import json
import sys

import httpx
from rich.markdown import Markdown
from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import Input

DRAW_S = 1 / 20


class BlockView(ScrollView):
    """Rendered lines of complete blocks and of the incomplete block."""

    DEFAULT_CSS = "BlockView { width: 1fr; height: 1fr; overflow-y: scroll; }"

    def __init__(self) -> None:
        super().__init__()
        self._lines_above: list[Strip] = []
        self._growing = ""
        self._lines_growing: list[Strip] = []
        self._due: Timer | None = None

    def feed(self, text: str) -> None:
        """Append a fragment of text."""
        self._growing += text
        if self._due is None:
            self._due = self.set_timer(DRAW_S, self.draw)

    def draw(self) -> None:
        """Render the text received since the last call."""
        self._due = None
        *blocks, last = self._growing.split("\n\n")
        held = ""
        for block in blocks:
            held = f"{held}\n\n{block}" if held else block
            if held.count("```") % 2 == 0:
                self._lines_above += self._render(held)
                held = ""
        self._growing = f"{held}\n\n{last}" if held else last
        self._lines_growing = self._render(self._growing)
        self.virtual_size = Size(self.size.width, len(self._lines_above) + len(self._lines_growing))
        self.scroll_end(animate=False, immediate=True)
        self.refresh()

    def _render(self, source: str) -> list[Strip]:
        console = self.app.console
        lines = console.render_lines(Markdown(source), console.options.update_width(self.size.width))
        return [*map(Strip, lines), Strip.blank(self.size.width)]

    def render_line(self, y: int) -> Strip:
        """Return the line at `y` of the visible region."""
        y += self.scroll_offset.y
        closed = len(self._lines_above)
        if y < closed:
            strip = self._lines_above[y]
        else:
            strip = (
                self._lines_growing[y - closed]
                if y - closed < len(self._lines_growing)
                else Strip.blank(self.size.width)
            )
        return strip.crop_extend(0, self.size.width, self.rich_style)


class Viewer(App[None]):
    """Streams one response into the view when enter is pressed."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    def compose(self) -> ComposeResult:
        """Create the view and the input."""
        yield BlockView()
        yield Input()

    def on_mount(self) -> None:
        """Focus the input. Its cursor must not blink, because the benchmark waits until nothing is drawn."""
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Request the response."""
        event.input.clear()
        self.run_worker(self._ask())

    async def _ask(self) -> None:
        view = self.query_one(BlockView)
        async with httpx.AsyncClient(timeout=None) as client:
            request = client.stream(
                "POST", f"{self._url}/chat/completions", json={"messages": [], "stream": True}
            )
            async with request as response:
                async for line in response.aiter_lines():
                    if line.startswith("data: ") and line != "data: [DONE]":
                        choices = json.loads(line[6:])["choices"]
                        if choices and (text := choices[0]["delta"].get("content")):
                            view.feed(text)


if __name__ == "__main__":
    Viewer(sys.argv[1]).run()

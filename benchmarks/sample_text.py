"""Deterministic text that the model server streams."""

import random
from collections.abc import Iterator

_WORDS = """
the quick brown fox jumps over a lazy dog while considering how parsers handle streaming input and render
lines of output for people who work in terminals all day long
""".split()  # noqa: SIM905 - text is easier to read than a list


def markdown(words: int, *, seed: int = 7) -> str:
    """Return about `words` words of Markdown: paragraphs, lists, headings, tables and Python code."""
    rng = random.Random(seed)
    blocks: list[str] = []
    written = 0
    while written < words:
        block = _block(rng)
        blocks.append(block)
        written += len(block.split())
    return "\n\n".join(blocks)


def tokens(text: str, *, seed: int = 7) -> Iterator[str]:
    """Yield `text` in pieces of 2 to 6 characters, the size of a model's tokens."""
    rng = random.Random(seed)
    start = 0
    while start < len(text):
        end = start + rng.randint(2, 6)
        yield text[start:end]
        start = end


def _some(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(_WORDS, k=count))


def _block(rng: random.Random) -> str:
    kind = rng.choices(["paragraph", "list", "code", "heading", "table"], [55, 15, 12, 8, 10])[0]
    match kind:
        case "paragraph":
            marked = f"**{_some(rng, 1)}** and `{_some(rng, 1)}`"
            return f"{_some(rng, 3)} {marked} {_some(rng, rng.randint(25, 85))}"
        case "list":
            return "\n".join(f"- {_some(rng, rng.randint(5, 14))}" for _ in range(rng.randint(3, 7)))
        case "code":
            lines = (
                f"    value_{n} = compute({n}, name='{_some(rng, 1)}')" for n in range(rng.randint(4, 14))
            )
            return "```python\ndef work():\n" + "\n".join(lines) + "\n```"
        case "heading":
            return f"## {_some(rng, 5)}"
        case _:
            cells = (f"| {_some(rng, 3)} | {_some(rng, 2)} | {n} |" for n in range(rng.randint(2, 6)))
            return "| a | b | c |\n|---|---|---|\n" + "\n".join(cells)

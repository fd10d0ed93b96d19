"""The texts that models stream in the benchmarks: the same ones in every run."""

import random
from collections.abc import Iterator

_WORDS = """
the quick brown fox jumps over a lazy dog while considering how parsers handle streaming input and render
lines of output for people who work in terminals all day long
""".split()  # noqa: SIM905 - a text is easier to read than its list


def markdown(words: int, *, seed: int = 7) -> str:
    """About `words` words: paragraphs, lists, headings, tables and Python code, as answers have them."""
    chance = random.Random(seed)
    blocks: list[str] = []
    written = 0
    while written < words:
        block = _block(chance)
        blocks.append(block)
        written += len(block.split())
    return "\n\n".join(blocks)


def tokens(text: str, *, seed: int = 7) -> Iterator[str]:
    """`text` in pieces of 2 to 6 characters, the size of a model's tokens."""
    chance = random.Random(seed)
    start = 0
    while start < len(text):
        end = start + chance.randint(2, 6)
        yield text[start:end]
        start = end


def _some(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(_WORDS, k=count))


def _block(chance: random.Random) -> str:
    kind = chance.choices(["paragraph", "list", "code", "heading", "table"], [55, 15, 12, 8, 10])[0]
    match kind:
        case "paragraph":
            marked = f"**{_some(chance, 1)}** and `{_some(chance, 1)}`"
            return f"{_some(chance, 3)} {marked} {_some(chance, chance.randint(25, 85))}"
        case "list":
            return "\n".join(f"- {_some(chance, chance.randint(5, 14))}" for _ in range(chance.randint(3, 7)))
        case "code":
            lines = (
                f"    value_{n} = compute({n}, name='{_some(chance, 1)}')"
                for n in range(chance.randint(4, 14))
            )
            return "```python\ndef work():\n" + "\n".join(lines) + "\n```"
        case "heading":
            return f"## {_some(chance, 5)}"
        case _:
            cells = (
                f"| {_some(chance, 3)} | {_some(chance, 2)} | {n} |" for n in range(chance.randint(2, 6))
            )
            return "| a | b | c |\n|---|---|---|\n" + "\n".join(cells)

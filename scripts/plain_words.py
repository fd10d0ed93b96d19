"""Counts phrases that read as translated, and modules named by a metaphor.

    python scripts/plain_words.py [--list]

Looks at README, docs, prompts and agents (without code), the message ids of `languages/*.po`, docstrings and
comments of `kimi_tui/`, and module names. Prints a row for each: words, hits, hits per 1,000 words. `--list`
prints each hit first. Fails if a module has such a name or a row has more than 0.5 hits per 1,000 words;
well-known Python packages have 0.3.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PHRASES = Path(__file__).with_suffix(".txt")
MAX_HITS_PER_1000 = 0.5
_DOC_PATTERNS = ("*.md", "docs/**/*.md", "prompts/**/*.md", "agents/**/*.md", "agents/**/*.yaml")
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_WORD = re.compile(r"[A-Za-z][\w'’-]*")


class Line(NamedTuple):
    """A line of prose and where it is."""

    path: Path
    number: int
    text: str


def read_rules() -> tuple[list[re.Pattern[str]], set[str]]:
    """Return the phrases, and the module names that are metaphors."""
    phrases, _, modules = PHRASES.read_text("utf-8").partition("[modules]")
    lines = (line.strip() for line in phrases.splitlines())
    rules = [re.compile(line, re.IGNORECASE) for line in lines if line and not line.startswith("#")]
    return rules, set(modules.split())


def doc_lines() -> Iterator[Line]:
    """Yield the prose of the documentation and prompts in English, without code."""
    for pattern in _DOC_PATTERNS:
        for path in sorted(ROOT.glob(pattern)):
            if not path.name.endswith(".zh.md"):
                text = re.sub(
                    r"```.*?```",
                    lambda block: "\n" * block.group(0).count("\n"),
                    path.read_text("utf-8"),
                    flags=re.DOTALL,
                )
                for number, line in enumerate(text.splitlines(), 1):
                    yield Line(path, number, re.sub(r"`[^`]*`", " ", line))


def message_lines() -> Iterator[Line]:
    """Yield the English messages of the catalogs."""
    for path in sorted(ROOT.glob("languages/*.po")):
        is_source = False
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if not line.startswith('"'):
                is_source = line.startswith("msgid")
            if is_source and '"' in line:
                yield Line(path, number, line.split('"', 1)[1].rstrip('"'))


def code_lines() -> Iterator[Line]:
    """Yield docstrings (each as one line) and comments of the package."""
    for path in sorted(ROOT.glob("kimi_tui/**/*.py")):
        source = path.read_text("utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, _DOCUMENTED) and (docstring := ast.get_docstring(node)):
                yield Line(path, getattr(node, "lineno", 1), docstring.replace("\n", " "))
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and not token.string.startswith("# noqa"):
                yield Line(path, token.start[0], token.string)


def metaphor_modules(metaphors: set[str]) -> list[Path]:
    """Return the modules that are named by a metaphor."""
    return [
        path
        for path in sorted(ROOT.glob("kimi_tui/**/*.py"))
        if path.stem in metaphors or f"{path.parent.name}/{path.stem}" in metaphors
    ]


def count_hits(lines: Iterator[Line], rules: list[re.Pattern[str]], *, is_listed: bool) -> tuple[int, int]:
    """Return how many words and how many hits `lines` have."""
    words = hits = 0
    for path, number, text in lines:
        words += len(_WORD.findall(text))
        for match in (match for rule in rules for match in rule.finditer(text)):
            hits += 1
            if is_listed:
                print(f"{path.relative_to(ROOT)}:{number}: {match[0]!r}: {text.strip()[:110]}")
    return words, hits


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description="Count phrases that read as translated.")
    parser.add_argument("--list", action="store_true", help="print each hit")
    is_listed = parser.parse_args().list
    rules, metaphors = read_rules()
    sources: dict[str, Callable[[], Iterator[Line]]] = {
        "docs": doc_lines,
        "interface": message_lines,
        "docstrings": code_lines,
    }
    worst = 0.0
    for name, lines in sources.items():
        words, hits = count_hits(lines(), rules, is_listed=is_listed)
        rate = 1000 * hits / max(words, 1)
        worst = max(worst, rate)
        print(f"{name:<11} {words:>7} words {hits:>5} hits {rate:6.1f} per 1,000")
    modules = metaphor_modules(metaphors)
    print(f"modules     {len(modules)} named by a metaphor")
    for path in modules:
        print(f"  {path.relative_to(ROOT)}")
    return int(bool(modules) or worst > MAX_HITS_PER_1000)


if __name__ == "__main__":
    sys.exit(main())

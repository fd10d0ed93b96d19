"""Searches find the same messages as a scan that compares each text."""

import json
import random
import re
import unicodedata
from pathlib import Path

import pytest

from kimi_tui.session_search.session_searcher import SessionSearcher
from tests.session_search.session_files import SessionFiles

WORDS = (
    *(
        "return",
        "value",
        "Value",
        "revalue",
        "none",
        "café",
        "CAFE",
        "ΛΌΓΟΣ",
        "йод",
        "é",
        "e\u0301t",
        "\u212b",
    ),
    *("检查点", "检查代码", "查点", "点", "한국어", "ガス"),
    *("a/b", "self.x", "self x", "x_y", 'x"y', "x\\y", "x\\u00e9", "\ttab", "🙂", "⚠"),
)
SEPARATORS = (" ", " ", "  ", "\n", "", ", ", ".", "。", "\x1b")
QUERIES = (
    *("return", "retur", '"return value"', '"value return"', '"return value" none', '"none return" val', "n"),
    *("cafe", "café", '"cafe none"', "é", "et", "å", "λόγοσ", "йод", "한국", "ガス", "カ", "re", "va"),
    *("检查点", "查点", "点", '"检查点 value"', '"点 x"', "a/b", '"a/b self"', "self.x", "self.", '"self x"'),
    *("x_y", '"x y"', "x\\y", "x\\u00e9", "u00e9", "tab value", '"🙂 x"', '"⚠ x"'),
    *('"bash return"', '"bash value', "readfile a", '"readfile return"', "role", "content", '"tool_calls"'),
)
IDEOGRAPH = r"\u30a0-\u30ff\u4e00-\u9fff\uac00-\ud7af"
LETTER = rf"[^\W_{IDEOGRAPH}]"


def fold(text: str) -> str:
    parts = (part for character in text for part in unicodedata.normalize("NFD", character.lower()))
    return unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))


def scan(texts: list[str], query: str) -> set[str]:
    """Return the texts with all terms of a query; each word of it is a word there, the last a beginning."""
    terms = [
        fold(" ".join((quoted or word).split())) for quoted, word in re.findall(r'"([^"]+)"|([^\s"]+)', query)
    ]
    words = [word for term in terms for word in re.findall(rf"{LETTER}+|[{IDEOGRAPH}]+", term)]
    patterns = [rf"(?<!{LETTER}){word}(?!{LETTER})" for word in words if re.match(LETTER, word)]
    if patterns and re.fullmatch(f"{LETTER}{{3,}}", words[-1]):
        patterns[-1] = rf"(?<!{LETTER}){words[-1]}"
    return {
        text
        for text in texts
        if all(term in fold(text) for term in terms)
        and all(re.search(pattern, fold(text)) for pattern in patterns)
    }


def write_session(data_dir: Path, choose: random.Random) -> list[str]:
    """Write messages of random words, as different programs encode them. Return their texts."""
    journal, texts = SessionFiles(data_dir).journal, []
    with journal.open("w") as file:
        for _ in range(150):
            text, value = (_random_text(choose) for _ in range(2))
            record: dict[str, object] = {
                "role": choose.choice(("user", "assistant", "tool")),
                "content": text,
            }
            if record["role"] == "assistant":
                name, is_ascii = choose.choice(("Bash", "ReadFile")), choose.random() < 0.5
                arguments = json.dumps({"a": [value]}, ensure_ascii=is_ascii)
                record["tool_calls"] = [{"function": {"name": name, "arguments": arguments}}]
                text = f"{text}\n{name} {value}"
            line = json.dumps(record, ensure_ascii=choose.random() < 0.5)
            file.write((line.replace("/", "\\/") if choose.random() < 0.3 else line) + "\n")
            texts.append(text)
    return texts


def _random_text(choose: random.Random) -> str:
    pieces = (choose.choice(WORDS) + choose.choice(SEPARATORS) for _ in range(choose.randrange(1, 7)))
    return "".join(pieces).strip()


@pytest.mark.parametrize("seed", range(8))
def test_a_search_finds_what_a_scan_finds(tmp_path: Path, seed: int) -> None:
    texts = write_session(tmp_path, random.Random(seed))
    searcher = SessionSearcher(tmp_path)
    searcher.update()

    for query in QUERIES:
        found = {match.passage for match in searcher.search(query, limit=1_000).matches}
        assert found == scan(texts, query), query

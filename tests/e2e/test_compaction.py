"""Compaction in the program: on request, and as docs/compaction.md configures it."""

import json
import re
from pathlib import Path

import pytest

from kimi_tui.config.settings import BUILTIN_STRATEGIES
from tests.e2e.program import Program, script, tool_call

PAGE = (Path(__file__).parents[2] / "docs" / "compaction.md").read_text("utf-8")


def current_branch_text(program: Program) -> list[str]:
    """Return the texts of the messages on the current branch of the only session."""
    (journal,) = program.context_files
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    texts = [record["content"] for record in records if record["role"] in {"user", "assistant", "tool"}]
    return [text if isinstance(text, str) else "".join(it.get("text", "") for it in text) for text in texts]


def test_the_session_continues_after_a_compaction(program: Program) -> None:
    program.script("text: one", "text: two", "text: three", "text: THE SUMMARY")
    prompts = [
        json.dumps({"role": "user", "content": text}) for text in ("a", "b", "c", "/compact the names")
    ]
    finished = program.run(
        "--print", "--input-format", "stream-json", "--output-format", "stream-json", stdin="\n".join(prompts)
    )
    assert finished.exit_code == 0
    assert finished.result["turns"] == 4
    assert "compacted from" in finished.stderr
    assert current_branch_text(program)[1:] == ["c", "three"]

    program.script("text: four")
    assert program.run("--print", "--continue", "-p", "d").stdout == "four\n"
    first, *_, prompt, response = current_branch_text(program)
    assert first.endswith("THE SUMMARY")
    assert (prompt, response) == ("d", "four")


@pytest.mark.parametrize(
    ("window", "threshold"), [(65_536, 55_706), (128_000, 108_800), (200_000, 170_000), (262_144, 222_823)]
)
def test_by_default_compaction_starts_at_85_percent_of_the_window_as_context_says(
    program: Program, window: int, threshold: int
) -> None:
    below, above = threshold - 300, threshold + 1
    program.script(f"text: one\nusage: input_other={below}", f"text: two\nusage: input_other={above}",
                   "text: THE SUMMARY", "text: three")  # fmt: skip
    config = program.data_dir / "config.toml"
    config.write_text(config.read_text().replace("max_context_size = 100000", f"max_context_size = {window}"))
    prompts = [json.dumps({"role": "user", "content": text}) for text in ("a", "b", "c")]
    done = program.run("--print", "--input-format", "stream-json", stdin="\n".join(prompts))
    assert (done.exit_code, done.stdout) == (0, "one\ntwo\nthree\n")
    [tokens] = re.findall(r"compacted from ([\d,]+)", done.stderr)
    assert threshold <= int(tokens.replace(",", "")) <= above + 10
    shown = program.run("--print", "--continue", "-p", "/context")
    assert f"The conversation is compacted at {threshold:,} tokens." in shown.stdout


@pytest.mark.parametrize("name", BUILTIN_STRATEGIES)
def test_each_strategy_works_as_the_page_configures_it(program: Program, name: str) -> None:
    (example,) = re.findall(r"```toml\n(\[compaction\].*?)```", PAGE, re.DOTALL)
    assert f"| `{name}` |" in PAGE
    steps = [script(f"text: step {n}", tool_call(f"c{n}", "Glob", pattern=f"*.{n}")) for n in range(8)]
    program.script(*steps, script("text: full", tool_call("c9", "LS", path="."), "usage: input_other=90000"),
                   "text: the end", "text: the very end")  # fmt: skip
    config = program.data_dir / "config.toml"
    config.write_text(config.read_text() + "\n" + re.sub(r'strategy = ".*"', f'strategy = "{name}"', example))
    finished = program.run("--print", "--yolo", "-p", "the request")
    assert finished.exit_code == 0, finished.stderr
    assert "Conversation compacted from 90," in finished.stderr
    assert "the request" in current_branch_text(program)


def test_the_error_names_an_unknown_strategy(program: Program) -> None:
    program.script("text: one")
    config = program.data_dir / "config.toml"
    config.write_text(config.read_text() + '\n[compaction]\nstrategy = "my.house:Short"')
    finished = program.run("--print", "-p", "hi")
    assert finished.exit_code == 1
    assert "my.house:Short" in finished.stderr
    assert "Traceback" not in finished.stderr

"""The program compacts: on demand, and as README.md says it can be configured."""

import json
import re
from pathlib import Path

import pytest

from kimi_tui.config.settings import OWN_STRATEGIES
from tests.e2e.program import Program, script, tool_call

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


def said(program: Program) -> list[str]:
    """What the live line of the only session says."""
    (journal,) = program.context_files
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    texts = [record["content"] for record in records if record["role"] in {"user", "assistant", "tool"}]
    return [text if isinstance(text, str) else "".join(it.get("text", "") for it in text) for text in texts]


def test_the_user_compacts_and_goes_on(program: Program) -> None:
    program.script("text: one", "text: two", "text: three", "text: THE SUMMARY")
    prompts = [
        json.dumps({"role": "user", "content": text}) for text in ("a", "b", "c", "/compact the names")
    ]
    ran = program.run(
        "--print", "--input-format", "stream-json", "--output-format", "stream-json", stdin="\n".join(prompts)
    )
    assert ran.exit_code == 0
    assert ran.result["turns"] == 4
    assert "compacted" in ran.stderr
    assert said(program)[1:] == ["c", "three"]

    program.script("text: four")
    assert program.run("--print", "--continue", "-p", "d").stdout == "four\n"
    first, *_, asked, answered = said(program)
    assert first.endswith("THE SUMMARY")
    assert (asked, answered) == ("d", "four")


@pytest.mark.parametrize("name", OWN_STRATEGIES)
def test_each_strategy_works_as_the_readme_configures_it(program: Program, name: str) -> None:
    (example,) = re.findall(r"```toml\n(\[compaction\].*?)```", README, re.DOTALL)
    assert f"| `{name}` |" in README
    steps = [script(f"text: step {n}", tool_call(f"c{n}", "Glob", pattern=f"*.{n}")) for n in range(8)]
    program.script(*steps, script("text: full", tool_call("c9", "LS", path="."), "usage: input_other=90000"),
                   "text: the end", "text: the very end")  # fmt: skip
    config = program.share_dir / "config.toml"
    config.write_text(config.read_text() + "\n" + re.sub(r'strategy = ".*"', f'strategy = "{name}"', example))
    ran = program.run("--print", "--yolo", "-p", "the request")
    assert ran.exit_code == 0, ran.stderr
    assert "The context is compacted: 90," in ran.stderr
    assert "the request" in said(program)


def test_a_strategy_that_is_not_there_is_named(program: Program) -> None:
    program.script("text: one")
    config = program.share_dir / "config.toml"
    config.write_text(config.read_text() + '\n[compaction]\nstrategy = "my.house:Short"')
    ran = program.run("--print", "-p", "hi")
    assert ran.exit_code == 1
    assert "my.house:Short" in ran.stderr
    assert "Traceback" not in ran.stderr

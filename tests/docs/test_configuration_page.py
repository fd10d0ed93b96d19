"""docs/configuration.md: the reference is current, the examples load and the commands run."""

import subprocess
import sys
from pathlib import Path

import pytest

from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.config.resolved_model import resolve_model
from kimi_tui.tui.keys.keymap import keymap_errors
from tests.docs.pages import DOCS, Example, examples
from tests.e2e.program import Program

SCRIPTS = DOCS.parent / "scripts"


@pytest.mark.parametrize("script", ["configuration_reference.py", "man_page.py"])
def test_generated_pages_are_current(script: str) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPTS / script, "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "example", examples("configuration.md", language="toml"), ids=lambda one: one.heading
)
def test_every_example_loads(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIMI_API_KEY", "sk-x")
    (tmp_path / "config.toml").write_text(example.text)
    settings = settings_of(read_config(data_dir=tmp_path, work_dir=tmp_path, environ={}))
    assert list(keymap_errors(settings.keymap)) == []
    if settings.models:
        assert resolve_model(settings).name == settings.default_model


def test_its_commands_run(tmp_path: Path) -> None:
    program = Program(tmp_path)
    for example in examples("configuration.md", language="sh"):
        for line in example.lines:
            assert program.run(*line.partition("#")[0].split()[1:]).exit_code == 0, line

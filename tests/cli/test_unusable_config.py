"""Configs that can't be used never keep the demo, the help or the repair of the config from starting."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Terminal
from tests.e2e.program import Program


def _write(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(content) and None


UNUSABLE = {
    "an unknown key": _write("config.toml", b"skip_something = true\n"),
    "an unknown key in a table": _write("config.toml", b"[ui]\nmice = true\n"),
    "an invalid value": _write("config.toml", b'theme = "neon"\nlanguage = 3\n'),
    "a model without its size": _write("config.toml", b'[models.x]\nprovider = "y"\nmodel = "z"\n'),
    "a text instead of a table": _write("config.toml", b'providers = "x"\nmodels = 3\nui = []\nkeymap = 1\n'),
    "a rule that can't be parsed": _write("config.toml", b'[permissions]\ndeny = ["Bash("]\nallow = 3\n'),
    "a missing strategy": _write("config.toml", b'[compaction]\nstrategy = "nowhere:Nothing"\n'),
    "invalid TOML": _write("config.toml", b"default_model = [\n"),
    "invalid UTF-8": _write("config.toml", b'default_model = "\xff"\n'),
    "invalid YAML": _write("config.yaml", b"a: [\n"),
    "a list": _write("config.json", b"[]"),
    "a damaged file of keys": _write("credentials.json", b"{"),
    "a damaged file of MCP servers": _write("mcp.json", b"{"),
    "a damaged file of trusted files": _write("trusted.json", b"{"),
}


@pytest.fixture(params=UNUSABLE.values(), ids=UNUSABLE.keys())
def unusable(request: pytest.FixtureRequest, program: Program) -> Program:
    program.data_dir.mkdir(parents=True)
    request.param(program.data_dir)
    return program


def test_the_demo_runs_with_any_config(unusable: Program) -> None:
    done = unusable.run("--demo", "-p", "hello")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.strip()


def test_help_version_and_the_path_of_the_config_need_no_config(unusable: Program) -> None:
    for arguments in (("--help",), ("--help-all",), ("-V",), ("config", "path"), ("mcp", "--help")):
        done = unusable.run(*arguments)
        assert done.exit_code == 0, done.stderr
        assert done.stdout


def test_the_demo_names_what_it_skipped(program: Program) -> None:
    program.configure('theme = "neon"\n[loop_control]\nmax_steps_per_turn = 0\nmax_retries_per_step = 7\n')
    done = program.run("--demo", "-p", "hello")
    assert f'{program.data_dir}/config.toml, line 1: theme is "neon".' in done.stderr
    assert "loop_control.max_steps_per_turn is 0." in done.stderr


def test_the_app_opens_the_demo_with_an_invalid_config(program: Program, terminal: Terminal) -> None:
    program.configure('theme = "neon"\n')
    child = terminal.start("--demo")
    child.expect(r"theme is .neon")
    child.send("\x04")
    child.expect_exact("\x1b[?1049l")


def test_without_the_demo_an_invalid_config_is_still_an_error(program: Program) -> None:
    program.configure("default_yolo = 3\n")
    done = program.run("-p", "hello")
    assert done.exit_code == 1
    assert "default_yolo is 3" in done.stderr


def test_print_mode_runs_without_the_theme_whose_file_was_removed(program: Program) -> None:
    program.script("text: hello")
    config = (program.data_dir / "config.toml").read_text()
    program.configure(f'theme = "ocean"\n{config}')
    done = program.run("-p", "hi")
    assert (done.exit_code, done.stdout.strip(), done.stderr) == (0, "hello", "")
    checked = program.run("config", "check")
    assert checked.exit_code == 1
    assert 'theme is "ocean"' in checked.stdout

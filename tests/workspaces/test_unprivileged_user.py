"""The tests of workspaces pass for users without privileges, too, if root runs them."""

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

from tests.workspaces.corpus_environment import usable_python

NOBODY = 65534
TESTS = (
    "test_read_only_folders.py",
    "test_hostile_commands.py",
    "test_edits_during_commands.py",
    "../engine/test_isolated_subagents.py",
)
ROOT = Path(__file__).parents[2]
MAX_S = 280


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the tests themselves run without privileges")
@pytest.mark.parametrize("module", TESTS)
def test_tests_pass_without_privileges(module: str) -> None:
    python = usable_python()
    packages = sysconfig.get_path("purelib")
    folder = Path(tempfile.mkdtemp(prefix="unprivileged-"))
    os.chown(folder, NOBODY, NOBODY)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join([str(ROOT), packages]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "KIMI_TUI_EDIT_ORDERS": "10",
    }

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [python, *arguments],
            cwd=folder,
            env=environment,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=MAX_S,
        )

    try:
        if (probe := run("-c", "import sys, pydantic, tests; print(sys.version_info[:2])")).returncode:
            pytest.skip(f"Nobody can't read this environment: {probe.stderr.splitlines()[-1]}")
        if probe.stdout.strip() != str(sys.version_info[:2]):
            pytest.skip(f"Nobody can only run another Python: {probe.stdout}")
        tests = str(ROOT / "tests" / "workspaces" / module)
        result = run("-m", "pytest", "-q", "--rootdir", str(ROOT), "--basetemp", str(folder / "t"), tests)
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)
    assert result.returncode == 0, result.stdout[-8000:]
    if "passed" not in result.stdout and "skipped" in result.stdout:
        pytest.skip(result.stdout[-500:])

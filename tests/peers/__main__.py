"""`make peers`: compare kimi-tui with the real Kimi CLI, and print the figures.

Kimi CLI is installed from the package index into `.peers/`, or used from KIMI_TUI_PEER_KIMI_CLI, the path of
its command. acpx is installed there with npm, or used from KIMI_TUI_PEER_ACPX. Toad is installed there with
Python 3.14, or used from KIMI_TUI_PEER_TOAD. Kimi CLI's end-to-end suite isn't in its package:
KIMI_CLI_CHECKOUT names a checkout of its source.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from tests.e2e.program import KIMI_TUI
from tests.peers.comparison import best_agreement, can_be, read_recording, run_all, write_recording
from tests.peers.peer_programs import (
    ACPX,
    KIMI_CLI,
    TOAD,
    find_acpx,
    find_kimi_cli,
    find_toad,
    peer_kimi_cli,
    peer_kimi_tui,
)

ROOT = Path(__file__).parents[2]
KIMI_CLI_VENV = ROOT / ".peers" / "kimi-cli"
TOAD_VENV = ROOT / ".peers" / "toad"
REQUIREMENT = "kimi-cli==1.49.*"
NODE_FOLDER = ROOT / ".peers" / "node"
ACPX_REQUIREMENT = "acpx@0.19"
CHECKOUT = "KIMI_CLI_CHECKOUT"
TOAD_REQUIREMENT = "batrachian-toad==0.6.*"
PYTHONS = ("python3.14", "python3.13", "python3.12", "python3")
TOAD_PYTHONS = ("python3.14", "python3")


def main() -> int:
    """Run everything that can run here. Return 1 if a test failed."""
    print(f"Kimi CLI: {install_kimi_cli()}", flush=True)
    print(f"acpx: {install_acpx()}", flush=True)
    print(f"Toad: {install_toad()}", flush=True)
    compare_scenarios()
    run_suite()
    tests = [sys.executable, "-m", "pytest", "-n", "2", "tests/peers", "tests/e2e/test_kimi_cli_data.py"]
    return subprocess.run([*tests, "-rs"], cwd=ROOT, check=False).returncode


def install_kimi_cli() -> str:
    """Make Kimi CLI available to the tests. Return what is used, or why there is none."""
    if (path := find_kimi_cli()) is not None:
        return path
    command = KIMI_CLI_VENV / "bin" / "kimi"
    if not command.exists():
        python = _find_python(PYTHONS, (3, 12))
        if python is None:
            return "skipped, needs Python 3.12 or newer"
        if (problem := _install(REQUIREMENT, KIMI_CLI_VENV, python)) is not None:
            return f"skipped, can't install {REQUIREMENT}: {problem}"
    os.environ[KIMI_CLI] = str(command)
    return str(command)


def install_acpx() -> str:
    """Make acpx available to the tests. Return what is used, or why there is none."""
    if (path := find_acpx()) is not None:
        return path
    command = NODE_FOLDER / "node_modules" / ".bin" / "acpx"
    if not command.exists():
        npm = shutil.which("npm")
        if npm is None:
            return "skipped, npm isn't installed"
        NODE_FOLDER.mkdir(parents=True, exist_ok=True)
        install = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(NODE_FOLDER), ACPX_REQUIREMENT]
        done = subprocess.run(install, check=False, capture_output=True, text=True)
        if done.returncode:
            reason = (done.stderr.strip() or "unknown error").splitlines()[-1]
            return f"skipped, can't install {ACPX_REQUIREMENT}: {reason}"
    os.environ[ACPX] = str(command)
    return str(command)


def install_toad() -> str:
    """Make Toad available to the tests. Return what is used, or why there is none."""
    if (path := find_toad()) is not None:
        return path
    command = TOAD_VENV / "bin" / "toad"
    if not command.exists():
        python = _find_python(TOAD_PYTHONS, (3, 14))
        if python is None:
            return "skipped, needs Python 3.14 or newer"
        if (problem := _install(TOAD_REQUIREMENT, TOAD_VENV, python)) is not None:
            return f"skipped, can't install {TOAD_REQUIREMENT}: {problem}"
    os.environ[TOAD] = str(command)
    return str(command)


def _find_python(names: Iterable[str], oldest: tuple[int, int]) -> str | None:
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    check = f"import sys; sys.exit(sys.version_info < {oldest})"
    for name in names:
        installed = versions.glob(f"{name.removeprefix('python')}.*/bin/python")
        for path in (shutil.which(name), *map(str, installed)):
            if path and subprocess.run([path, "-c", check], check=False, capture_output=True).returncode == 0:
                return path
    return None


def _install(requirement: str, venv: Path, python: str) -> str | None:
    """Install a program. Return the last line of the installer's output if that fails."""
    steps = (
        [python, "-m", "venv", str(venv)],
        [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", requirement],
        [str(venv / "bin" / "python"), "-m", "compileall", "-q", str(venv / "lib")],
    )
    for step in steps[:2]:
        done = subprocess.run(step, check=False, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(venv, ignore_errors=True)
            return (done.stderr.strip() or "unknown error").splitlines()[-1]
    subprocess.run(steps[2], check=False, capture_output=True)
    return None


def compare_scenarios() -> None:
    """Run the scenarios on both programs, and print where they differ."""
    command = find_kimi_cli()
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        theirs = recorded = read_recording()
        if command is not None:
            theirs = run_all(partial(peer_kimi_cli, command=command), Path(folder, "theirs"))
            if os.environ.get("KIMI_TUI_PEER_RECORD"):
                write_recording(theirs)
        ours = run_all(peer_kimi_tui, Path(folder, "ours"))
    results = {
        name: best_agreement(ours[name], it, *[recorded[name]] if can_be(it, recorded[name]) else [])
        for name, it in theirs.items()
    }
    for name, result in sorted(results.items(), key=lambda item: item[1]):
        print(f"  {result:10} {name}")
    counts = Counter(results.values())
    by_shape = counts["verbatim"] + counts["shape"]
    source = "the real Kimi CLI" if command is not None else "recorded output"
    print(f"Scenarios, against {source}: {len(results)}; {counts['verbatim']} verbatim, {by_shape} by shape.")


def run_suite() -> None:
    """Run Kimi CLI's end-to-end suite from a checkout against kimi-tui, and print the figures."""
    checkout = os.environ.get(CHECKOUT) or str(ROOT / ".peers" / "kimi-cli-checkout")
    suite = Path(checkout, "tests_e2e")
    if not suite.is_dir():
        print(f"Its own suite: skipped, no tests_e2e in {checkout}. Set {CHECKOUT} to a checkout.")
        return
    for name, environment in (("verbatim", {}), ("by shape", {"KIMI_TUI_PEER_SHAPE": "1"})):
        print(f"Its own suite, {name}: {run_tests_of_suite(suite, environment)}", flush=True)


def run_tests_of_suite(suite: Path, environment: dict[str, str]) -> str:
    """Run the tests in the directory `suite`. Return the last line of the output and the failed tests."""
    command = shlex.join([KIMI_TUI, "--wire", "--agent", "kimi"])
    plugin = ["-p", "tests.peers.suite_plugin", "-c", os.devnull, "--rootdir", str(suite.parent)]
    paths = f"{suite.parent}{os.pathsep}{ROOT}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, str(suite)],
        cwd=suite.parent,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, "KIMI_E2E_WIRE_CMD": command, **environment},
    )
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["no output"]
    failed = [line for line in lines if re.match("(FAILED|ERROR) ", line)]
    return "\n".join([lines[-1], *(f"  {line[:150]}" for line in failed)])


if __name__ == "__main__":
    sys.exit(main())

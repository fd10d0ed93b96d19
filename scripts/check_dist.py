"""Install the wheel of dist/ in a new environment and run it. Compare it with that of the source archive.

`make dist` runs this after it has built both. --offline uses the dependencies of the current environment.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Check both files, and print what was checked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist")
    parser.add_argument("--offline", action="store_true")
    options = parser.parse_args()
    (wheel,) = options.folder.glob("*.whl")
    (source,) = options.folder.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        rebuilt = _build_from_source(source, folder)
        difference = _names(wheel) ^ _names(rebuilt)
        if difference:
            sys.exit(f"The source distribution builds another wheel: {', '.join(sorted(difference))}")
        python = _install(wheel, folder / "venv", offline=options.offline)
        _run_demo(python, folder)
    print(f"{wheel.name} and {source.name}: built, installed and run.")  # noqa: T201


def _build_from_source(source: Path, folder: Path) -> Path:
    with tarfile.open(source) as archive:
        archive.extractall(folder / "source", filter="data")
    (checkout,) = (folder / "source").iterdir()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "rebuilt")]
    subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
    (rebuilt,) = (folder / "rebuilt").glob("*.whl")
    return rebuilt


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def _install(wheel: Path, home: Path, *, offline: bool) -> Path:
    """Install the wheel with the dependencies in requirements.txt. Return the environment's Python."""
    venv.create(home, with_pip=not offline)
    python = home / "bin" / "python"
    if offline:
        packages = next(home.glob("lib/python*/site-packages"))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(packages)
        (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
        return python
    uv = shutil.which("uv")
    install = (
        [uv, "pip", "install", "--quiet", "--python", python]
        if uv is not None
        else [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    )
    subprocess.run([*install, "--requirement", ROOT / "requirements.txt"], check=True)
    subprocess.run([*install, "--no-deps", wheel], check=True)
    return python


def _run_demo(python: Path, folder: Path) -> None:
    environment = {
        key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    environment["KIMI_SHARE_DIR"] = str(folder / "data")
    run = "import sys; sys.argv[0] = 'kimi-tui'; from kimi_tui.cli.main import run; run()"
    for arguments in (["--version"], ["--demo", "--quiet", "-p", "hello"]):
        command = [python, "-c", run, *arguments]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode or not done.stdout.strip():
            sys.exit(f"kimi-tui {' '.join(arguments)} failed with {done.returncode}: {done.stderr}")


if __name__ == "__main__":
    main()

"""The wheel contains everything that the program needs."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.timeouts import TEST_TIMEOUT_S

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel_file,) = target.glob("*.whl")
    return wheel_file


def test_the_wheel_contains_all_assets(wheel: Path) -> None:
    wheel_files = set(zipfile.ZipFile(wheel).namelist())

    assets = [
        path.relative_to(ROOT).as_posix()
        for folder in ("styles", "agents", "prompts", "languages")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    ]
    assert len(assets) > 10
    assert {f"kimi_tui/_assets/{asset}" for asset in assets} <= wheel_files


def test_the_demo_responds_in_print_mode_in_an_empty_venv(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    site_packages = next(home.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site_packages)
    # Use the dependencies of this environment. A plain path doesn't include the checkout's editable install.
    (site_packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")

    process = subprocess.run(
        [
            home / "bin" / "python",
            "-c",
            "import sys, kimi_tui; print(kimi_tui.__file__, file=sys.stderr);"
            "from kimi_tui.cli.main import run; sys.argv[0] = 'kimi-tui'; run()",
            "--demo",
            "--print",
            "-p",
            "hello",
        ],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KIMI_SHARE_DIR": str(tmp_path / "share")},
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
    )

    assert process.returncode == 0, process.stderr
    assert str(site_packages) in process.stderr
    assert "demo" in process.stdout.lower()

"""The wheel holds everything that the program needs."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

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
    (built,) = target.glob("*.whl")
    return built


def test_the_wheel_holds_every_style_agent_prompt_and_language_of_the_checkout(wheel: Path) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())

    assets = [
        path.relative_to(ROOT).as_posix()
        for folder in ("styles", "agents", "prompts", "languages")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    ]
    assert len(assets) > 10
    assert {f"kimi_tui/_assets/{asset}" for asset in assets} <= packed


def test_installed_into_an_empty_venv_the_demo_answers_headless(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    site_packages = next(home.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site_packages)
    # The dependencies are borrowed; a plain path doesn't bring the checkout's editable install along.
    (site_packages / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")

    finished = subprocess.run(
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
        timeout=PATIENCE_S,
    )

    assert finished.returncode == 0, finished.stderr
    assert str(site_packages) in finished.stderr
    assert "demo" in finished.stdout.lower()

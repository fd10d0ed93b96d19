"""A home for sessions of the Python API, with a scripted model in its config file."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kimi_tui import KimiTui
from tests.e2e.program import scripted_config
from tests.engine.front import Home


@dataclass
class ApiHome(Home):
    """The same home as the engine's tests have, read from a config file as for users."""

    def script(self, *scripts: str) -> None:
        path = self.path / "scripts.json"
        path.write_text(json.dumps(scripts))
        self.share_dir.mkdir(exist_ok=True)
        price = "price = { input = 1.0, output = 2.0 }"
        (self.share_dir / "config.toml").write_text(f"{scripted_config(path)}\n{price}\n")

    def create(self, **options: Any) -> KimiTui:
        return KimiTui.create(work_dir=self.work_dir, share_dir=self.share_dir, **options)


@pytest.fixture
def home(tmp_path: Path) -> ApiHome:
    return ApiHome(tmp_path)

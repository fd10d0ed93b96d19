"""Fixture for the Python API's tests: a home directory with a scripted model in its config file."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kimi_tui import KimiTui
from tests.e2e.program import scripted_config
from tests.engine.fake_front_end import SessionEnv


@dataclass
class ApiHome(SessionEnv):
    """The home directory of the engine's tests, configured by a config file as for users."""

    def script(self, *scripts: str) -> None:
        path = self.path / "scripts.json"
        path.write_text(json.dumps(scripts))
        self.data_dir.mkdir(exist_ok=True)
        price = "price = { input = 1.0, output = 2.0 }"
        (self.data_dir / "config.toml").write_text(f"{scripted_config(path)}\n{price}\n")

    def create(self, **options: Any) -> KimiTui:
        return KimiTui.create(work_dir=self.work_dir, data_dir=self.data_dir, **options)


@pytest.fixture
def home(tmp_path: Path) -> ApiHome:
    return ApiHome(tmp_path)

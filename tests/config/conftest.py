"""Fixtures for a data directory, a working directory and their config."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.config.raw_config import RawConfig
from kimi_tui.config.resolved_model import ResolvedModel, resolve_model
from kimi_tui.config.settings import Settings


@dataclass
class Home:
    """Isolated directories and environment variables for settings."""

    data_dir: Path
    work_dir: Path
    environ: dict[str, str] = field(default_factory=dict)

    def write(self, text: str, name: str = "config.toml") -> Path:
        path = self.data_dir / name
        path.write_text(text, "utf-8")
        return path

    def write_project(self, text: str) -> Path:
        path = self.work_dir / ".kimi-tui" / "config.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def read(self, **options) -> RawConfig:
        return read_config(data_dir=self.data_dir, work_dir=self.work_dir, environ=self.environ, **options)

    def settings(self, text: str | None = None, **options) -> Settings:
        if text is not None:
            self.write(text)
        return settings_of(self.read(**options))

    def model(self, name: str | None = None, **options) -> ResolvedModel:
        return resolve_model(self.settings(**options), name, environ=self.environ)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    data_dir, work_dir = tmp_path / "share", tmp_path / "work"
    data_dir.mkdir()
    work_dir.mkdir()
    return Home(data_dir, work_dir)

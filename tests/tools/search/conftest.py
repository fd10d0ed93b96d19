"""A project to search in."""

from pathlib import Path

import pytest

from tests.tools.tool_env import ToolEnv


@pytest.fixture
def tool_env(tmp_path: Path) -> ToolEnv:
    folder = tmp_path / "work"
    folder.mkdir()
    return ToolEnv(folder)


@pytest.fixture
def project(tool_env: ToolEnv) -> ToolEnv:
    """A repository with source files and ignored files."""
    (tool_env.dir / ".git").mkdir()
    tool_env.write_file(".gitignore", "build/\n*.log\n")
    tool_env.write_file("src/a.py", "import os\n\nneedle = 1\nprint(needle)\n")
    tool_env.write_file("src/b.ts", "const needle = 2\n")
    tool_env.write_file("README.md", "Nothing here\n")
    tool_env.write_file(".github/workflow.yml", "needle: 3\n")
    tool_env.write_file("build/out.py", "needle = 4\n")
    tool_env.write_file("debug.log", "needle\n")
    tool_env.write_file(".git/config", "needle\n")
    return tool_env

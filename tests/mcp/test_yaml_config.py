"""MCP configs in YAML, as in an agent's `mcp: mcp.yaml`."""

from pathlib import Path

from kimi_tui.mcp.config_discovery import find_servers


def test_an_agents_servers_may_be_in_yaml(tmp_path: Path) -> None:
    file = tmp_path / "mcp.yaml"
    file.write_text("mcpServers:\n  time:\n    command: uvx\n    args: [mcp-server-time]\n")
    found = find_servers(data_dir=tmp_path, work_dir=tmp_path, agent_file=file)
    assert [entry.name for entry in found.entries] == ["time"]
    assert found.problems == ()


def test_a_yaml_file_that_cannot_be_parsed_is_reported_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mcp.yml"
    file.write_text("mcpServers:\n  time: [\n")
    found = find_servers(data_dir=tmp_path, work_dir=tmp_path, agent_file=file)
    assert "line 3: invalid YAML" in found.problems[0]

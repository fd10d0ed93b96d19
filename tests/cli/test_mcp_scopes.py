"""OAuth scopes of MCP servers."""

import json

from tests.e2e.program import Program

URL = "http://127.0.0.1:9/mcp"


def test_scopes_are_stored_and_listed(program: Program) -> None:
    added = program.run("mcp", "add", "--auth", "oauth", "--scope", "read", "--scope", "write", "scoped", URL)
    assert added.exit_code == 0, added.stderr
    (server,) = json.loads((program.data_dir / "mcp.json").read_text())["mcpServers"].values()
    assert server["scopes"] == ["read", "write"]
    assert "[scopes: read, write]" in program.run("mcp", "list").stdout


def test_scopes_need_a_sign_in(program: Program) -> None:
    assert program.run("mcp", "add", "--scope", "read", "scoped", URL).exit_code == 2
    assert program.run("mcp", "add", "--scope", "read", "local", "--", "true").exit_code == 2

"""`kimi-tui mcp` and what a run says of its servers."""

import json

from tests.mcp.odd import entry


def test_servers_are_added_listed_and_removed(program):
    added = program.run(
        "mcp", "add", "time", "--env", "A=b=c", "--", "uvx", "mcp-server-time", "--zone", "UTC"
    )
    assert added.exit_code == 0
    header = ("--header", "X-Key: s3cret: x")
    assert (
        program.run("mcp", "add", "--transport", "http", "api", "https://x.org/mcp", *header).exit_code == 0
    )
    signing = program.run("mcp", "add", "-t", "http", "-a", "oauth", "linear", "https://mcp.linear.app/mcp")
    assert "kimi-tui mcp auth linear" in signing.stdout
    assert json.loads((program.share_dir / "mcp.json").read_text())["mcpServers"] == {
        "time": {"command": "uvx", "args": ["mcp-server-time", "--zone", "UTC"], "env": {"A": "b=c"}},
        "api": {"url": "https://x.org/mcp", "transport": "http", "headers": {"X-Key": "s3cret: x"}},
        "linear": {"url": "https://mcp.linear.app/mcp", "transport": "http", "auth": "oauth"},
    }
    listed = program.run("mcp", "list").stdout
    assert "time (stdio): uvx mcp-server-time --zone UTC" in listed
    assert "s3cret" not in listed
    assert "[sign in with: kimi-tui mcp auth linear]" in listed
    assert program.run("mcp", "remove", "time").exit_code == 0
    assert "time" not in program.run("mcp", "list").stdout


def test_what_makes_no_sense_is_told(program):
    for arguments, expected in (
        (["add", "x"], "There is no program to start."),
        (["add", "x", "--transport", "http"], "There is no address."),
        (["add", "x", "--header", "A: b", "--", "y"], "are for servers at an address"),
        (["add", "x", "--env", "AB", "--", "y"], "has no name and value"),
        (["add", "a b", "--", "y"], "can't be the name"),
        (["remove", "nobody"], "There is no MCP server nobody."),
        (["test", "nobody"], "There is no MCP server nobody."),
        (["auth", "nobody"], "There is no MCP server nobody."),
    ):
        done = program.run("mcp", *arguments)
        assert done.exit_code != 0
        assert expected in done.stderr
        assert not done.stdout


def test_a_run_uses_a_server_and_says_so_in_its_result(program):
    program.script('tool_call: {"id": "c1", "name": "echo", "arguments": {"text": "hi"}}', "text: it said hi")
    servers = json.dumps({"mcpServers": {"odd": entry(), "gone": {"command": "no-such-program"}}})
    done = program.run("-y", "-p", "go", "--mcp-config", servers, "--output-format", "json")
    result = json.loads(done.stdout)
    assert result["result"] == "it said hi"
    odd, gone = result["mcp_servers"]
    assert (odd["name"], odd["status"]) == ("odd", "connected")
    assert (gone["name"], gone["status"]) == ("gone", "failed")
    assert "no-such-program is not there" in gone["error"]
    assert done.exit_code == 0


def test_a_projects_servers_are_left_out_with_a_note(program):
    program.script("text: hello")
    (program.work_dir / ".mcp.json").write_text(json.dumps({"mcpServers": {"evil": entry()}}))
    done = program.run("-p", "go", "--output-format", "json")
    assert "evil" in done.stderr
    assert "you haven't said that you trust it" in done.stderr
    assert "mcp_servers" not in json.loads(done.stdout)

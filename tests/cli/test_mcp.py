"""`kimi-tui mcp`, and MCP servers in the result of a run."""

import json

import pexpect

from tests.mcp.odd_servers import config_entry


def test_servers_are_added_listed_and_removed(program):
    added = program.run(
        "mcp", "add", "time", "--env", "A=b=c", "--", "uvx", "mcp-server-time", "--zone", "UTC"
    )
    assert added.exit_code == 0
    assert added.stdout == f"Added MCP server 'time' to {program.data_dir / 'mcp.json'}.\n"
    assert added.stderr == "To test it, run: kimi-tui mcp test time\n"
    header = ("--header", "X-Key: s3cret: x")
    assert (
        program.run("mcp", "add", "--transport", "http", "api", "https://x.org/mcp", *header).exit_code == 0
    )
    oauth = program.run("mcp", "add", "-t", "http", "-a", "oauth", "linear", "https://mcp.linear.app/mcp")
    assert "kimi-tui mcp auth linear" in oauth.stderr
    assert json.loads((program.data_dir / "mcp.json").read_text())["mcpServers"] == {
        "time": {"command": "uvx", "args": ["mcp-server-time", "--zone", "UTC"], "env": {"A": "b=c"}},
        "api": {"url": "https://x.org/mcp", "transport": "http", "headers": {"X-Key": "s3cret: x"}},
        "linear": {"url": "https://mcp.linear.app/mcp", "transport": "http", "auth": "oauth"},
    }
    listed = program.run("mcp", "list").stdout
    assert "time (stdio): uvx mcp-server-time --zone UTC" in listed
    assert "s3cret" not in listed
    assert "[authorization required - run: kimi-tui mcp auth linear]" in listed
    assert program.run("mcp", "remove", "time").exit_code == 0
    assert "time" not in program.run("mcp", "list").stdout


def test_a_server_is_tested_and_its_offers_are_listed(program):
    entry = config_entry()
    assert program.run("mcp", "add", "odd", "--", entry["command"], *entry["args"]).exit_code == 0
    done = program.run("mcp", "test", "odd")
    assert done.exit_code == 0
    first, connected, count, heading, *offers = done.stdout.splitlines()
    assert (first, connected) == ("Testing connection to 'odd'...", "✓ Connected to 'odd'")
    assert heading == "  Tools:"
    assert any(line.startswith("    - echo: ") for line in offers)
    tools = offers[: offers.index("  Prompts:")] if "  Prompts:" in offers else offers
    assert count == f"  Available tools: {len(tools)}"
    assert "s to connect." in done.stderr


def test_hints_are_kept_out_of_the_output_of_an_empty_list(program):
    done = program.run("mcp", "list")
    assert done.stdout.splitlines()[1:] == ["No MCP servers configured."]
    assert "kimi-tui mcp add --help" in done.stderr


def test_a_usage_error_is_reported(program):
    for arguments, expected in (
        (["add", "x"], "No command given."),
        (["add", "x", "--transport", "http"], "No URL given."),
        (["add", "x", "--header", "A: b", "--", "y"], "require a URL"),
        (["add", "x", "--env", "AB", "--", "y"], "must be a name and a value"),
        (["add", "a b", "--", "y"], "isn't a valid name"),
        (["remove", "nobody"], "Unknown MCP server nobody."),
        (["test", "nobody"], "Unknown MCP server nobody."),
        (["auth", "nobody"], "Unknown MCP server nobody."),
    ):
        done = program.run("mcp", *arguments)
        assert done.exit_code != 0
        assert expected in done.stderr
        assert not done.stdout


def test_the_result_of_a_run_lists_its_servers(program):
    program.script('tool_call: {"id": "c1", "name": "echo", "arguments": {"text": "hi"}}', "text: it said hi")
    servers = json.dumps({"mcpServers": {"odd": config_entry(), "gone": {"command": "no-such-program"}}})
    done = program.run("-y", "-p", "go", "--mcp-config", servers, "--output-format", "json")
    result = json.loads(done.stdout)
    assert result["result"] == "it said hi"
    odd, gone = result["mcp_servers"]
    assert (odd["name"], odd["status"]) == ("odd", "connected")
    assert (gone["name"], gone["status"]) == ("gone", "failed")
    assert "Can't find the program no-such-program" in gone["error"]
    assert done.exit_code == 0


def test_a_projects_servers_are_ignored_with_a_note(program):
    program.script("text: hello")
    (program.work_dir / ".mcp.json").write_text(json.dumps({"mcpServers": {"evil": config_entry()}}))
    done = program.run("-p", "go", "--output-format", "json")
    assert "evil" in done.stderr
    assert "the file isn't trusted" in done.stderr
    assert "mcp_servers" not in json.loads(done.stdout)


CLAUDE = {
    "mcpServers": {
        "time": {"command": "uvx", "args": ["mcp-server-time"], "env": {"KEY": "s3cret"}},
        "api": {"type": "http", "url": "https://x.org/mcp"},
    }
}


def test_servers_of_claude_and_vs_code_are_imported_after_a_yes(program, terminal):
    claude = program.home / ".claude.json"
    claude.write_text(json.dumps(CLAUDE))
    listed = program.run("mcp", "import")
    assert "time: uvx mcp-server-time (with env KEY) [Claude Code" in listed.stdout
    assert "s3cret" not in listed.stdout
    assert "Nothing imported. To import them, add --yes." in listed.stdout
    for answer in ("n", ""):
        child = terminal.start("mcp", "import")
        child.expect_exact("[y/N]?")
        child.sendline(answer)
        child.expect_exact("Nothing imported.")
    assert not (program.data_dir / "mcp.json").exists()

    child = terminal.start("mcp", "import", "time")
    child.expect_exact("[y/N]?")
    child.sendline("y")
    child.expect_exact("Added MCP server 'time' to")
    child.expect(pexpect.EOF)
    written = json.loads((program.data_dir / "mcp.json").read_text())["mcpServers"]
    assert written == {"time": CLAUDE["mcpServers"]["time"]}
    assert (program.data_dir / "mcp.json").stat().st_mode & 0o777 == 0o600
    assert "Added MCP server 'api' to" in program.run("mcp", "import", "--yes").stdout
    assert "No MCP servers of Claude or VS Code to import." in program.run("mcp", "import", "-y").stdout
    assert claude.read_text() == json.dumps(CLAUDE)


def test_an_unknown_name_to_import_is_an_error(program):
    (program.home / ".claude.json").write_text(json.dumps(CLAUDE))
    done = program.run("mcp", "import", "tim", "--yes")
    assert done.exit_code != 0
    assert "No MCP server tim to import." in done.stderr
    assert "Found: time, api." in done.stderr

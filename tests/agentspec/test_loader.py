from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.agentspec.loader import load_agent_spec
from kimi_tui.agentspec.spec import ResolvedAgentSpec, SubagentSpec, ToolRef
from kimi_tui.base.errors import ConfigError
from kimi_tui.engine.build.tool_factory import BUILTIN_TOOLS

WriteFile = Callable[[str, str], Path]
TOOLS = frozenset(BUILTIN_TOOLS)


def load_spec(path: Path) -> ResolvedAgentSpec:
    return load_agent_spec(path, known_tools=TOOLS)


def load_error(path: Path) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_spec(path)
    return caught.value


def tool_names(spec: ResolvedAgentSpec) -> list[str]:
    return [tool.name for tool in spec.tools]


class TestIsolation:
    def test_it_is_inherited_and_can_be_switched_off(self, write: WriteFile) -> None:
        write("base/prompt.md", "x")
        write("base/agent.yaml", "system_prompt: prompt.md\ntools: []\nisolation: workspace")
        heir = write("heir/agent.yaml", "extend: base")
        other = write("other/agent.yaml", "extend: ../base\nisolation: none")
        write("plain/agent.yaml", "system_prompt: ../base/prompt.md\ntools: []")
        heir.write_text("extend: ../base")
        assert load_spec(heir).isolation == "workspace"
        assert load_spec(other).isolation == "none"
        assert load_spec(other.parent.parent / "plain").isolation == "none"

    def test_an_unknown_value_is_an_error_with_a_suggestion(self, write: WriteFile) -> None:
        path = write("a/agent.yaml", "extend: default\nisolation: workspaces")
        with pytest.raises(ConfigError) as caught:
            load_spec(path)
        assert "agent.yaml, line 2" in caught.value.what
        assert "unknown isolation “workspaces”" in caught.value.what
        assert "workspace" in caught.value.hint


class TestFlatFormat:
    def test_every_key_is_resolved(self, write: WriteFile) -> None:
        path = write(
            "auditor/agent.yaml",
            """
            name: auditor
            version: 0.10
            description: >
              Reads code
              and reports.
            system_prompt: prompts/audit.md
            tools:
              - ReadFile
              - Bash as Shell
              - my_tools.audit:Report
              - my_tools.audit:Report as SecondReport
            exclude: [Report]
            model: careful
            mcp: mcp.json
            mcp_exclude: [delete_everything]
            subagents:
              coder:
                path: ../coder
                description: Writes
                  code.
            isolation: workspace
            vars:
              STRICT: true
              LEVEL: 3
              EMPTY:
            """,
        )
        prompt = write("auditor/prompts/audit.md", "Audit ${LEVEL}.\n")
        mcp = write("auditor/mcp.json", "{}")
        coder = write("coder/agent.yaml", "name: coder")
        assert load_spec(path) == ResolvedAgentSpec(
            name="auditor",
            version="0.10",
            description="Reads code and reports.",
            path=path,
            system_prompt_path=prompt,
            system_prompt_template="Audit ${LEVEL}.\n",
            tools=(
                ToolRef("ReadFile"),
                ToolRef("Bash", "Shell"),
                ToolRef("my_tools.audit:Report", "SecondReport"),
            ),
            model="careful",
            mcp=mcp,
            mcp_exclude=("delete_everything",),
            subagents={"coder": SubagentSpec(coder, "Writes code.")},
            isolation="workspace",
            declares_subagents=True,
            vars={"STRICT": "true", "LEVEL": "3", "EMPTY": ""},
        )

    def test_a_variable_may_reference_the_folder_of_its_file(self, write: WriteFile) -> None:
        base = write(
            "base/agent.yaml", "system_prompt: system.md\ntools: []\nvars: {NOTES: '${KIMI_AGENT_DIR}/n'}"
        )
        child = write("child/agent.yaml", "extend: ../base/agent.yaml\nvars: {MORE: 'see ${KIMI_AGENT_DIR}'}")
        assert load_spec(child).vars == {"NOTES": f"{base.parent}/n", "MORE": f"see {child.parent}"}

    def test_a_folder_is_loaded_by_its_agent_file_and_is_the_default_name(self, write: WriteFile) -> None:
        path = write("quiet/agent.yaml", "system_prompt: system.md\ntools: []")
        spec = load_spec(path.parent)
        assert (spec.name, spec.path, spec.tools) == ("quiet", path, ())
        assert load_spec(write("solo.yaml", "system_prompt: system.md\ntools:")).name == "solo"


class TestKimiCliFormat:
    AGENT = """
        version: 1
        agent:
          name: ported
          when_to_use: For everything.
          system_prompt_path: ./system.md
          system_prompt_args:
            ROLE_ADDITIONAL: ""
          tools:
            - "kimi_cli.tools.shell:Shell"
            - "kimi_cli.tools.file:ReadFile"
            - "kimi_cli.tools.file:StrReplaceFile"
            - "kimi_cli.tools.dmail:SendDMail"
          exclude_tools:
            - "kimi_cli.tools.dmail:SendDMail"
            - "kimi_cli.tools.ask_user:AskUserQuestion"
          subagents:
            coder:
              path: ./coder.yaml
              description: Codes.
        """

    def test_its_tools_are_mapped_and_keep_the_names_its_prompt_uses(self, write: WriteFile) -> None:
        path = write("ported/agent.yaml", self.AGENT)
        write("ported/coder.yaml", "")
        spec = load_spec(path)
        assert spec.tools == (
            ToolRef("Bash", "Shell"),
            ToolRef("ReadFile"),
            ToolRef("EditFile", "StrReplaceFile"),
        )
        assert (spec.name, spec.version, spec.description) == ("ported", "1", "For everything.")
        assert spec.vars == {"ROLE_ADDITIONAL": ""}
        assert list(spec.subagents) == ["coder"]

    def test_a_child_keeps_only_allowed_tools_and_may_remove_the_subagents(self, write: WriteFile) -> None:
        write("ported/agent.yaml", self.AGENT)
        child = write(
            "ported/coder.yaml",
            """
            version: 1
            agent:
              extend: ./agent.yaml
              system_prompt_args:
                MORE: you are a sub-agent
              allowed_tools: ["kimi_cli.tools.shell:Shell", "ReadFile", "kimi_cli.tools.demo:Demo"]
              exclude_tools: ["kimi_cli.tools.shell:Shell"]
              subagents:
            """,
        )
        spec = load_spec(child)
        assert tool_names(spec) == ["ReadFile"]
        assert spec.subagents == {}
        assert spec.vars == {"ROLE_ADDITIONAL": "", "MORE": "you are a sub-agent"}

    @pytest.mark.parametrize(
        ("text", "line", "about"),
        [
            ("version: 2\nagent:\n  extend: default", 1, "version 2"),
            ("version: 1\nagent:", 1, "empty"),
            ("version: 1\nagent:\n  extend: default\ntools: []", 4, "“tools”"),
            ("version: 1\nagent:\n  extend: default\n  vars: {}", 4, "“agent.vars”"),
            (
                "agent:\n  extend: default\n  tools:\n  - kimi_cli.tools.multiagent:CreateSubagent",
                4,
                "CreateSubagent has no equivalent",
            ),
        ],
    )
    def test_an_error_names_the_line(self, write: WriteFile, text: str, line: int, about: str) -> None:
        path = write("a.yaml", text)
        error = load_error(path)
        assert error.what.startswith(f"{path}, line {line}: ")
        assert about in error.what


class TestExtending:
    BASE = """
        version: "1.2"
        description: The base.
        system_prompt: base.md
        tools: [ReadFile, Bash, Grep]
        mcp: mcp.json
        mcp_exclude: [a]
        vars: {KEPT: base, CHANGED: base}
        subagents: {helper: {path: agent.yaml, description: Helps.}}
        """

    @pytest.fixture(autouse=True)
    def base(self, write: WriteFile) -> Path:
        write("base/base.md", "I am the base.")
        write("base/mcp.json", "{}")
        return write("base/agent.yaml", self.BASE)

    def test_an_agent_inherits_what_it_does_not_set(self, write: WriteFile, base: Path) -> None:
        spec = load_spec(write("child/agent.yaml", "extend: ../base"))
        inherited = load_spec(base)
        assert spec.name == "child"
        for field in (
            "version",
            "description",
            "system_prompt_path",
            "tools",
            "mcp",
            "mcp_exclude",
            "subagents",
            "vars",
        ):
            assert getattr(spec, field) == getattr(inherited, field), field

    def test_tools_are_replaced_exclusions_removed_and_vars_added(self, write: WriteFile) -> None:
        child = write(
            "child.yaml",
            """
            extend: base/agent.yaml
            exclude: [Bash]
            vars: {CHANGED: child, NEW: child}
            """,
        )
        spec = load_spec(child)
        assert tool_names(spec) == ["ReadFile", "Grep"]
        assert spec.vars == {"KEPT": "base", "CHANGED": "child", "NEW": "child"}
        grandchild = load_spec(write("grandchild.yaml", "extend: ./child.yaml\ntools: [Bash, WriteFile]"))
        assert tool_names(grandchild) == ["Bash", "WriteFile"]
        assert grandchild.system_prompt_template == "I am the base."

    def test_paths_are_relative_to_the_folder_of_their_agent_file(self, write: WriteFile) -> None:
        child = write(
            "elsewhere/agent.yaml", "extend: ../base\nsystem_prompt: own.md\nmcp_exclude: []\nsubagents:"
        )
        own = write("elsewhere/own.md", "I am the child.")
        spec = load_spec(child)
        assert (spec.system_prompt_path, spec.system_prompt_template) == (own, "I am the child.")
        assert spec.mcp is not None
        assert spec.mcp.parent.name == "base"
        assert (spec.mcp_exclude, spec.subagents) == ((), {})

    def test_a_tool_can_be_excluded_by_its_new_name_or_its_original_name(self, write: WriteFile) -> None:
        write("renamed.yaml", "extend: base/agent.yaml\ntools: [Bash as Shell, ReadFile]")
        assert tool_names(load_spec(write("a.yaml", "extend: ./renamed.yaml\nexclude: [Shell]"))) == [
            "ReadFile"
        ]
        assert tool_names(load_spec(write("b.yaml", "extend: ./renamed.yaml\nexclude: [Bash]"))) == [
            "ReadFile"
        ]

    def test_a_name_means_a_sibling_before_a_bundled_agent_and_never_the_agent_itself(
        self, write: WriteFile
    ) -> None:
        write("agents/base/agent.yaml", "system_prompt: system.md\ntools: [Grep]")
        assert tool_names(load_spec(write("agents/child/agent.yaml", "extend: base"))) == ["Grep"]
        own = write("agents/default/agent.yaml", "extend: default\ntools: [Grep]")
        assert load_spec(own).system_prompt_template != "You are a test."

    def test_the_error_for_a_cycle_shows_it(self, write: WriteFile) -> None:
        first = write("one.yaml", "# note\nextend: ./two.yaml")
        second = write("two.yaml", "extend: ./three.yaml")
        third = write("three.yaml", "extend: ./two.yaml")
        error = load_error(first)
        assert error.what.startswith(f"{third}, line 1: ")
        assert f"{second} -> {third} -> {second}" in error.what
        itself = write("itself.yaml", "extend: ./itself.yaml")
        assert f"{itself} -> {itself}" in load_error(itself).what

    @pytest.mark.parametrize(("extend", "about"), [("./gone.yaml", "gone.yaml"), ("defualt", "“defualt”")])
    def test_the_error_for_a_missing_base_names_the_line(
        self, write: WriteFile, extend: str, about: str
    ) -> None:
        path = write("child.yaml", f"name: child\nextend: {extend}")
        error = load_error(path)
        assert error.what.startswith(f"{path}, line 2: ")
        assert about in error.what

    def test_the_hint_for_a_missing_base_suggests_the_closest_name(self, write: WriteFile) -> None:
        assert "“default”" in load_error(write("child.yaml", "extend: defualt")).hint


MINIMAL = "system_prompt: system.md\ntools:\n"


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "line", "about", "hint"),
        [
            ("name: x\ntoolz: []", 2, "“toolz”", "“tools”"),
            ("name: x\nexclude_tools: []", 2, "“exclude_tools”", "“exclude”"),
            ("name: x\nname: y", 2, "duplicate key “name”", "one of the two"),
            ("name: [x]", 1, "name must be a single value", "name: value"),
            ("name: x\ntools: ReadFile", 2, "tools must be a list", "- entry"),
            ("tools:\n- ReadFile\n- [Bash]", 3, "each entry of tools must be a string", "- entry"),
            ("vars:\n- a", 1, "vars must be a mapping", "key: value"),
            ("vars:\n  A: [1]", 2, "vars.A must be a single value", "A: value"),
            ("vars:\n  no-dash: 1", 2, "vars.no-dash", "letters"),
            ("vars:\n  KIMI_NOW: never", 2, "vars.KIMI_NOW", "KIMI_"),
            ("subagents:\n  coder:\n    description: Codes.", 2, "subagents.coder has no path", "path"),
            ("subagents:\n  coder: {path: system.md, prompt: p}", 2, "“subagents.coder.prompt”", "path"),
            ("subagents:\n  coder: ../coder", 2, "subagents.coder must be a mapping", "key: value"),
            ("- a list", 1, "must contain a mapping", "key: value"),
            ("", 1, "must contain a mapping", "key: value"),
            ("name: x\n? [a]\n: b", 2, "a key must be a string", "key: value"),
            ("name: x\ntools: [Bash", 2, "isn't valid YAML", "Fix the syntax"),
            ("name: x", 1, "no system prompt", "extend"),
            ("system_prompt: system.md", 1, "no tools", "`tools`"),
            ("tools: []\nsystem_prompt: gone.md", 2, "gone.md", "agent file"),
            ("tools: []\nsystem_prompt: .", 2, "can't read", "UTF-8"),
            ("tools: []\nsystem_prompt: /etc/shadow", 2, "may contain secrets", "text file"),
            (MINIMAL + "mcp: gone.json", 3, "gone.json", "agent file"),
            (MINIMAL + "subagents:\n  a: {path: gone.yaml}", 4, "gone.yaml", "agent file"),
            (MINIMAL + "- ReadFile\n- Raed", 4, "unknown tool “Raed”", "Available tools: "),
            (MINIMAL + "- ReadFlie", 3, "unknown tool “ReadFlie”", "“ReadFile”"),
            (MINIMAL + "- Shell", 3, "unknown tool “Shell”", "“Bash as Shell”"),
            (MINIMAL + "- Bash as Shell as Bash", 3, "isn't a valid tool entry", "as OtherName"),
            (MINIMAL + "- Bash as $hell", 3, "“$hell”", "letters"),
            (MINIMAL + "- my tools:Report", 3, "isn't a valid tool entry", "as OtherName"),
            (MINIMAL + "- my-tools:Report", 3, "isn't a class path", "module:Class"),
            (MINIMAL + "- Bash\n- Bash", 4, "duplicate tool name Bash", "as OtherName"),
            (MINIMAL + "- Bash\n- ReadFile as Bash", 4, "duplicate tool name Bash", "as OtherName"),
            (MINIMAL + "- Bash\nexclude:\n- Bahs", 5, "unknown tool “Bahs”", "“Bash”"),
        ],
    )
    def test_an_error_names_file_line_and_key_and_has_a_hint(
        self, write: WriteFile, text: str, line: int, about: str, hint: str
    ) -> None:
        path = write("agent.yaml", text)
        error = load_error(path)
        assert error.what.startswith(f"{path}, line {line}: ")
        assert about in error.what
        assert hint in error.hint

    def test_the_error_for_a_missing_file_names_it(self, tmp_path: Path) -> None:
        assert str(tmp_path / "gone.yaml") in load_error(tmp_path / "gone.yaml").what
        assert "agent.yaml" in load_error(tmp_path).what

    def test_invalid_utf8_and_invalid_yaml_are_rejected(self, tmp_path: Path) -> None:
        path = tmp_path / "agent.yaml"
        path.write_bytes(b"name: \xff\xfe")
        assert "UTF-8" in load_error(path).what
        path.write_bytes(b"name: \x00")
        assert "isn't valid YAML" in load_error(path).what

    def test_a_deeply_nested_file_is_an_error_not_a_crash(self, tmp_path: Path) -> None:
        path = tmp_path / "agent.yaml"
        path.write_text("vars: " + "[" * 100_000, "utf-8")
        assert "isn't valid YAML" in load_error(path).what

    def test_yaml_never_creates_python_objects(self, write: WriteFile) -> None:
        path = write("agent.yaml", "name: !!python/object/apply:os.getcwd []")
        assert "must be a single value" in load_error(path).what

    def test_escape_sequences_in_a_file_are_removed_from_the_error(self, write: WriteFile) -> None:
        path = write("agent.yaml", MINIMAL + r'- "\e]0;owned\aBash"')
        assert "\x1b" not in str(load_error(path))

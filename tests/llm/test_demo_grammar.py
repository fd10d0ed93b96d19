import pytest

from kimi_tui.llm.demo_grammar import (
    Act,
    Ask,
    Edit,
    ListFolder,
    Read,
    Run,
    Search,
    Think,
    Todo,
    Write,
    parse_request,
)


def acts(request: str) -> list[Act]:
    return [part.act for part in parse_request(request)]


@pytest.mark.parametrize(
    ("request_text", "act"),
    [
        ("read README.md", Read(("README.md",))),
        ("Read Makefile?", Read(("Makefile",))),
        ('read a.py, src/b.py and "my notes.txt"', Read(("a.py", "src/b.py", "my notes.txt"))),
        ("edit a.py: x = 1 -> x = 2", Edit("a.py", "x = 1", "x = 2")),
        ('edit a.py: "p -> q" -> "a then b"', Edit("a.py", "p -> q", "a then b")),
        (r'edit a.py: "one\ntwo" -> three', Edit("a.py", "one\ntwo", "three")),
        ("edit a.c: p->next -> p->prev", Edit("a.c", "p->next", "p->prev")),
        ("edit notes.txt: obsolete ->", Edit("notes.txt", "obsolete", "")),
        (r"edit C:\notes.txt: a -> b", Edit(r"C:\notes.txt", "a", "b")),
        ("write notes.txt: hello", Write("notes.txt", "hello\n")),
        ("write a.py:\n    x\n    y", Write("a.py", "    x\n    y\n")),
        (r'write a.py: "print(1)\nprint(2)\n"', Write("a.py", "print(1)\nprint(2)\n")),
        ("write empty.txt:", Write("empty.txt", "")),
        ("run git log --oneline | head -3", Run("git log --oneline | head -3")),
        ("search TODO", Search("TODO")),
        ("search for def main in src", Search("def main", "src")),
        ('search "plug in baby"', Search("plug in baby")),
        ("list", ListFolder(".")),
        ("list src/", ListFolder("src/")),
        ("todo a; [x] b; [>] c", Todo((("a", "pending"), ("b", "done"), ("c", "in_progress")))),
        ("think about the bug", Think("about the bug")),
        ("ask Which one? this; that", Ask("Which one?", ("this", "that"))),
        ("ask tabs or spaces", Ask("tabs or spaces")),
        ("please read a.py", Read(("a.py",))),
        ("读 README.md", Read(("README.md",))),
        ("请运行 ls -la", Run("ls -la")),
        ("改 a.txt：旧 -> 新", Edit("a.txt", "旧", "新")),
        ("问 用哪个？甲；乙", Ask("用哪个？", ("甲", "乙"))),
    ],
)  # fmt: skip
def test_each_form_is_understood(request_text: str, act: Act) -> None:
    assert acts(request_text) == [act]


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("read a.py then run ls", [Read(("a.py",)), Run("ls")]),
        ("run ls, and then read a.py", [Run("ls"), Read(("a.py",))]),
        ("run ls\nthen list src then todo a", [Run("ls"), ListFolder("src"), Todo((("a", "pending"),))]),
        ("运行 ls，然后读 a.py 然后 列出", [Run("ls"), Read(("a.py",)), ListFolder()]),
        ('run echo "a then run b" then list', [Run('echo "a then run b"'), ListFolder()]),
        ("run sh -c 'x then read y.py' then list", [Run("sh -c 'x then read y.py'"), ListFolder()]),
        ("write n: this, then that then read n", [Write("n", "this, then that\n"), Read(("n",))]),
        ("write n.txt: don't stop then read n.txt", [Write("n.txt", "don't stop\n"), Read(("n.txt",))]),
        ("run ls then edit f.txt: x then y -> z", [Run("ls"), Edit("f.txt", "x then y", "z")]),
    ],
)  # fmt: skip
def test_parts_are_joined_by_then_where_a_part_follows_it_outside_quotes(
    request_text: str, expected: list[Act]
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
def test_prose_is_no_part_of_the_grammar(request_text: str) -> None:
    assert acts(request_text) == []


def test_a_part_remembers_how_it_was_written() -> None:
    assert [part.words for part in parse_request("Read a.py, then run ls -l")] == ["Read a.py", "run ls -l"]


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
def test_a_huge_paste_is_read_in_linear_time(request_text: str) -> None:
    parse_request(request_text)

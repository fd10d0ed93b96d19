"""Attacks on grants with real programs, and the project that they need."""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent / "data"
TOUCH = '#!/bin/sh\nd=$(dirname "$0")\ntouch "$d/PWN"\ntouch "$d/../PWN" 2>/dev/null\nexit 1\n'
KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./touch.sh, interactiveMode: Never}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""  # noqa: E501
TOX = "[tox]\nenv_list = py\nno_package = true\n[testenv]\nallowlist_externals = touch, true\ncommands = {}\n"
FILES = {
    "a": "x text\n",
    "b": "y\n",
    "f": "f\n",
    "big": "line of text\n" * 20_000,
    "hex": "00000000: 6869 0a                                  hi.\n",
    "a.c": "int f(void) { return 1; }\n",
    "a.py": "def test_a() -> None:\n    pass\n",
    "a.patch": "--- b\n+++ b\n@@ -1 +1 @@\n-y\n+z\n",
    "evil.conf": "--pre=./touch.sh\n",
    "evil.cmake": 'file(WRITE PWN "x")\n',
    "evil.js": "require('fs').writeFileSync(__dirname + '/PWN', '')\n",
    "evil.pl": "#!perl\nopen F, '>PWN';\n",
    "evil.pm": "open F, '>PWN'; 1;\n",
    "evil/Cargo.toml": '[package]\nname = "evil"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n',
    "evil/build.rs": 'fn main() { std::fs::write("../PWN", "").unwrap(); }\n',
    "evil/src/main.rs": "fn main() {}\n",
    "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n',
    "src/main.rs": "fn main() {}\n",
    "a.js": "1\n",
    "a.test.js": "1\n",
    "test_a.py": "def test_a() -> None:\n    pass\n",
    "evil.py": "open('PWN', 'w')\ndef test_b() -> None:\n    pass\n",
    "evil.ini": "[pytest]\naddopts = --junitxml=PWN\n[mypy]\njunit_xml = PWN\n"
    "[MAIN]\ninit-hook = open('PWN', 'w')\n" + TOX.format("touch PWN"),
    "evil.sed": "w PWN\n",
    "evil.mk": "test evil:\n\ttouch PWN\n",
    "evil/Makefile": "all:\n\ttouch ../PWN\n",
    "evil/test_c.py": "open('PWN', 'w')\ndef test_c() -> None:\n    pass\n",
    "evil/tox.ini": TOX.format("touch ../PWN"),
    "evil/package.json": '{"scripts": {"test": "touch ../PWN"}}\n',
    "evil.yaml": KUBECONFIG,
    "bat.conf": "--pager=./touch.sh\n--paging=always\n",
    "defaults.yaml": "filters: [./touch.sh]\n",
    "a.md": "![b](b)\n",
    "evil.lua": "io.open('PWN', 'w')\n",
    "evil/filters/evil.lua": "io.open('PWN', 'w')\n",
    "a.tex": "\\documentclass{article}\\begin{document}\\immediate\\write18{touch PWN}a\\end{document}\n",
    "evil.tex": "\\newwrite\\f\\immediate\\openout\\f=PWN.tex\\immediate\\closeout\\f"
    "\\csname @@end\\endcsname\n",
    "a.ts": "export const a = 1;\n",
    "a_test.ts": "Deno.test('a', () => {});\n",
    "evil.ts": "Deno.writeTextFileSync('PWN', '');\n",
    "evil.json": '{"imports": {"a": "./evil.ts"}, "tasks": {"evil": "touch PWN"}}\n',
    "uses_a.ts": "import 'a';\n",
    "go.mod": "module a\n",
    "evil.go": '//go:build ignore\n\npackage main\n\nimport "os"\n\nfunc main() { os.Create("PWN") }\n',
    "go/a.go": "package a\n\n//go:generate touch ../PWN\n",
    "go/a_test.go": 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n',
    "go/touch.sh": TOUCH,
    "tox.ini": TOX.format("true") + "[testenv:evil]\ncommands = touch PWN\n",
    "options": "-o ../PWN\n",
    "Makefile": "test:\n\t@true\nevil:\n\ttouch PWN\n",
    "package.json": '{"scripts": {"test": "true", "check": "node", "evil": "touch PWN"}}\n',
    "touch.sh": TOUCH,
    "tools/as": TOUCH,
    "tools/cc1": TOUCH,
}
SLOW = ("cargo", "go", "mypy", "npm", "pdflatex", "pylint", "pytest", "tox")
"""Programs whose attacks run in `make faults` only."""
MARKER = "PWN"
DEBIAN_NAMES = {"bat": "batcat", "fd": "fdfind"}


def read_attacks(name: str) -> dict[str, list[str]]:
    """Return the commands in a file, by the line that heads each group."""
    attacks: dict[str, list[str]] = {}
    granted = ""
    text = (DATA / name).read_text()
    for program, debian_name in DEBIAN_NAMES.items():
        if find_missing(program) and not find_missing(debian_name):
            text = re.sub(rf"\b{program}\b(?!\.)", debian_name, text)
    for line in text.splitlines():
        if line.startswith("> "):
            granted = line.removeprefix("> ")
        elif line and not line.startswith(";"):
            attacks.setdefault(granted, []).append(line)
    return attacks


def program_path() -> str:
    """Return a PATH that includes the programs of this Python environment."""
    return f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def find_missing(granted: str) -> str:
    """Return the program of a group if it isn't installed."""
    program = granted.split()[0]
    return "" if is_installed(program) else program


@cache
def is_installed(program: str) -> bool:
    """Return whether a program is installed; tox only from version 4 on, which has other options."""
    path = shutil.which(program, path=program_path())
    if path is None or program != "tox":
        return path is not None
    return (
        "--override" in subprocess.run([path, "--help"], capture_output=True, text=True, check=False).stdout
    )


def find_markers(folder: Path) -> list[Path]:
    """Return what an attack has created in the project or next to it."""
    return [*folder.glob(f"{MARKER}*"), *folder.parent.glob(f"{MARKER}*")]


def create_attacked_project(folder: Path) -> None:
    """Create the files, and a repository with two commits."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if text.startswith("#!"):
            path.chmod(0o700)
    setup = (
        "git init -q; git config user.name a; git config user.email a@b; git add a; git commit -qm 1; "
        "echo z >> a; git add a b; git commit -qm 2; tar cf t.tar a"
    )
    subprocess.run(setup, shell=True, cwd=folder, check=True)


def run_unrestricted(command: str, folder: Path) -> None:
    """Run a command in a copy of the project, as a shell without any permissions would."""
    subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": program_path(), "EVIL": "touch PWN;:"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )

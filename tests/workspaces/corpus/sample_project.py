"""The project that the commands of the corpus run in."""

import os
import sqlite3
import subprocess
from collections.abc import Mapping
from pathlib import Path

LONG_AGO_S = 1_700_000_000
"""Modification time of every file before a command runs."""

_WORDS = [
    "alpha",
    "bravo",
    "charlie",
    "delta",
    "echo",
    "foxtrot",
    "golf",
    "hotel",
    "india",
    "juliet",
    "kilo",
    "lima",
    "mike",
    "november",
    "oscar",
    "papa",
]

_TEXT_FILES = {
    ".gitignore": "build/\ndist/\n*.o\n*.log\n__pycache__/\nnode_modules/\n.venv/\n*.egg-info/\n",
    "README.md": "# Sample\n\nA sample project.\n\n## Usage\n\nRun `make`, then `./hello`.\n",
    "LICENSE": "Permission is granted to anybody to use this.\n" * 12,
    "Makefile": (
        "CC ?= cc\nall: hello\nhello: src/c/main.o src/c/lib.o\n\t$(CC) -o $@ $^\n"
        "%.o: %.c src/c/lib.h\n\t$(CC) -c -o $@ $<\n"
        "clean:\n\trm -f hello src/c/*.o\n\trm -rf build\n"
        "text: build/words.txt build/table.txt\n"
        "build/words.txt: data/words.txt\n\tmkdir -p build\n\tsort -r $< > $@\n"
        "build/table.txt: data/table.csv\n\tmkdir -p build\n\ttr , ' ' < $< > $@\n"
        "install: text\n\tinstall -d $(DESTDIR)/share\n\tinstall -m 640 build/words.txt $(DESTDIR)/share/\n"
        "fails:\n\techo partial > partial.txt\n\tfalse\n"
        ".PHONY: all clean text install fails\n"
    ),
    "pyproject.toml": (
        '[project]\nname = "sample"\nversion = "1.0"\n'
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["scripts"]\n'
    ),
    "package.json": (
        '{\n  "name": "sample",\n  "version": "1.0.0",\n  "private": true,\n'
        '  "scripts": {"build": "node web/build.js", "prebuild": "node -e \\"\\""}\n}\n'
    ),
    "src/app/__init__.py": '"""The sample application."""\n\n__version__ = "1.0"\n',
    "src/app/main.py": (
        '"""Entry point."""\n\nfrom app.util import double\n\n\ndef main() -> int:\n    """Print a number."""\n'
        '    print(double(21))\n    return 0\n\n\nif __name__ == "__main__":\n    raise SystemExit(main())\n'
    ),
    "src/app/util.py": 'def double(x):\n    """Return twice x."""\n    return x*2\n\n\ndef half(x):\n    return x/2\n',
    "src/app/core/__init__.py": "",
    "src/app/core/engine.py": "class Engine:\n    def start(self):\n        self.running = True\n        return self\n",
    "src/app/core/data.json": '{"b": [1, 2, 3], "a": {"x": null, "name": "value"}}\n',
    "src/c/main.c": '#include <stdio.h>\n#include "lib.h"\nint main(void) { printf("%d\\n", twice(21)); return 0; }\n',
    "src/c/lib.c": '#include "lib.h"\nint twice(int x) { return x + x; }\n',
    "src/c/lib.h": "int twice(int x);\n",
    "tests/test_app.py": (
        "import sys\nimport unittest\n\nsys.path.insert(0, 'src')\n\nfrom app.util import double\n\n\n"
        "class DoubleTest(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(2), 4)\n"
    ),
    "docs/index.md": "# Index\n\n- [Guide](guide.md)\n- TODO: write more\n",
    "docs/guide.md": "".join(f"Line {number} of the guide. TODO: {number % 7}\n" for number in range(120)),
    "docs/api/reference.md": "# Reference\n\n`double(x)`\n",
    "data/table.csv": "id,name,price\n" + "".join(f"{n},item{n % 13},{n * 7 % 101}\n" for n in range(200)),
    "data/words.txt": "".join(f"{_WORDS[n * 7 % 16]} {n}\n" for n in range(300)),
    "data/crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "config/settings.toml": '[server]\nport = 8080\nhost = "localhost"\n\n[log]\nlevel = "info"\n',
    "config/.hidden": "secret=1\n",
    "config/with space.txt": "a file with a space\n",
    "config/ünïcode.txt": "grüße\n",
    "scripts/run.sh": "#!/bin/sh\necho ran > ran.txt\n",
    "scripts/tool.py": "import pathlib, sys\npathlib.Path(sys.argv[1]).write_text('tool\\n')\n",
    "web/index.js": "const a = require('./lib/a');\nconsole.log(a.add(1, 2));\n",
    "web/lib/a.js": "exports.add = (x, y) => x + y;\n",
    "web/build.js": (
        "const fs = require('fs');\nfs.mkdirSync('build/web', {recursive: true});\n"
        "fs.writeFileSync('build/web/bundle.js', fs.readFileSync('web/lib/a.js') + '\\n// built\\n');\n"
    ),
    "deep/1/2/3/4/5/leaf.txt": "leaf\n",
    "private/secret.txt": "secret\n",
}

_BACKEND = '''"""A build backend without dependencies."""

import os
import pathlib
import zipfile

NAME = "sample-1.0-py3-none-any.whl"
INFO = "sample-1.0.dist-info"
METADATA = "Metadata-Version: 2.1\\nName: sample\\nVersion: 1.0\\n"
WHEEL = "Wheel-Version: 1.0\\nGenerator: sample\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"


def build_wheel(directory, config_settings=None, metadata_directory=None):
    files = {str(p.relative_to("src")): p.read_text() for p in sorted(pathlib.Path("src/app").rglob("*.py"))}
    files |= {f"{INFO}/METADATA": METADATA, f"{INFO}/WHEEL": WHEEL}
    record = "".join(f"{name},,\\n" for name in [*files, f"{INFO}/RECORD"])
    with zipfile.ZipFile(os.path.join(directory, NAME), "w") as archive:
        for name, text in {**files, f"{INFO}/RECORD": record}.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return NAME


build_editable = build_wheel
'''

_HISTORY = """
git init -q -b main .
git add README.md LICENSE .gitignore Makefile && git commit -qm 'First'
git add src tests scripts && git commit -qm 'Add the sources'
git tag v0.1
git add -A && git commit -qm 'Add everything else'
git switch -qc feature
echo 'A line of the feature.' >> README.md && echo 'new' > src/app/feature.py
git add -A && git commit -qm 'Add a feature'
echo 'MIT' > LICENSE && git commit -qam 'Change the license'
git switch -qc conflict main
echo 'A line that conflicts.' >> README.md && git commit -qam 'Change the same line'
git switch -q main
git rm -q docs/api/reference.md && git commit -qm 'Remove the reference'
git tag -a v1.0 -m 'Version 1.0'
"""


def make_sample_project(root: Path, environment: Mapping[str, str]) -> None:
    """Write the project: 60 files, a git history with three branches, links, and folders with special modes."""
    for name, text in {**_TEXT_FILES, "scripts/backend.py": _BACKEND}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    for number in range(12):
        (root / "old").mkdir(exist_ok=True)
        (root / "old" / f"part{number}.txt").write_text(f"part {number}\n" * (number + 1))
    (root / "data" / "big.bin").write_bytes(bytes(n * n % 251 for n in range(300_000)))
    (root / "docs" / "logo.bin").write_bytes(bytes(range(256)) * 8)
    (root / "docs" / "latest").symlink_to("guide.md")
    (root / "current").symlink_to("docs")
    _make_database(root / "data" / "app.db")
    for script in ("scripts/run.sh", "scripts/tool.py"):
        (root / script).chmod(0o755)
    subprocess.run(["bash", "-ec", _HISTORY], cwd=root, env=dict(environment), check=True)
    (root / "links").mkdir()
    (root / "links" / "first").write_text("two names\n")
    os.link(root / "links" / "first", root / "links" / "second")
    (root / "links" / "dangling").symlink_to("nowhere")
    (root / "links" / "loop1").symlink_to("loop2")
    (root / "links" / "loop2").symlink_to("loop1")
    (root / "empty").mkdir()
    (root / "private" / "secret.txt").chmod(0o600)
    (root / "private").chmod(0o700)
    (root / "group").mkdir()
    (root / "group").chmod(0o2775)
    set_old_times(root)


def set_old_times(root: Path) -> None:
    """Set the modification time of every entry that is newer than `LONG_AGO_S`."""
    top = os.fsencode(root)
    for folder, folders, files in os.walk(top, topdown=False):
        for name in (*folders, *files):
            path = folder + b"/" + name
            if os.lstat(path).st_mtime > LONG_AGO_S:
                os.utime(path, (LONG_AGO_S, LONG_AGO_S), follow_symlinks=False)
    os.utime(top, (LONG_AGO_S, LONG_AGO_S))


def _make_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price INTEGER)")
    connection.executemany(
        "INSERT INTO item (name, price) VALUES (?, ?)", [(f"item{n}", n * 3) for n in range(200)]
    )
    connection.commit()
    connection.close()

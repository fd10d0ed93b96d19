"""Builds: make, a C compiler, Python, npm scripts, and tests of the sample project."""

from tests.workspaces.corpus.corpus_command import CorpusCommand, expand, table


def builds() -> list[CorpusCommand]:
    """Return the commands."""
    return [*_make(), *_compilers(), *_python()]


def _make() -> list[CorpusCommand]:
    return [
        *expand(
            "make @target@",
            "make -s @target@",
            needs="make cc",
            target=(
                "",
                "all -j2",
                "hello CFLAGS=-O2",
                "src/c/lib.o",
                "-n all",
                "-B all",
                "all clean",
                "-k all fails",
            ),
        ),
        *expand(
            "make @target@",
            "make -s @target@",
            needs="make",
            target=(
                "text",
                "-j4 text",
                "install DESTDIR=root",
                "fails",
                "-k fails text",
                "clean",
                "-t text",
                "text clean",
            ),
        ),
        *table(
            "make",
            {
                "again after an edit": (
                    "make -s all",
                    "echo '/* edited */' >> src/c/lib.c && make -s all && ./hello > out",
                ),
                "again without an edit": ("make -s all", "make all > built.txt"),
                "after touch": ("make -s all", "touch src/c/lib.h && make -s all"),
                "out of the tree": "mkdir -p build/obj && cc -c -o build/obj/lib.o src/c/lib.c && ar crD build/lib.a build/obj/lib.o",
            },
            needs="make cc ar",
        ),
    ]


def _compilers() -> list[CorpusCommand]:
    return [
        *table(
            "cc",
            {
                "a program": "cc -o hello src/c/*.c && ./hello > out.txt",
                "debug": "cc -g -c src/c/lib.c -o lib.o",
                "shared": "cc -shared -fPIC -o liblib.so src/c/lib.c",
                "strip": "cc -o hello src/c/*.c && strip hello",
                "static library": "cc -c src/c/lib.c && ar rcsD liblib.a lib.o && ranlib -D liblib.a && rm lib.o",
                "dependencies": "cc -MM src/c/*.c > depend.mk",
                "preprocess": "cc -E -P src/c/lib.c > lib.i",
                "assemble": "cc -S src/c/lib.c && cc -c lib.s",
                "an error": "echo 'int main(' > bad.c && cc bad.c",
                "temporary files here": "TMPDIR=. cc -o hello src/c/*.c",
                "save temps": "cc -save-temps=obj -c src/c/lib.c -o build.o",
                "link-time optimization": "cc -flto -frandom-seed=1 -c src/c/lib.c -o lib.o",
            },
            needs="cc ar strip",
        ),
        *table(
            "cmake",
            {
                "configure and build": (
                    "printf 'cmake_minimum_required(VERSION 3.5)\\nproject(x C)\\nadd_library(lib STATIC src/c/lib.c)\\n' > CMakeLists.txt",
                    "cmake -S . -B build > /dev/null && cmake --build build > /dev/null && cp build/liblib.a . && rm -rf build",
                ),
            },
            needs="cmake cc",
        ),
        *table(
            "ninja",
            {
                "build": (
                    "printf 'rule s\\n command = sort $in > $out\\nbuild sorted.txt: s data/words.txt\\n' > build.ninja",
                    "ninja -d keeprsp > /dev/null && rm -f .ninja_log .ninja_deps",
                ),
            },
            needs="ninja",
        ),
    ]


def _python() -> list[CorpusCommand]:
    return [
        *expand(
            "compileall @option@",
            "python3 -m compileall -q @option@ src",
            option=("", "-f", "-b", "-o 1 -o 2", "-j 2", "--invalidation-mode timestamp"),
        ),
        *table(
            "python",
            {
                "run a module": "PYTHONPATH=src python3 -m app.main > out.txt",
                "byte code is reused": (
                    "PYTHONPATH=src python3 -m app.main",
                    "PYTHONPATH=src python3 -m app.main > out.txt",
                ),
                "unittest": "python3 -m unittest discover -s tests -q 2> /dev/null",
                "unittest fails": "sed -i 's/, 4)/, 5)/' tests/test_app.py; python3 -B -m unittest discover -s tests -q 2> /dev/null",
                "zipapp": "python3 -m zipapp src -m app.main:main -o app.pyz && python3 app.pyz > out && rm app.pyz",
                "build a wheel": "python3 -c \"import sys; sys.path.insert(0, 'scripts'); import backend; backend.build_wheel('.')\"",
                "dont write byte code": "python3 -B -c 'import sys; sys.path[:0] = [\"src\"]; import app.util'",
                "optimized": "PYTHONPATH=src python3 -O -c 'import app.core.engine'",
                "cache prefix": "PYTHONPYCACHEPREFIX=$PWD/build/cache PYTHONPATH=src python3 -c 'import app.util' && find build -name '*.pyc' | wc -l > n.txt",
                "profile": "python3 -m cProfile -o p.out -c 'sum(range(9))' > /dev/null && rm p.out",
                "trace": "cd src && python3 -m trace --count -C ../cover app/util.py > /dev/null && ls ../cover > ../covered.txt",
                "doctest": "printf '>>> 1 + 1\\n2\\n' > d.txt && python3 -m doctest d.txt",
                "json tool": "python3 -m json.tool --sort-keys src/app/core/data.json out.json && mv out.json src/app/core/data.json",
                "http server's file list": 'python3 -c \'import os; open("list", "w").write(str(sorted(os.listdir("."))))\'',
                "py_compile": "python3 -m py_compile src/app/util.py",
                "a syntax error": "echo 'def' > bad.py && python3 bad.py 2> error.txt",
            },
        ),
    ]

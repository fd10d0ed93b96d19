"""Scripts in Python and JavaScript that change files in the ways that programs do."""

from tests.workspaces.corpus.corpus_command import CorpusCommand, expand, table

_PYTHON = "python3 - <<'X'\nimport json, os, pathlib, shutil, tempfile\nP = pathlib.Path\n@code@\nX"
_NODE = "node - <<'X'\nconst fs = require('fs'), path = require('path');\n@code@\nX"


def scripts() -> list[CorpusCommand]:
    """Return the commands."""
    return [*_python(), *_node(), *_others()]


def _python() -> list[CorpusCommand]:
    return expand(
        "python script",
        _PYTHON,
        code={
            "write text": "P('README.md').write_text('new\\n')",
            "append": "open('README.md', 'a').write('more\\n')",
            "read and write": "f = open('README.md', 'r+'); t = f.read(); f.seek(0); f.write(t.upper()); f.truncate()",
            "atomic save": "t = tempfile.NamedTemporaryFile('w', dir='.', delete=False); t.write('x'); t.close(); os.replace(t.name, 'README.md')",
            "json": "d = json.loads(P('package.json').read_text()); d['x'] = 1; P('package.json').write_text(json.dumps(d))",
            "makedirs": "os.makedirs('a/b/c'); P('a/b/c/f').touch()",
            "rmtree": "shutil.rmtree('old')",
            "copytree": "shutil.copytree('src', 'copy')",
            "copytree over": "shutil.copytree('src', 'docs', dirs_exist_ok=True)",
            "copytree with links": "shutil.copytree('links', 'copy', symlinks=True)",
            "move a file": "shutil.move('README.md', 'docs')",
            "move a folder": "shutil.move('docs', 'moved')",
            "rename a file": "os.rename('README.md', 'R.md')",
            "rename a folder": "os.rename('src', 'source')",
            "rename a new folder": "os.mkdir('n'); P('n/f').write_text('x'); os.rename('n', 'm')",
            "replace a link": "os.symlink('x', 't'); os.replace('t', 'current')",
            "unlink all": "[p.unlink() for p in P('old').iterdir()]; P('old').rmdir()",
            "chmod": "os.chmod('README.md', 0o600); os.chmod('docs', 0o700)",
            "utime": "os.utime('README.md', (1, 2)); os.utime('docs', ns=(5, 123456789))",
            "link": "os.link('README.md', 'hard'); os.symlink('hard', 'soft')",
            "many files": "os.mkdir('m'); [P(f'm/{n}').write_text(str(n)) for n in range(500)]",
            "make archive": "shutil.make_archive('a', 'tar', 'deep')",
            "unpack archive": "shutil.make_archive('a', 'zip', 'deep'); shutil.unpack_archive('a.zip', 'un'); os.remove('a.zip')",
            "truncate": "os.truncate('data/words.txt', 100)",
            "temporary folder": "d = tempfile.mkdtemp(dir='.'); P(d, 'f').write_text('x'); shutil.rmtree(d)",
            "in place by fileinput": "import fileinput\nfor line in fileinput.input('LICENSE', inplace=True): print(line.upper(), end='')",
            "csv": "import csv; rows = list(csv.reader(open('data/table.csv'))); csv.writer(open('data/table.csv', 'w')).writerows(rows[:9])",
            "configparser": "import configparser as c; p = c.ConfigParser(); p['a'] = {'b': 'c'}; p.write(open('x.ini', 'w'))",
            "log": "import logging; logging.basicConfig(filename='a.log', format='%(message)s'); logging.error('x')",
            "rotated log": "import logging.handlers as h, logging\nr = h.RotatingFileHandler('r.txt', maxBytes=50, backupCount=3)\nfor n in range(20): r.emit(logging.makeLogRecord({'msg': 'x' * 20}))",
            "subprocess": "import subprocess; subprocess.run(['sh', '-c', 'echo x > sub.txt'], check=True)",
            "multiprocessing": "import multiprocessing as m\nc = m.get_context('fork')\np = [c.Process(target=P(f'p{n}').write_text, args=('x',)) for n in range(4)]\n[x.start() for x in p]; [x.join() for x in p]",
            "threads": "import threading\nt = [threading.Thread(target=P(f't{n}').write_text, args=('x',)) for n in range(8)]\n[x.start() for x in t]; [x.join() for x in t]",
            "fsync": "f = open('README.md', 'w'); f.write('x'); f.flush(); os.fsync(f.fileno()); os.fsync(os.open('.', os.O_RDONLY))",
            "lock": "import fcntl; f = open('lock', 'w'); fcntl.flock(f, fcntl.LOCK_EX); P('README.md').write_text('x')",
            "exclusive": "open('new', 'x').write('x')\ntry: open('README.md', 'x')\nexcept FileExistsError: P('exists').touch()",
            "dir_fd": "d = os.open('docs', os.O_RDONLY); f = os.open('new', os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=d); os.write(f, b'x'); os.rename('new', 'newer', src_dir_fd=d, dst_dir_fd=d)",
            "chdir": "os.chdir('docs'); P('here').touch(); os.chdir('..'); P('there').touch()",
            "an exception": "P('before').touch(); raise SystemExit(3)",
            "glob and delete": "[p.unlink() for p in P('.').glob('old/part[1-4]*')]",
        },
    )


def _node() -> list[CorpusCommand]:
    return expand(
        "node script",
        _NODE,
        needs="node",
        code={
            "write": "fs.writeFileSync('README.md', 'new\\n')",
            "append": "fs.appendFileSync('README.md', 'more\\n')",
            "rename": "fs.renameSync('README.md', 'R.md')",
            "rename a folder": "fs.renameSync('docs', 'documents')",
            "rename a new folder": "fs.mkdirSync('n'); fs.writeFileSync('n/f', 'x'); fs.renameSync('n', 'm')",
            "copy": "fs.copyFileSync('README.md', 'copy.md'); fs.cpSync('src', 'copy', {recursive: true})",
            "remove": "fs.rmSync('old', {recursive: true}); fs.unlinkSync('LICENSE')",
            "make folders": "fs.mkdirSync('a/b/c', {recursive: true}); fs.writeFileSync('a/b/c/f', 'x')",
            "link": "fs.symlinkSync('README.md', 's'); fs.linkSync('README.md', 'h')",
            "chmod": "fs.chmodSync('README.md', 0o755); fs.utimesSync('LICENSE', 1, 2)",
            "truncate": "fs.truncateSync('data/words.txt', 7)",
            "atomic save": "fs.writeFileSync('.t', 'x'); fs.renameSync('.t', 'README.md')",
            "stream": "fs.createReadStream('data/big.bin').pipe(fs.createWriteStream('big.copy'))",
            "promises": "Promise.all([1, 2, 3].map(n => fs.promises.writeFile('p' + n, 'x' + n)))",
            "json": "const p = JSON.parse(fs.readFileSync('package.json')); p.x = 1; fs.writeFileSync('package.json', JSON.stringify(p, null, 2))",
            "child process": "require('child_process').execSync('echo x > child.txt')",
            "temporary folder": "const d = fs.mkdtempSync('./t-'); fs.rmSync(d, {recursive: true})",
            "an exception": "fs.writeFileSync('before', ''); process.exit(4)",
            "bundle": "require(path.resolve('web/build.js'))",
            "walk and edit": "for (const f of fs.readdirSync('old')) fs.writeFileSync('old/' + f, fs.readFileSync('old/' + f, 'utf8').toUpperCase())",
        },
    )


def _others() -> list[CorpusCommand]:
    return [
        *table(
            "script",
            {
                "of the project": "./scripts/run.sh",
                "of the project, with an argument": "python3 scripts/tool.py made.txt",
                "made and run": "printf '#!/bin/sh\\necho x > y\\n' > s.sh && chmod +x s.sh && ./s.sh",
                "tcl": "echo 'set f [open x w]; puts $f hi; close $f; file rename README.md R' | tclsh; true",
                "bc": "echo '2^100' | bc > number.txt; true",
                "perl rename": 'perl -e \'rename "README.md", "R.md" or die\'',
                "perl folder": 'perl -e \'mkdir "p"; open F, ">p/f"; print F "x"; close F; rename "p", "q"\'',
                "xargs in parallel": "seq 20 | xargs -P4 -I{} sh -c 'echo {} > old/x{}'",
                "a pipeline that fails": "set -o pipefail; false | tee out.txt",
                "subshells": "(cd docs && echo x > a && (cd .. && echo y > b))",
                "exit code": "echo x > x.txt; exit 7",
                "trap": "trap 'rm -f lock' EXIT; touch lock; echo x > done.txt",
                "background and wait": "(sleep 0.1; echo late > late.txt) & echo soon > soon.txt; wait",
                "openssl digest": "openssl dgst -sha256 README.md > digest.txt; true",
            },
        ),
    ]

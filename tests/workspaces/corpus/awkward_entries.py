"""Entries that are more than a name and contents: links, special files, holes, attributes, modes, owners."""

from tests.workspaces.corpus.corpus_command import CorpusCommand, expand, table

_PYTHON = "python3 - <<'X'\nimport mmap, os, pathlib, socket, struct\nP = pathlib.Path\n@code@\nX"


def awkward_entries() -> list[CorpusCommand]:
    """Return the commands."""
    return [
        *_special_files(),
        *_hard_links(),
        *_attributes(),
        *_modes(),
        *_owners(),
        *_system_calls(),
        *_sizes(),
    ]


def _special_files() -> list[CorpusCommand]:
    return [
        *table(
            "fifo",
            {
                "made": "mkfifo pipe",
                "made and removed": "mkfifo pipe && rm pipe",
                "used": "mkfifo pipe && (echo through > pipe &) && cat pipe > out.txt",
                "existing": ("mkfifo pipe", "(echo through > pipe &) && cat pipe > out.txt"),
                "renamed": ("mkfifo pipe", "mv pipe tube"),
                "with a mode": ("mkfifo pipe", "chmod 600 pipe"),
                "removed": ("mkfifo pipe", "rm pipe"),
                "replaces a file": "rm README.md && mkfifo README.md",
                "replaced by a file": ("mkfifo pipe", "rm pipe && echo x > pipe"),
                "in a moved folder": ("mkdir f && mkfifo f/pipe", "mv f g"),
            },
            is_awkward=True,
        ),
        *expand(
            "socket",
            _PYTHON,
            is_awkward=True,
            code={
                "made": "socket.socket(socket.AF_UNIX).bind('s')",
                "made and removed": "socket.socket(socket.AF_UNIX).bind('s'); os.remove('s')",
                "used": "a = socket.socket(socket.AF_UNIX); a.bind('s'); a.listen(); b = socket.socket(socket.AF_UNIX); b.connect('s'); P('ok').touch()",
                "replaces a file": "os.remove('README.md'); socket.socket(socket.AF_UNIX).bind('README.md')",
            },
        ),
        *table(
            "device",
            {
                "made": "mknod null c 1 3; ls null",
                "like a whiteout": "mknod zero c 0 0; ls zero",
                "block device": "mknod disk b 7 0; ls disk",
            },
            is_awkward=True,
        ),
    ]


def _hard_links() -> list[CorpusCommand]:
    return table(
        "hard link",
        {
            "written through one name": "echo more >> links/first",
            "one name removed": "rm links/first",
            "one name replaced": "echo new > t && mv t links/first",
            "third name": "ln links/first links/third",
            "in another folder": "ln links/second docs/second && echo more >> docs/second",
            "by sed": "sed -i s/two/three/ links/first",
            "mode of one name": "chmod 600 links/second",
            "time of one name": "touch -d 2020-01-01 links/first",
            "both names removed": "rm links/first links/second",
            "both names moved": "mv links/first a && mv links/second docs/b",
            "moved and written": "mv links/first a && echo more >> a",
            "folder moved": "mv links connections",
            "folder copied": "cp -a links connections",
            "folder removed and made": "cp -a links x && rm -r links && mv x links",
            "one name over the other": "ln -f links/first links/second && mv links/first links/second",
            "one name to a link": "ln -sf second links/first",
            "truncated": "truncate -s 3 links/first",
            "over a file": "ln -f links/first README.md",
            "to a new file, then removed": "echo x > n && ln n m && rm n && echo y >> m",
            "of 20 names": "for n in $(seq 20); do ln links/first links/l$n; done && echo more >> links/l7",
            "to a symbolic link": "ln -P links/dangling links/also && ln -P docs/latest docs/l2",
            "split by tar": "tar cf - links | (mkdir x; cd x; tar xf -)",
            "in git": "git add -A && git commit -qm L && git checkout -q v0.1 && git checkout -q main",
        },
        is_awkward=True,
    )


def _attributes() -> list[CorpusCommand]:
    return [
        *expand(
            "extended attribute",
            _PYTHON,
            is_awkward=True,
            code={
                "set": "os.setxattr('README.md', 'user.note', b'hello')",
                "set on a folder": "os.setxattr('docs', 'user.note', b'hello')",
                "empty": "os.setxattr('README.md', 'user.empty', b'')",
                "large": "os.setxattr('README.md', 'user.large', b'x' * 2000)",
                "bytes": "os.setxattr('README.md', 'user.bytes', bytes(range(256)))",
                "many": "[os.setxattr('README.md', f'user.n{n}', b'x') for n in range(30)]",
                "set and removed": "os.setxattr('README.md', 'user.note', b'x'); os.removexattr('README.md', 'user.note')",
                "on a new file": "P('n').touch(); os.setxattr('n', 'user.note', b'x')",
                "then written": "os.setxattr('README.md', 'user.note', b'x'); P('README.md').write_text('new')",
                "like an overlay's": "os.setxattr('docs', 'user.overlay.opaque', b'y')",
                "like an overlay's on a new folder": "os.mkdir('n'); os.setxattr('n', 'user.overlay.opaque', b'y'); P('n/f').touch()",
                "like an overlay's whiteout": "P('n').touch(); os.setxattr('n', 'user.overlay.whiteout', b'')",
            },
        ),
        *expand(
            "existing attribute",
            _PYTHON.replace("@code@", "@use@"),
            setup=_PYTHON.replace(
                "@code@",
                "os.setxattr('README.md', 'user.note', b'old'); os.setxattr('docs', 'user.d', b'old')",
            ),
            is_awkward=True,
            use={
                "kept by a write": "P('README.md').write_text('new')",
                "lost by a replacement": "P('t').write_text('new'); os.replace('t', 'README.md')",
                "removed": "os.removexattr('README.md', 'user.note')",
                "changed": "os.setxattr('README.md', 'user.note', b'new')",
                "of a renamed file": "os.rename('README.md', 'R')",
                "of a folder with a new file": "P('docs/n').touch()",
                "of a renamed folder": "import shutil; shutil.move('docs', 'd')",
            },
        ),
        *table(
            "access list",
            {
                "capability": "setcap cap_net_bind_service+ep scripts/run.sh",
                "immutable": "chattr +i README.md && chattr -i README.md; echo x >> README.md",
                "no copy on write": "touch n && chattr +C n; echo x > n",
            },
            is_awkward=True,
            needs="setcap chattr",
        ),
    ]


def _modes() -> list[CorpusCommand]:
    return table(
        "mode",
        {
            "read-only file written": "chmod 444 README.md; echo x > README.md",
            "read-only file replaced": "chmod 444 README.md; echo x > t; mv -f t README.md",
            "read-only folder": "chmod 555 docs; touch docs/new; rm -f docs/index.md",
            "existing read-only folder": (
                "chmod 555 docs",
                "touch docs/new; rm -f docs/index.md; chmod 755 docs; touch docs/other",
            ),
            "existing read-only folder, written": ("chmod 555 docs", "echo more >> docs/index.md"),
            "existing read-only file": ("chmod 400 README.md", "echo x >> README.md; chmod 644 README.md"),
            "unreadable file": ("chmod 000 README.md", "cat README.md > copy; rm -f README.md"),
            "unreadable file renamed": ("chmod 000 README.md", "mv README.md R.md"),
            "unreadable file changed": ("chmod 000 README.md", "chmod 600 README.md && echo x >> README.md"),
            "unreadable folder": ("chmod 000 old", "ls old > list; rm -rf old"),
            "unreadable folder opened": ("chmod 000 old", "chmod 755 old && touch old/new"),
            "write-only file": ("chmod 200 README.md", "echo x >> README.md"),
            "made unreadable": "echo x > n && chmod 000 n README.md",
            "folder made unreadable": "chmod 000 old docs",
            "folder made read-only": "mkdir -p n/m && touch n/m/f && chmod 555 n/m n",
            "search-only folder": ("chmod 111 docs", "cat docs/index.md > copy; touch docs/index.md"),
            "setgid folder": "mkdir group/sub && touch group/f group/sub/f",
            "setgid folder removed": "rm -r group && mkdir group",
            "sticky folder": "chmod 1777 empty && touch empty/f",
            "setuid program": "cp /bin/true t && chmod 4755 t",
            "setuid lost by a write": ("chmod 4755 scripts/run.sh", "echo '# x' >> scripts/run.sh"),
            "setgid kept by chmod": ("chmod 2755 docs", "chmod 755 docs"),
            "tree made read-only": "chmod -R a-w src",
            "read-only tree removed": ("chmod -R a-w old", "rm -rf old; chmod -R u+w old; rm -rf old"),
            "private folder": "touch private/new && sed -i s/secret/SECRET/ private/secret.txt",
            "umask 0": "umask 0 && touch open && mkdir open.d",
            "work dir's own mode": "chmod 700 .",
            "work dir read-only": "chmod 555 .; touch new; chmod 755 .",
            "work dir's time": "touch -d 2020-01-01 .",
        },
        is_awkward=True,
    )


def _owners() -> list[CorpusCommand]:
    foreign = "chown 12345:12345 README.md old old/part1.txt; chown -R 12345:12345 deep"
    world = f"{foreign}; chmod 777 old deep; chmod 666 README.md old/part1.txt"
    rows = {
        "foreign file written": (world, "echo x >> README.md"),
        "foreign file replaced": (world, "echo x > t && mv -f t README.md"),
        "foreign file removed": (foreign, "rm -f README.md"),
        "foreign file renamed": (foreign, "mv README.md R.md"),
        "foreign file's mode": (foreign, "chmod 600 README.md"),
        "foreign file read": (foreign, "cat README.md > copy"),
        "foreign folder, new file": (world, "touch old/new"),
        "foreign folder, file removed": (world, "rm -f old/part2.txt"),
        "foreign folder, renamed": (world, "mv old older"),
        "foreign tree removed": (world, "rm -rf deep"),
        "foreign tree copied": (world, "cp -a deep copy"),
        "foreign file in a group": (
            f"{foreign}; chgrp 54321 LICENSE",
            "echo x >> LICENSE; chmod 664 LICENSE",
        ),
        "foreign file untouched": (foreign, "echo x > new"),
    }
    as_root = {
        "chown": "chown 12345 README.md",
        "chown -R": "chown -R 12345:54321 src",
        "chown of a link": "chown -h 12345 docs/latest",
        "chown and write": "chown 12345 README.md && echo x >> README.md",
        "new file of another": "touch n && chown 777:777 n",
        "tar with owners": "chown 5:6 old/* && tar cf a.tar old && rm -r old && tar xf a.tar",
    }
    return [
        *(
            command
            for name, (setup, script) in rows.items()
            for command in expand(f"owner {name}", script, root_setup=setup, is_awkward=True)
        ),
        *table("owner", as_root, is_awkward=True),
    ]


def _system_calls() -> list[CorpusCommand]:
    rename = "import ctypes; L = ctypes.CDLL(None, use_errno=True); R = lambda a, b, f: L.syscall(316, -100, a, -100, b, f)"
    return expand(
        "system call",
        _PYTHON,
        is_awkward=True,
        code={
            "O_TMPFILE": "f = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o644); os.write(f, b'x'); os.link(f'/proc/self/fd/{f}', 'made', follow_symlinks=True)",
            "O_TMPFILE dropped": "f = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o644); os.write(f, b'x')",
            "mmap shared": "f = open('data/words.txt', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[:5] = b'MAPPE'; m.flush()",
            "mmap without flush": "f = open('data/big.bin', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[100_000:100_004] = b'XXXX'; m.close()",
            "mmap of a new file": "f = open('n', 'w+b'); f.truncate(10_000); m = mmap.mmap(f.fileno(), 0); m[9_000:9_001] = b'x'",
            "write after unlink": "f = open('README.md', 'a'); os.remove('README.md'); f.write('x'); f.close()",
            "write after rename": "f = open('README.md', 'a'); os.rename('README.md', 'R'); f.write('x'); f.close()",
            "read then written elsewhere": "f = open('README.md'); P('README.md').write_text('new'); P('out').write_text(f.read())",
            "append from two": "a, b = open('README.md', 'a'), open('README.md', 'a'); a.write('a'); a.flush(); b.write('b'); b.close(); a.close()",
            "pwrite past the end": "f = os.open('README.md', os.O_WRONLY); os.pwrite(f, b'end', 50_000)",
            "fallocate": "f = os.open('n', os.O_CREAT | os.O_WRONLY); os.posix_fallocate(f, 0, 100_000)",
            "copy_file_range": "a = os.open('data/big.bin', os.O_RDONLY); b = os.open('n', os.O_CREAT | os.O_WRONLY); os.copy_file_range(a, b, 100_000)",
            "sendfile": "a = os.open('data/big.bin', os.O_RDONLY); b = os.open('n', os.O_CREAT | os.O_WRONLY); os.sendfile(b, a, 0, 100_000)",
            "exchange files": f"{rename}; R(b'README.md', b'LICENSE', 2)",
            "exchange a file and a folder": f"{rename}; R(b'README.md', b'old', 2)",
            "exchange folders": f"{rename}; R(b'docs', b'old', 2)",
            "rename without replacing": f"{rename}; R(b'README.md', b'LICENSE', 1); R(b'README.md', b'R', 1)",
            "nanoseconds": "os.utime('README.md', ns=(1, 1_600_000_000_123_456_789))",
            "time before 1970": "os.utime('README.md', (-100, -100))",
            "time of a link": "os.utime('docs/latest', (5, 6), follow_symlinks=False)",
            "time in the future": "os.utime('README.md', (4e9, 4e9))",
            "truncate open file": "f = open('data/words.txt', 'r+'); f.truncate(5); f.seek(10); f.write('x'); f.close()",
            "touch by futimens": "f = os.open('LICENSE', os.O_RDONLY); os.utime(f, (9, 9))",
            "fchmod": "f = os.open('LICENSE', os.O_RDONLY); os.fchmod(f, 0o640)",
            "directory locked": "import fcntl; f = os.open('docs', os.O_RDONLY); fcntl.flock(f, fcntl.LOCK_EX); P('docs/n').touch()",
            "lease": "import fcntl; f = os.open('LICENSE', os.O_RDONLY); print(fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_RDLCK))",
            "direct I/O": "f = os.open('n', os.O_CREAT | os.O_WRONLY | os.O_DIRECT); m = mmap.mmap(-1, 4096); os.write(f, m)",
            "chroot": "os.chroot('docs'); P('/in-root').touch()",
            "long link": "os.symlink('x' * 4000, 'long')",
        },
    )


def _sizes() -> list[CorpusCommand]:
    return [
        *table(
            "sparse file",
            {
                "made": "truncate -s 100M sparse",
                "made with data in the middle": "truncate -s 50M s && printf x | dd of=s bs=1 seek=20000000 conv=notrunc status=none",
                "existing, written": (
                    "truncate -s 20M s",
                    "printf x | dd of=s bs=1 seek=10000000 conv=notrunc status=none",
                ),
                "existing, renamed": ("truncate -s 20M s", "mv s t"),
                "existing, mode": ("truncate -s 20M s", "chmod 600 s"),
                "copied": ("truncate -s 20M s", "cp --sparse=always s t"),
                "punched": "dd if=/dev/urandom of=/dev/null count=1 status=none; fallocate -p -o 8192 -l 65536 data/big.bin",
                "of 3 GB": "truncate -s 3G huge",
            },
            is_awkward=True,
            needs="fallocate truncate",
        ),
        *table(
            "large",
            {
                "30 MB": "head -c 30000000 /dev/zero | tr '\\0' x > large",
                "30 MB, appended": ("head -c 30000000 /dev/zero | tr '\\0' x > large", "echo end >> large"),
                "30 MB, one byte": (
                    "head -c 30000000 /dev/zero | tr '\\0' x > large",
                    "printf Y | dd of=large bs=1 seek=15000000 conv=notrunc status=none",
                ),
                "2,000 files": "mkdir many && cd many && touch $(seq 2000)",
                "10,000 files": "mkdir many && cd many && seq 10000 | xargs touch",
                "10,000 files removed": ("mkdir many && cd many && seq 10000 | xargs touch", "rm -r many"),
                "1,000 folders": "mkdir -p $(seq -f 'd/%g/e' 1000)",
                "2,000 links": "mkdir l && cd l && for n in $(seq 2000); do echo $n; done | xargs -I{} -P2 true; ln -s x $(printf 'a') && for n in $(seq 300); do ln -s t$n l$n; done",
                "300 levels": "p=; for n in $(seq 300); do p=${p}d/; done; mkdir -p $p && touch ${p}leaf",
                "a line of a megabyte": "head -c 1000000 /dev/zero | tr '\\0' y > README.md",
            },
            is_awkward=True,
        ),
    ]

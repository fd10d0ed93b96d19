"""Commands that create, copy, move, link and remove files and folders."""

from tests.workspaces.corpus.corpus_command import CorpusCommand, expand, table

_FOLDERS = ("src", "docs", "old", "deep", "config")


def folder_changes() -> list[CorpusCommand]:
    """Return the commands."""
    return [*_moves(), *_copies(), *_removals(), *_modes(), *_links(), *_finds()]


def _moves() -> list[CorpusCommand]:
    return [
        *expand(
            "mv @file@ to @target@",
            "mv @file@ @target@",
            file=("README.md", "data/words.txt", "src/app/util.py", "scripts/run.sh"),
            target=("moved.txt", "docs/", "LICENSE"),
        ),
        *expand("mv folder @folder@", "mv @folder@ renamed", folder=_FOLDERS),
        *expand("mv folder @folder@ into another", "mv @folder@ empty/", folder=_FOLDERS),
        *expand("mv folder @folder@ and back", "mv @folder@ tmp && mv tmp @folder@", folder=_FOLDERS),
        *expand("mv files of @folder@", "mkdir target && mv @folder@/* target/", folder=_FOLDERS),
        *table(
            "mv",
            {
                "new folder": "mkdir -p fresh/a && echo x > fresh/a/f && mv fresh fresher",
                "new folder twice": "mkdir fresh && echo x > fresh/f && mv fresh b && mv b c && mv c docs/",
                "swap files": "mv README.md t && mv LICENSE README.md && mv t LICENSE",
                "no clobber": "mv -n README.md LICENSE",
                "with a backup": "mv -b README.md LICENSE",
                "symbolic link": "mv docs/latest docs/newest",
                "all the texts": "for f in old/*.txt; do mv $f ${f%.txt}.md; done",
                "a file over itself": "mv README.md README.md; true",
                "a missing file": "mv missing.txt there.txt",
                "file into a new folder": "mkdir -p a/b/c && mv LICENSE a/b/c/ && rm -f a/b/c/LICENSE",
                "atomic save": "echo new > .README.md.tmp && mv .README.md.tmp README.md",
            },
        ),
    ]


def _copies() -> list[CorpusCommand]:
    return [
        *expand(
            "cp @option@ folder @folder@", "cp @option@ @folder@ copy", option=("-r", "-a"), folder=_FOLDERS
        ),
        *expand(
            "cp @option@ a file over another",
            "cp @option@ data/words.txt README.md",
            option=("", "-p", "-f", "-b", "-u", "--remove-destination", "--reflink=auto", "-T"),
        ),
        *table(
            "copy",
            {
                "cp several": "cp README.md LICENSE Makefile old/",
                "cp -l": "cp -rl src linked && echo x > linked/app/new.py",
                "cp -s": "cp -rs $PWD/src linked",
                "cp --parents": "mkdir t && cp --parents src/app/util.py data/words.txt t",
                "cp with time": "cp -p README.md copy.md",
                "cp of a link": "cp -P docs/latest docs/also && cp -L docs/latest docs/followed",
                "install": "install -m 600 README.md private/readme && install -d -m 750 x/y/z",
                "install -D": "install -D data/words.txt share/lists/words.txt",
                "touch": "touch README.md new.txt && touch -c missing.txt",
                "mkdir -p": "mkdir -p a/b/c/d a/e && echo x > a/b/c/d/f",
                "mkdir with a mode": "mkdir -m 700 secret && mkdir -m 1777 shared",
                "brace expansion": "mkdir -p {x,y}/{1,2,3} && touch {x,y}/{1,2,3}/f",
                "copy and edit": "cp -r src/app src/app2 && sed -i s/double/triple/ src/app2/*.py",
                "tar pipe": "mkdir t && tar cf - docs | tar xf - -C t",
                "mktemp here": "f=$(mktemp -p .) && echo x > $f && mv $f made.txt && chmod 644 made.txt",
                "umask": "umask 077 && echo x > hidden.txt && mkdir hidden.d",
            },
        ),
    ]


def _removals() -> list[CorpusCommand]:
    return [
        *expand("rm -r @folder@", "rm -r @folder@", folder=_FOLDERS),
        *expand(
            "rm -rf @folder@ and make it again",
            "rm -rf @folder@ && mkdir @folder@ && echo x > @folder@/f",
            folder=_FOLDERS,
        ),
        *expand(
            "rm @file@",
            "rm -f @file@",
            file=(
                "README.md",
                "data/big.bin",
                "docs/latest",
                "current",
                "src/app/*.py",
                "old/part1*",
                "none",
            ),
        ),
        *table(
            "remove",
            {
                "rmdir": "rmdir empty",
                "rmdir not empty": "rmdir docs",
                "rmdir -p": "rm deep/1/2/3/4/5/leaf.txt && rmdir -p deep/1/2/3/4/5",
                "all and again": "rm README.md && echo again > README.md",
                "made and removed": "echo x > gone.txt && mkdir gone.d && rm -r gone.txt gone.d",
                "unlink": "unlink LICENSE",
                "everything": "rm -rf ./*",
                "a folder for a file": "rm -r old && echo x > old",
                "a file for a folder": "rm LICENSE && mkdir LICENSE && echo x > LICENSE/MIT",
                "git clean": "touch junk.tmp build.log && mkdir build && touch build/x && rm -rf build *.log *.tmp",
            },
        ),
    ]


def _modes() -> list[CorpusCommand]:
    return [
        *expand(
            "chmod @mode@ @file@",
            "chmod @mode@ @file@",
            mode=("+x", "600", "a-w", "u=rw,go=", "g+s"),
            file=("README.md", "scripts/run.sh", "docs"),
        ),
        *table(
            "modes",
            {
                "chmod -R": "chmod -R go-rwx src",
                "chmod of folders only": "find src docs -type d -exec chmod 750 {} +",
                "chmod of scripts": "chmod +x scripts/*",
                "chmod and edit": "chmod 640 README.md && echo x >> README.md",
                "edit and chmod": "echo x >> README.md && chmod 755 README.md",
                "chmod of a new file": "echo x > n && chmod 4755 n",
                "chmod there and back": "chmod 600 LICENSE && chmod 644 LICENSE",
                "touch -d": "touch -d 2020-02-02T02:02:02 README.md docs/guide.md",
                "touch -r": "touch -r scripts/tool.py -d 2019-01-01 LICENSE",
                "touch a folder": "touch -d 2021-01-01 docs",
                "chgrp to the own group": "chgrp $(id -g) README.md && chown $(id -u) LICENSE",
            },
        ),
    ]


def _links() -> list[CorpusCommand]:
    return [
        *expand(
            "ln @option@ @file@",
            "ln @option@ @file@ link.new",
            option=("", "-s"),
            file=("README.md", "data/big.bin", "scripts/run.sh"),
        ),
        *table(
            "link",
            {
                "to a folder": "ln -s src/app app && echo x > app/new.py",
                "replaced": "ln -sfn src current && ls current/",
                "dangling": "ln -s /nowhere/at/all dangling",
                "relative": "ln -sr src/app/util.py docs/util.py",
                "loop": "ln -s a b && ln -s b a",
                "hard, then write": "ln README.md hard.md && echo x >> hard.md",
                "hard, then remove the first": "ln LICENSE second && rm LICENSE",
                "hard in another folder": "ln data/words.txt docs/words.txt",
                "three hard links": "ln README.md r1 && ln README.md r2 && ln r2 docs/r3",
                "of a new file": "echo x > n && ln n m && ln m docs/o",
                "to itself": "ln -s self self",
                "switch a release": "mkdir -p r/1 r/2 && ln -s r/1 now && ln -s r/2 now.t && mv -T now.t now",
                "write through": "echo changed > docs/latest",
                "sed through": "sed -i s/Line/Row/ docs/latest",
            },
        ),
    ]


def _finds() -> list[CorpusCommand]:
    return [
        *table(
            "find",
            {
                "delete": "find old -name 'part1*' -delete",
                "delete empty": "find . -path ./.git -prune -o -empty -type d -print | xargs -r rmdir",
                "rename": "find old -name '*.txt' -exec sh -c 'mv $1 ${1%.txt}.md' _ {} ';'",
                "touch": "find src -name '*.py' -exec touch {} +",
                "copy": "mkdir t && find . -path ./.git -prune -o -name '*.md' -exec cp {} t ';'",
                "list": "find . -path ./.git -prune -o -type f -print | sort > ../files.lst; mv ../files.lst .",
                "new files": "touch -d 2000-01-01 mark && find . -newer mark -name '*.toml' | sort > new.lst",
                "sizes": "du -ab src | sort -k2 > sizes.txt; test -s sizes.txt && rm sizes.txt",
                "prefix": "find src -name '*.py' | while read -r f; do (echo '# prefix'; cat $f) > t && mv t $f; done",
                "grep only": "grep -rn return src > returns.txt",
            },
        ),
    ]

"""Folders that are renamed, swapped, replaced or removed while something is in them."""

from tests.workspaces.corpus.corpus_command import CorpusCommand, expand, table

_RENAME = "python3 -c 'import os, sys; os.rename(sys.argv[1], sys.argv[2])'"


def awkward_folders() -> list[CorpusCommand]:
    """Return the commands."""
    return [
        *expand(
            "rename(2) of @folder@,",
            f"{_RENAME} @folder@ other; @then@",
            is_awkward=True,
            folder=("src", "docs", "deep/1/2", "links"),
            then={
                "alone": "true",
                "new file": "touch other/new",
                "old name made again": "mkdir @folder@ && touch @folder@/new",
                "removed": "rm -rf other",
                "and back": f"{_RENAME} other @folder@",
                "file moved out": "mv other/* . 2> /dev/null; true",
            },
        ),
        *_rename_chains(),
        *_replacements(),
        *_current_folder(),
    ]


def _rename_chains() -> list[CorpusCommand]:
    return table(
        "renames",
        {
            "chain of files": "mv README.md a && mv a b && mv b c && mv c README.md",
            "cycle of files": "mv README.md t && mv LICENSE README.md && mv Makefile LICENSE && mv t Makefile",
            "cycle of folders": "mv docs t && mv old docs && mv data old && mv t data",
            "swap of folders": "mv docs t && mv old docs && mv t old",
            "swap of a file and a folder": "mv README.md t && mv old README.md && mv t old",
            "swap of a link and its target": "rm docs/latest && mv docs/guide.md docs/latest && ln -s latest docs/guide.md",
            "folder into itself": "mv docs docs/inner",
            "folder into its folder": "mkdir docs/sub && mv docs/*.md docs/sub/",
            "folder over an empty folder": "mv -T old empty",
            "folder over a full folder": "mv -T old docs",
            "file over a folder": "mv -T README.md docs",
            "folder over a file": "mv -T docs README.md",
            "parent and child": "mv deep/1/2 x && mv deep y && mv x y/",
            "new folder over an old one": "mkdir n && touch n/f && rm -r docs && mv n docs",
            "new folder with old files": "mkdir n && mv docs/* n/ && rmdir docs && mv n docs",
            "new name, then the old file again": "mv README.md R.md && echo x > README.md",
            "numbered shift": "for n in 9 8 7 6 5; do mv old/part$n.txt old/part$((n + 1)).txt; done",
            "rotation of ten": "for n in $(seq 10); do mv README.md R$n; mv R$n README.md; done",
            "of a .git folder": "mv .git .git2 && mv .git2 .git",
            "of a folder with a symbolic link to it": "mv docs d && ln -s d docs",
            "of a folder and files in it": "mv src s && mv s/app/util.py s/app/utility.py && echo x >> s/app/main.py",
            "of a folder with an open file": "exec 3>> docs/index.md; mv docs d; echo late >&3",
            "of a current folder": "cd docs && mv ../docs ../d && echo x > here",
            "between folders and back": "mv src/app docs/ && mv docs/app src/",
        },
        is_awkward=True,
    )


def _replacements() -> list[CorpusCommand]:
    return [
        *expand(
            "replace folder @folder@ by",
            "rm -rf @folder@ && @make@",
            is_awkward=True,
            folder=("docs", "src/app", "deep"),
            make={
                "a file": "echo x > @folder@",
                "a link": "ln -s /tmp @folder@",
                "an empty folder": "mkdir @folder@",
                "a folder with one file": "mkdir @folder@ && echo x > @folder@/only",
                "a copy": "cp -a old @folder@",
                "itself from git": "git checkout -- .",
                "a folder, thrice": "mkdir @folder@ && touch @folder@/a && rm -r @folder@ && mkdir @folder@ && touch @folder@/b",
                "a fifo": "mkfifo @folder@",
            },
        ),
        *expand(
            "replace file @file@",
            "rm -f @file@ && @make@",
            is_awkward=True,
            file=("README.md", "docs/latest", "links/first"),
            make={
                "by a folder": "mkdir -p @file@/a/b && touch @file@/a/b/c",
                "by a link to a folder": "ln -s old @file@",
                "by a hard link": "ln LICENSE @file@",
                "by itself": "echo x > @file@ && rm @file@ && touch @file@",
            },
        ),
        *table(
            "fill",
            {
                "opaque folder kept in part": "mv docs d && mkdir docs && mv d/index.md docs/ && rm -r d",
                "opaque folder in an opaque folder": "rm -r src && mkdir -p src/app && touch src/app/x && rm -r src/app && mkdir src/app",
                "removed inside a new folder": "rm -r deep && mkdir -p deep/1/2 && rm -r deep/1/2",
                "empty the tree": "find . -mindepth 1 -path ./.git -prune -o -mindepth 1 -print0 | xargs -0 rm -rf",
                "empty the tree and restore": "rm -rf ./* && git checkout -q -- .",
                "remove git": "rm -rf .git && git init -q && git add -A && git commit -qm Again",
                "folder by folder": "for d in */; do [ -L ${d%/} ] || { mv $d t && mv t $d; }; done",
            },
            is_awkward=True,
        ),
    ]


def _current_folder() -> list[CorpusCommand]:
    return table(
        "current folder",
        {
            "removes itself": "cd empty && rmdir ../empty && pwd",
            "removes itself with files": "cd old && rm -rf ../old; touch new",
            "removed and made again": "cd old && rm -rf ../old && mkdir ../old && touch new; touch ../old/other",
            "renamed": "cd old && mv ../old ../older && touch new",
            "above the work dir": "cd .. && echo x > beside && ls > list",
            "from above": "cd .. && echo x >> project/README.md && rm project/LICENSE",
            "by its absolute name": "echo x >> $PWD/README.md && mkdir $PWD/n && mv $PWD/LICENSE $PWD/n",
            "through a link from outside": "ln -s $PWD ../alias && echo x > ../alias/by-alias && cd ../alias && touch there",
            "through /proc": "echo x > /proc/self/cwd/by-proc",
            "moved out and in": "mv LICENSE ../L && mv ../L LICENSE2",
            "folder moved out": "mv old ../old",
            "folder moved in": ("mkdir ../in && touch ../in/f", "mv ../in ."),
            "hard link from outside": "echo x > ../outside && ln ../outside inside",
            "hard link to the outside": "ln README.md ../readme",
            "deleted work dir": "rm -rf $PWD",
            "deleted work dir, made again": "cd .. && rm -rf project && mkdir project && echo x > project/new",
            "renamed work dir": "cd .. && mv project renamed",
        },
        is_awkward=True,
    )

"""Commands that edit text: stream editors, redirections, editors in batch mode."""

from tests.workspaces.corpus.corpus_command import CorpusCommand, expand, table

_TEXTS = {
    "readme": "README.md",
    "guide": "docs/guide.md",
    "words": "data/words.txt",
    "util": "src/app/util.py",
}


def text_edits() -> list[CorpusCommand]:
    """Return the commands."""
    return [*_stream_edits(), *_redirections(), *_editors(), *_rest()]


def _stream_edits() -> list[CorpusCommand]:
    return [
        *expand(
            "sed -i @edit@ in @file@",
            "sed -i @edit@ @file@",
            edit={
                "replace": "s/e/E/g",
                "delete": "2d",
                "insert": "'1i first line'",
                "append": "'$a last line'",
                "no match": "s/never-there/x/",
                "range": "'2,4s/^/# /'",
            },
            file=_TEXTS,
        ),
        *expand("sed with a backup of @file@", "sed -i.bak 's/a/b/' @file@", file=_TEXTS),
        *expand(
            "perl -pi @edit@ in @file@",
            "perl -pi -e @edit@ @file@",
            needs="perl",
            edit={"replace": "'s/o/0/g'", "number": "'$_ = \"$.: $_\"'", "upper": "'$_ = uc'"},
            file=_TEXTS,
        ),
        *expand(
            "awk @program@ to a new file and mv",
            "awk @program@ data/table.csv > data/table.tmp && mv data/table.tmp data/table.csv",
            program={
                "columns": "-F, '{print $2 \",\" $1}'",
                "filter": "-F, '$3 > 50'",
                "sum": "-F, '{s += $3} END {print s}'",
                "header": "'NR > 1'",
            },
        ),
        *expand(
            "find and sed in @folder@",
            "find @folder@ -type f -exec sed -i 's/the/THE/' {} +",
            folder=("src", "docs", "config", "tests"),
        ),
        *expand(
            "grep -l and xargs @edit@",
            "grep -rlZ @edit@ src docs data | xargs -0 -r sed -i 's/@edit@/DONE/'",
            edit=("TODO", "return", "item1", "unknown"),
        ),
    ]


def _redirections() -> list[CorpusCommand]:
    return [
        *expand("write @file@", "echo replaced > @file@", file=_TEXTS),
        *expand("append to @file@", "echo appended >> @file@", file=_TEXTS),
        *expand("append twice to @file@", "echo one >> @file@; echo two >> @file@", file=_TEXTS),
        *expand("empty @file@", ": > @file@", file=_TEXTS),
        *expand("here document into @file@", "cat > @file@ <<'X'\none\n$two\nX", file=_TEXTS),
        *expand("tee @option@ @file@", "echo teed | tee @option@ @file@", option=("", "-a"), file=_TEXTS),
        *expand(
            "filter with @program@",
            "@program@ < data/words.txt > out.txt && mv out.txt data/words.txt",
            program=(
                "sort",
                "sort -u",
                "uniq",
                "tac",
                "rev",
                "nl",
                "fold -w 5",
                "tr a-z A-Z",
                "cut -d' ' -f1",
                "head -5",
                "tail -5",
                "base64",
                "expand",
                "fmt",
                "od -c",
                "shuf --random-source=data/big.bin",
            ),
        ),
        *table(
            "redirect",
            {
                "read and write in place": "exec 3<> data/words.txt; printf XX >&3",
                "output of a group": "{ echo a; echo b; } > grouped.txt 2> errors.txt",
                "standard error": "ls /nowhere-at-all 2> errors.log; true",
                "noclobber": "set -C; echo x > README.md; echo y >| README.md",
                "many files": "for n in $(seq 50); do echo $n > old/new$n.txt; done",
                "into a loop's output": "for n in 1 2 3; do echo $n; done >> README.md",
                "process substitution": "diff <(sort data/words.txt) <(sort -r data/words.txt) > words.diff; true",
                "paste": "paste -d, data/words.txt docs/guide.md > joined.txt",
                "split": "split -l 50 data/words.txt old/piece-",
                "csplit": "csplit -s -f old/section- docs/guide.md 10 20",
                "comm": "comm -12 <(sort data/words.txt) <(sort docs/guide.md) > common.txt",
                "join": "join -t, data/table.csv data/table.csv > joined.csv",
                "dd a block": "dd if=/dev/zero of=data/big.bin bs=1k count=2 seek=10 conv=notrunc status=none",
                "dd a new file": "dd if=data/big.bin of=data/copy.bin bs=4k count=3 status=none",
                "truncate shorter": "truncate -s 10 data/words.txt",
                "cat several": "cat README.md LICENSE data/words.txt > all.txt",
                "sponge by a variable": 'text=$(sort data/words.txt); echo "$text" > data/words.txt',
                "sort -o": "sort -o data/words.txt data/words.txt",
                "iconv": "iconv -f utf-8 -t latin1 'config/ünïcode.txt' > latin1.txt",
                "checksums": "sha256sum $(find src -type f | sort) > SHA256SUMS && sha256sum -c SHA256SUMS",
            },
        ),
    ]


def _editors() -> list[CorpusCommand]:
    return [
        *expand(
            "ed @edit@ in @file@",
            "printf '@edit@\\nw\\nq\\n' | ed -s @file@",
            needs="ed",
            edit={"append": "1a\\nadded\\n.", "delete": "2d", "replace": "1,$s/a/b/g"},
            file=_TEXTS,
        ),
        *expand(
            "ex @edit@ in @file@",
            "ex -s -c '@edit@' -c 'wq' @file@",
            needs="ex",
            edit={"append": "normal! Goadded", "delete": "2d", "replace": "%s/a/b/ge"},
            file=_TEXTS,
        ),
        *table(
            "vim",
            {
                "macro": "vim -es -u NONE -i NONE -c 'normal! ggyyp' -c 'wq' README.md",
                "with a backup": "vim -es -u NONE -i NONE -c 'set backup backupcopy=no' -c '1d' -c 'wq' LICENSE",
                "backup by copying": "vim -es -u NONE -i NONE -c 'set backup backupcopy=yes' -c '1d' -c 'wq' LICENSE",
                "new file": "vim -es -u NONE -i NONE -c 'normal! ihello' -c 'wq' fresh.txt",
                "two files": "vim -es -u NONE -i NONE -c 'argdo %s/e/E/ge | update' -c 'qa' README.md LICENSE",
                "undo file": "vim -es -u NONE -i NONE -c 'set undofile undodir=.' -c '1d' -c 'q!' README.md",
            },
            needs="vim",
        ),
    ]


def _rest() -> list[CorpusCommand]:
    return [
        *table(
            "patch",
            {
                "apply": (
                    "cp README.md new.md && sed -i s/sample/example/ new.md && "
                    "diff -u README.md new.md > change.diff; rm new.md",
                    "patch -s README.md < change.diff",
                ),
                "reverse": (
                    "cp README.md new.md && sed -i s/sample/example/ new.md && "
                    "diff -u new.md README.md > change.diff; rm new.md",
                    "patch -s -R README.md < change.diff",
                ),
                "rejected": (
                    "diff -u README.md LICENSE > change.diff; true",
                    "patch -s -f data/words.txt < change.diff",
                ),
                "a tree": (
                    "cp -r src new && sed -i s/x/y/ new/app/*.py && diff -ruN src new > change.diff; rm -r new",
                    "patch -s -p1 -d src < change.diff",
                ),
                "with a backup": (
                    "cp LICENSE new && sed -i 3d new && diff -u LICENSE new > change.diff; rm new",
                    "patch -s -b LICENSE < change.diff",
                ),
            },
            needs="patch",
        ),
        *table(
            "jq",
            {
                "in place by mv": "jq -S . src/app/core/data.json > x.json && mv x.json src/app/core/data.json",
                "set a key": "jq '.version = \"2.0\"' package.json > p.json && cp p.json package.json && rm p.json",
            },
            needs="jq",
        ),
    ]

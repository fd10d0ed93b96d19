"""Archives and compression."""

from tests.workspaces.corpus.corpus_command import CorpusCommand, expand, table


def archives() -> list[CorpusCommand]:
    """Return the commands."""
    return [
        *expand(
            "tar of @folder@ with @option@",
            "tar c@option@f out.tar @folder@",
            option=("", "j", "J"),
            folder=("src", "docs", "deep"),
        ),
        *expand(
            "tar extracted @option@",
            "mkdir out && tar xf ../a.tar @option@",
            setup="tar cf ../a.tar src docs links data/words.txt group",
            option=(
                "-C out",
                "",
                "-p -C out",
                "-m -C out",
                "--strip-components 1 -C out src",
                "--keep-old-files",
                "--overwrite",
                "--unlink-first",
                "-C out links",
            ),
        ),
        *table(
            "tar",
            {
                "append": ("tar cf a.tar src", "tar rf a.tar docs"),
                "delete a member": ("tar cf a.tar src docs", "tar --delete -f a.tar docs"),
                "update": ("tar cf a.tar src", "touch -d 2030-01-01 src/app/util.py && tar uf a.tar src"),
                "remove the files": "tar cf a.tar --remove-files old",
                "gzip": "tar cf - docs | gzip -n > docs.tgz && rm -r docs && tar xzf docs.tgz",
                "over the tree": "tar cf a.tar src && rm -r src && tar xf a.tar && rm a.tar",
                "hard links": "tar cf a.tar links && rm -r links && tar xf a.tar",
            },
        ),
        *expand(
            "@program@ @option@",
            "@program@ -f @option@ data/words.txt",
            option=("-9", "-k"),
            program=("xz", "bzip2"),
        ),
        *expand(
            "@program@ and back",
            "@program@ @file@ && @program@ -d @file@.*",
            program=("xz", "bzip2"),
            file=("README.md", "data/big.bin"),
        ),
        *table(
            "gzip",
            {
                "a file": "gzip -n data/words.txt",
                "keep": "gzip -nk README.md",
                "and back": "gzip -n README.md && gunzip README.md.gz",
                "many": "gzip -n old/*.txt",
                "to standard output": "gzip -nc data/big.bin > big.gz && zcat big.gz | cmp - data/big.bin",
            },
        ),
        *table(
            "zip",
            {
                "a folder": "zip -qrXD out.zip src",
                "update": ("zip -qrXD out.zip src", "zip -qXD out.zip README.md"),
                "delete a member": ("zip -qrXD out.zip src docs", "zip -qd out.zip 'docs/*'"),
                "move into": "zip -qrXDm out.zip old",
                "extract": ("zip -qrXD ../x.zip src docs", "unzip -q ../x.zip -d out"),
                "extract over": (
                    "zip -qrXD ../x.zip src docs && echo y > docs/index.md",
                    "unzip -qo ../x.zip",
                ),
                "by python": "python3 -m zipfile -e $PACKAGES/beta-1.0-py3-none-any.whl out",
            },
            needs="zip unzip",
        ),
    ]

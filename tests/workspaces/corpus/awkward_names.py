"""Names that programs handle badly: line breaks, invalid UTF-8, names that overlay file systems use, long paths."""

from tests.workspaces.corpus.corpus_command import CorpusCommand, expand

_NAMES = {
    "a line break": "$'a\\nb'",
    "invalid UTF-8": "$'in\\xffvalid'",
    "a carriage return": "$'a\\rb'",
    "an escape": "$'\\e[31mred'",
    "a leading dash": "./-rf",
    "spaces around": "' name '",
    "a quote": "$'it\\'s \"quoted\"'",
    "a backslash": "'back\\slash'",
    "a star": "'*'",
    "a whiteout": ".wh.README.md",
    "an opaque mark": ".wh..wh..opq",
    "a tilde": "./~",
    "a decomposed letter": "$'e\\xcc\\x81'",
    "255 bytes": "$(printf 'n%.0s' $(seq 255))",
    "a colon": "a:b",
    "a comma and an equals sign": "a,b=c",
}

_USES = {
    "written": "echo x > @name@",
    "in a folder": "mkdir @name@ && echo x > @name@/f && mv @name@/f @name@/g",
    "linked, with its folder copied": "mkdir d && cp README.md d/@name@ && ln d/@name@ @name@ && cp -a d e",
}

_EXISTING_USES = {
    "removed": "rm @name@",
    "renamed": "mv @name@ plain",
    "replaced by a folder": "rm @name@ && mkdir @name@ && touch @name@/inner",
}

_LONG = "d=d; for n in $(seq @depth@); do mkdir -p $d; cd $d; d=$(printf 'folder%.0s' $(seq 20)); done"


def awkward_names() -> list[CorpusCommand]:
    """Return the commands."""
    return [
        *expand("name with", "@use@", is_awkward=True, name=_NAMES, use=_USES),
        *expand(
            "existing name with",
            "@use@",
            setup="echo x > @name@",
            is_awkward=True,
            name=_NAMES,
            use=_EXISTING_USES,
        ),
        *expand(
            "path of @depth@ long names,",
            f"{_LONG}; @use@",
            is_awkward=True,
            depth=("5", "25", "40"),
            use={
                "written": "echo x > leaf",
                "made and removed": "echo x > leaf && rm leaf",
                "linked": "ln -s x link",
            },
        ),
        *expand(
            "change of case",
            "@use@",
            is_awkward=True,
            use={
                "of a file": "mv README.md Readme.md",
                "of a folder": "mv docs Docs",
                "by git": "git mv README.md readme.md && git commit -qm Case",
                "both": "echo x > readme.md && echo y > README.MD",
            },
        ),
    ]

"""Git commands that change the working tree, the index or the repository."""

from tests.workspaces.corpus.corpus_command import CorpusCommand, expand, table

_EDIT = "echo changed >> README.md && echo new > src/app/new.py && rm LICENSE"
_STASHED = f"{_EDIT} && git stash -q -u"
_SUBMODULE = "git clone -q --bare --no-hardlinks . ../sub.git && git -c protocol.file.allow=always submodule --quiet add file://$PWD/../sub.git sub"


def git_commands() -> list[CorpusCommand]:
    """Return the commands."""
    return [
        *_staging(),
        *_commits(),
        *_branches(),
        *_histories(),
        *_stashes(),
        *_moves(),
        *_maintenance(),
        *_clones(),
        *_worktrees(),
        *_patches(),
    ]


def _staging() -> list[CorpusCommand]:
    return [
        *expand(
            "git @command@ with changes",
            "git @command@",
            setup=_EDIT,
            command=(
                "add -A",
                "add README.md",
                "add -u",
                "add -N src/app/new.py",
                "status",
                "diff",
                "stash",
                "stash -u",
                "checkout .",
                "checkout -- LICENSE",
                "restore README.md",
                "restore --source v0.1 LICENSE",
                "reset --hard",
                "clean -fd",
                "clean -fdx",
                "commit -qam Change",
                "rm -q --cached LICENSE",
                "update-index --refresh",
                "update-index --chmod=+x README.md",
                "ls-files -s",
                "checkout -q -b topic",
                "switch -q -C main",
                "checkout -q v0.1 -- src",
            ),
        ),
        *expand(
            "git @command@ with staged changes",
            "git @command@",
            setup=f"{_EDIT} && git add -A",
            command=(
                "commit -qm Change",
                "commit -q --amend --no-edit",
                "reset -q",
                "reset -q --soft HEAD~1",
                "reset -q --mixed HEAD~1",
                "reset -q --hard HEAD~1",
                "restore --staged .",
                "restore --staged --worktree .",
                "stash push -q --staged",
                "commit -q --fixup HEAD",
                "rm -q -f README.md",
                "write-tree",
                "commit -qm Partial README.md",
                "diff --cached",
            ),
        ),
    ]


def _commits() -> list[CorpusCommand]:
    return [
        *table(
            "git commit",
            {
                "after a new file": "echo x > new.txt && git add new.txt && git commit -qm New",
                "empty": "git commit -q --allow-empty -m Empty",
                "several": "for n in 1 2 3 4 5; do echo $n > n.txt; git add n.txt; git commit -qm $n; done",
                "amend a message": "git commit -q --amend -m Other",
                "revert": "git revert --no-edit HEAD",
                "revert without committing": "git revert -n HEAD",
                "with a hook": (
                    "printf '#!/bin/sh\\necho hooked > hooked.txt\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
                    "git commit -q --allow-empty -m Hooked",
                ),
                "refused by a hook": (
                    "printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
                    "echo x >> README.md; git commit -qam Hooked",
                ),
                "of a mode": "chmod +x README.md && git commit -qam Mode",
                "of a link": "ln -s README.md link && git add link && git commit -qm Link",
                "of a deletion": "git rm -rq old && git commit -qm Removed",
                "notes": "git notes add -m note HEAD",
                "a tag": "git tag v2 && git tag -a v3 -m three && git tag -d v0.1",
            },
        ),
    ]


def _branches() -> list[CorpusCommand]:
    return [
        *expand(
            "git @command@",
            "git @command@",
            command=(
                "switch -q feature",
                "switch -q -c topic",
                "checkout -q v0.1",
                "checkout -q --detach",
                "checkout -q --orphan fresh",
                "switch -q conflict",
                "branch topic",
                "branch -m main trunk",
                "branch -D feature",
                "branch -c main copy",
                "branch --set-upstream-to=main feature",
                "merge -q --no-edit feature",
                "merge -q --no-ff -m Merge feature",
                "merge -q --squash feature",
                "merge -q --ff-only feature",
                "merge -q -s ours -m Ours feature",
                "cherry-pick feature",
                "cherry-pick -n feature~1",
                "rebase -q feature",
                "rebase -q main feature",
                "rebase -q --onto v0.1 main feature",
                "update-ref refs/heads/other feature",
                "symbolic-ref HEAD refs/heads/feature",
                "config user.nickname nick",
                "remote add origin /nowhere",
                "pack-refs --all",
                "reflog expire --expire=now --all",
                "replace HEAD HEAD~1",
                "archive -o out.tar HEAD",
                "bundle create -q all.bundle --all",
            ),
        ),
    ]


def _histories() -> list[CorpusCommand]:
    editor = "GIT_SEQUENCE_EDITOR"
    return [
        *table(
            "git history",
            {
                "conflict left": "git switch -q feature && git merge -q conflict",
                "conflict resolved": (
                    "git switch -q feature; git merge -q conflict; echo both > README.md; git commit -qam Merged"
                ),
                "conflict aborted": "git switch -q feature; git merge -q conflict; git merge --abort",
                "conflict, ours": "git switch -q feature && git merge -q -X ours -m Ours conflict",
                "rebase stopped": "git rebase -q feature conflict",
                "rebase skipped": "git rebase -q feature conflict; git rebase --skip",
                "rebase aborted": "git rebase -q feature conflict; git rebase --abort",
                "rebase continued": (
                    "git rebase -q feature conflict; echo b > README.md; git add README.md; "
                    "GIT_EDITOR=true git rebase --continue"
                ),
                "interactive drop": f"git switch -q feature && {editor}='sed -i 1d' git rebase -q -i main~1",
                "interactive squash": f"git switch -q feature && {editor}='sed -i 2s/pick/fixup/' git rebase -q -i HEAD~2",
                "interactive edit": f"git switch -q feature && {editor}='sed -i 1s/pick/edit/' git rebase -q -i HEAD~2",
                "autosquash": (
                    "echo x >> README.md; git commit -qa --fixup HEAD~1; "
                    f"{editor}=true git rebase -q -i --autosquash HEAD~2"
                ),
                "autostash": "git switch -q feature && echo x >> Makefile && git rebase -q --autostash main",
                "rebase exec": "git switch -q feature && git rebase -q --exec 'echo x >> ../log' HEAD~1",
                "cherry-pick a range": "git cherry-pick main..feature",
                "cherry-pick conflict": "git switch -q feature; git cherry-pick conflict",
                "filter a message": "git filter-branch -f --msg-filter 'sed s/Add/Put/' HEAD~2.. 2>&1 | tail -1",
                "bisect": (
                    "git bisect start -q feature v0.1 && git bisect run test ! -e src/app/feature.py && git bisect reset"
                ),
                "bisect left": "git bisect start feature v0.1",
                "checkout there and back": "git checkout -q v0.1 && git checkout -q main",
                "switch with changes": "echo x >> Makefile && git switch -q feature",
                "switch refused": "echo x >> README.md && git switch -q feature",
                "rm and restore": "git rm -rq docs && git reset -q --hard",
                "blame": "git blame README.md > blame.txt",
                "log": "git log --stat --oneline --all > log.txt",
                "grep": "git grep -n return > found.txt",
                "sparse checkout": "git sparse-checkout set src docs",
                "sparse checkout and back": "git sparse-checkout set src && git sparse-checkout disable",
                "init again": "git init -q && git config core.ignorecase false",
                "init another": "mkdir inner && cd inner && git init -q && echo x > f && git add f && git commit -qm Inner",
                "rerere": (
                    "git config rerere.enabled true; git switch -q feature; git merge -q conflict; git rerere; git merge --abort"
                ),
                "attributes": "echo '*.md text eol=crlf' > .gitattributes && rm README.md && git checkout README.md",
                "smudge filter": (
                    "git config filter.up.smudge 'tr a-z A-Z' && echo 'LICENSE filter=up' > .gitattributes && "
                    "rm LICENSE && git checkout LICENSE"
                ),
            },
        ),
    ]


def _stashes() -> list[CorpusCommand]:
    return [
        *expand(
            "git stash @command@",
            "git stash @command@",
            setup=_STASHED,
            command=("pop", "apply", "drop", "branch topic", "list", "show -p", "clear"),
        ),
        *table(
            "git stash",
            {
                "and pop": (_EDIT, "git stash -q -u && git stash pop -q"),
                "keep the index": (f"{_EDIT} && git add README.md", "git stash -q -k -u"),
                "two": (
                    _EDIT,
                    "git stash -q && echo y >> Makefile && git stash -q && git stash pop -q stash@{1}",
                ),
                "conflict": (_STASHED, "echo other >> README.md && git commit -qam Other && git stash pop"),
                "one file": (_EDIT, "git stash push -q README.md"),
            },
        ),
    ]


def _moves() -> list[CorpusCommand]:
    return [
        *expand(
            "git mv @file@",
            "git mv @file@ moved && git commit -qm Moved",
            file=(
                "README.md",
                "src/app/util.py",
                "docs/latest",
                "src",
                "docs",
                "old",
                "src/app/core",
                "deep/1",
            ),
        ),
        *expand(
            "git rm @file@", "git rm -rq @file@", file=("README.md", "src", "docs", "old", "data/words.txt")
        ),
    ]


def _maintenance() -> list[CorpusCommand]:
    return [
        *expand(
            "git @command@",
            "git @command@",
            command=(
                "gc -q",
                "gc -q --prune=now",
                "gc -q --aggressive",
                "repack -qad",
                "repack -qadf",
                "prune",
                "prune-packed",
                "fsck --no-progress",
                "commit-graph write --no-progress",
                "multi-pack-index write --no-progress",
                "update-server-info",
                "count-objects -v",
                "read-tree HEAD~1",
                "read-tree -u -m HEAD~1",
                "checkout-index -f -a --prefix=export/",
                "rev-list --all --objects --count",
                "update-index --untracked-cache",
                "update-index --index-version 4",
                "update-index --split-index",
                "hash-object -w README.md",
                "show HEAD:README.md > shown.md",
                "describe --tags",
                "shortlog -s HEAD",
            ),
        ),
    ]


def _clones() -> list[CorpusCommand]:
    return [
        *expand(
            "git clone @option@",
            "git clone -q @option@ . copy",
            option=("", "--bare", "--no-local", "--no-hardlinks", "--shared", "--mirror", "-b feature", "-n"),
        ),
        *table(
            "git remote",
            {
                "fetch": "git clone -q . copy && git -C copy fetch -q --all",
                "push": "git clone -q --bare . up.git && git remote add up up.git && git commit -q --allow-empty -m P && git push -q up main",
                "pull": "git clone -q . copy && git commit -q --allow-empty -m P && git -C copy pull -q",
                "pull with rebase": "git clone -q . copy && cd copy && git commit -q --allow-empty -m P && git pull -q --rebase",
                "depth": "git clone -q --depth 1 file://$PWD copy",
                "from a bundle": "git bundle create -q x.bundle main && git clone -q -b main x.bundle copy",
                "subtree by read-tree": "git read-tree --prefix=sub/ -u v0.1",
                "submodule add": f"{_SUBMODULE} && git commit -qm Sub",
                "submodule deinit": (_SUBMODULE, "git submodule --quiet deinit -f sub"),
                "submodule foreach": (_SUBMODULE, "git submodule --quiet foreach 'echo x > in-sub'"),
                "submodule update": (
                    f"{_SUBMODULE} && git -C sub checkout -q v0.1",
                    "git -c protocol.file.allow=always submodule --quiet update --init --force",
                ),
                "submodule mv": (f"{_SUBMODULE} && git commit -qm Sub", "git mv sub moved-sub"),
                "submodule rm": (f"{_SUBMODULE} && git commit -qm Sub", "git rm -qf sub"),
            },
        ),
    ]


def _worktrees() -> list[CorpusCommand]:
    return table(
        "git worktree",
        {
            "add": "git worktree add -q wt feature",
            "add and commit": "git worktree add -q wt feature && cd wt && echo x > y && git add y && git commit -qm Y",
            "add a branch": "git worktree add -q -b topic wt",
            "move": ("git worktree add -q wt feature", "git worktree move wt moved"),
            "remove": ("git worktree add -q wt feature", "git worktree remove wt"),
            "prune": ("git worktree add -q wt feature", "rm -rf wt && git worktree prune"),
            "lock": ("git worktree add -q wt feature", "git worktree lock wt"),
        },
    )


def _patches() -> list[CorpusCommand]:
    return table(
        "git patch",
        {
            "format": "git format-patch -q -o patches v0.1..main",
            "am": ("git format-patch -q -o ../patches main..feature", "git am -q ../patches/*.patch"),
            "am fails": (
                "git format-patch -q -o ../patches main..conflict",
                "git switch -q feature; git am -q ../patches/*",
            ),
            "apply": ("git diff main feature > ../f.diff", "git apply ../f.diff"),
            "apply to the index": ("git diff main feature > ../f.diff", "git apply --index ../f.diff"),
            "apply in reverse": ("git diff feature main > ../f.diff", "git apply -R ../f.diff"),
            "apply with rejects": (
                "git diff main conflict > ../f.diff",
                "git switch -q feature; git apply --reject ../f.diff",
            ),
            "add by patch": (_EDIT, "yes y | git add -p README.md > /dev/null"),
            "checkout by patch": (_EDIT, "yes y | git checkout -p README.md > /dev/null"),
        },
    )

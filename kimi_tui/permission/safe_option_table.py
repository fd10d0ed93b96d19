"""Options that are known to be safe, by program and subcommand: data for `safe_options`.

An option belongs here if it can't make the program run another one, write a file that isn't checked, or read
a file that the command line doesn't name. A wildcard rule covers no other option. So a missing entry costs a
question, and a wrong one costs safety.

==================  =====================================================================================
`-v`, `--verbose`   an option without a value
`-o=`, `--file=`    an option whose value may name a file
`-m:`, `--format:`  an option whose value is text
`-U?`, `--color?`   an option whose optional value is attached, as in `-U3` or `--color=never`
`-#`                a number, as in `-5`
`@read`             the program only reads
`@any`              every option only reads. If options are listed, a rule covers only these
`@text`             operands are text, or the program only uses their names
`@none`, `@one`     no operands, at most one operand
`@url`              operands are addresses that begin with `http://` or `https://`
`@words`            an option is a whole word, as in `find -name`: `-ab` isn't `-a -b`
`@target`           the next word names a target or script, and belongs to the rule
`@tests`            operands that the program runs must have the usual names of tests
`@folders`          with `@tests`: an operand without an ending is a directory
`@modules`          with `@tests`: operands may be Python modules
`@exact`            "Always allow" offers the exact command only
==================  =====================================================================================
"""

from collections.abc import Mapping

_DIFF = (
    "@read -p -u -s -U? -M? -C? -B? -R -a -w -b -W -z -S: -G: --abbrev? --binary --cached --cc --check "
    "--color-words? --color? --diff-filter: --dirstat? --exit-code --find-copies? --find-renames? "
    "--full-index --function-context --histogram --ignore-all-space --ignore-blank-lines "
    "--ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --inter-hunk-context? --merge-base "
    "--minimal --name-only --name-status --no-color --no-ext-diff --no-patch --no-prefix --no-renames "
    "--no-textconv --numstat --patch --patch-with-stat --patience --pickaxe-regex --quiet --raw --relative? "
    "--shortstat --staged --stat? --submodule? --summary --text --unified? --word-diff? "
)
_LOG = _DIFF + (
    "-# -n: -i -E -F -P -L: --abbrev-commit --after: --all --all-match --ancestry-path --author-date-order "
    "--author: --before: --boundary --branches? --cherry-pick --committer: --count --date-order --date: "
    "--decorate? --first-parent --follow --format: --full-history --glob: --graph --grep: --invert-grep "
    "--left-right --max-count: --merges --no-abbrev-commit --no-decorate --no-merges --oneline --pretty? "
    "--regexp-ignore-case --remotes? --reverse --simplify-by-decoration --since: --skip: --tags? "
    "--topo-order --until: "
)
_GREP = (
    "@read @any -# -A: -B: -C: -D: -E -F -G -H -I -L -P -R -T -U -Z -a -b -c -d: -e: -h -i -l -m: -n -o "
    "-q -r -s "
    "-v -w -x -z --after-context: --basic-regexp --before-context: --binary-files: --color? --colour? "
    "--context: --count --dereference-recursive --exclude-dir: --exclude: --extended-regexp "
    "--files-with-matches --files-without-match --fixed-strings --ignore-case --include: --initial-tab "
    "--invert-match --line-buffered --line-number --line-regexp --max-count: --no-filename --no-messages "
    "--null --only-matching --perl-regexp --quiet --recursive --regexp: --silent --text --with-filename "
    "--word-regexp"
)
_FD = (
    "@read -0 -1 -E: -F -H -I -L -S: -a -c: -d: -e: -g -i -p -q -s -t: -u --absolute-path "
    "--changed-before: --changed-within: --color: --exact-depth: --exclude: --extension: --fixed-strings "
    "--follow --full-path --glob --hidden --max-depth: --max-results: --min-depth: --no-ignore --print0 "
    "--prune --size: --type: --unrestricted"
)
_BAT = (
    "@read -# -A -H: -P -l: -n -p -pp -r: --color: --decorations: --highlight-line: --language: "
    "--line-range: --list-languages --number --paging=never --plain --style: --tabs: --theme: --wrap:"
)
_COMPILER = (
    "@words -c -S -E -o= -g -ggdb -g0 -g1 -g2 -g3 -O -O0 -O1 -O2 -O3 -Os -Og -Ofast -Wall -Wextra -Werror "
    "-Wpedantic -Wshadow -Wconversion -Wunused -Wno-unused -Wno-unused-parameter -Wno-unused-variable "
    "-pedantic -std? -pthread -shared -static -fPIC -fpic -fPIE -pie -fsanitize? -fno-exceptions "
    "-fno-omit-frame-pointer -fsyntax-only -march? -mtune? -I= -L= -l: -D: -U: -isystem= -w -M -MM --version "
    "-v"
)
_CARGO = (
    "@text -F: -j: -p: -q -r -v -vv --all --all-features --all-targets --benches --bin: --bins --color: "
    "--doc "
    "--example: --examples --exclude: --features: --frozen --jobs: --keep-going --lib --locked "
    "--message-format: --no-default-features --no-deps --no-fail-fast --no-run --offline --package: "
    "--profile: --quiet --release --test: --tests --verbose --workspace"
)
_GO = (
    "@words -a -bench: -benchmem -benchtime: -count: -cover -cpu: -failfast -json -list: -m -n -p: "
    "-parallel: "
    "-race -run: -short -shuffle: -skip: -tags: -timeout: -trimpath -v -x"
)
_JEST = (
    "-b -i -t: -w: --bail --ci --coverage --detectOpenHandles --listTests --maxWorkers: --no-coverage "
    "--onlyFailures --passWithNoTests --run --runInBand --silent --testNamePattern: --verbose"
)
_LINT = "-q -v --check --color? --diff --exclude: --no-cache --quiet --verbose"
_CONTINUE = "--abort --continue --quit --skip -q --quiet -v --verbose"
_MAKE = (
    "@none @target -# -d -i -j? -k -l? -n -q -s -w --dry-run --info --keep-going --quiet --silent "
    "--stacktrace"
)
_SCRIPT = "@tests -s --silent --if-present"

SAFE_OPTIONS: Mapping[str, str] = {
    # Readers
    ":": "@read @any @text", "[": "@read @any @text", "b2sum": "@read @any", "base32": "@read @any -d -i -w:",
    "base64": "@read -d -D -i -w: --decode --wrap:", "basename": "@read @any @text",
    "bat": _BAT, "batcat": _BAT,
    "break": "@read @any @text", "cat": "@read @any", "cd": "@read -L -P @text", "cksum": "@read @any",
    "cmp": "@read @any", "column": "@read @any", "comm": "@read @any", "continue": "@read @any @text",
    "cut": "@read @any", "df": "@read @any @text",
    "diff": "@read @any -B -C: -E -L: -N -T -U: -W: -Z -a -b -c -d -i -p -q -r -s -t -u -w -x: -y "
    "--brief --color? "
    "--exclude: --ignore-all-space --ignore-blank-lines --ignore-case --ignore-space-change --label: "
    "--minimal --new-file --no-dereference --recursive --report-identical-files --side-by-side "
    "--strip-trailing-cr --suppress-common-lines --text --unified? --width:",
    "diff3": "@read -3 -A -E -T -a -e -m -x", "dirname": "@read @any @text",
    "du": "@read @any -B: -L -a -b -c -d: -g -h -k -m -s -x --all --apparent-size --exclude: "
    "--human-readable "
    "--max-depth: --summarize --total",
    "echo": "@read @any @text", "egrep": _GREP, "exit": "@read @any @text", "expand": "@read @any",
    "expr": "@read @any @text", "factor": "@read @any @text", "false": "@read @any @text", "fd": _FD,
    "fdfind": _FD, "fgrep": _GREP,
    "file": "@read -L -b -h -i -k -s --brief --mime --mime-encoding --mime-type",
    "find": "@read @words -H -L -P ! -a -amin: -and -atime: -cmin: -ctime: -daystart -depth -empty "
    "-executable -false -follow -gid: -group: -iname: -inum: -ipath: -iregex: -links: -ls -maxdepth: "
    "-mindepth: -mmin: -mount -mtime: -name: -newer= -newermt: -not -o -or -path: -perm: -print -print0 "
    "-printf: -prune -quit -readable -regex: -regextype: -samefile= -size: -true -type: -uid: -user: "
    "-wholename: -writable -xdev",
    "fmt": "@read @any", "fold": "@read @any", "free": "@read @any @text", "getconf": "@read @any @text",
    "grep": _GREP, "groups": "@read @any @text",
    "head": "@read @any -# -c: -n: -q -v -z --bytes: --lines: --quiet --verbose",
    "hexdump": "@read @any -C -b -c -d -n: -o -s: -v -x", "id": "@read @any @text", "join": "@read @any",
    "jq": "@read @any -C -M -R -S -a -c -e -j -n -r -s --compact-output --exit-status --indent: "
    "--join-output "
    "--null-input --raw-input --raw-output --slurp --sort-keys --tab",
    "locale": "@read @any @text", "look": "@read @any", "ls": "@read @any @text",
    "lsof": "@read -P -a -c: -i? -n -p: -t -u: @text", "man": "@read -f -k @text", "md5sum": "@read @any",
    "nl": "@read @any", "nproc": "@read @any @text", "numfmt": "@read @any @text", "od": "@read @any",
    "paste": "@read @any", "pathchk": "@read @any @text", "pgrep": "@read @any @text",
    "pr": "@read @any", "printenv": "@read @any @text", "ps": "@read @any @text",
    "pwd": "@read @any @text", "readlink": "@read @any @text",
    "realpath": "@read @any @text", "return": "@read @any @text", "rev": "@read @any",
    "rg": "@read -# -. -0 -A: -B: -C: -E: -F -H -I -L -M: -N -P -S -T: -U -c -d: -e: -g: -i -j: -l -m: "
    "-n -o -p "
    "-q -r: -s -t: -u -uu -uuu -v -w -x --after-context: --before-context: --case-sensitive --color: "
    "--column "
    "--context: --count --count-matches --files --files-with-matches --files-without-match --fixed-strings "
    "--follow --glob: --heading --hidden --iglob: --ignore-case --invert-match --json --line-number "
    "--max-columns: --max-count: --max-depth: --multiline --multiline-dotall --no-config --no-filename "
    "--no-heading --no-ignore --no-ignore-vcs --no-line-number --no-messages --null --only-matching "
    "--passthru --pcre2 --quiet --replace: --smart-case --sort: --sortr: --stats --trim --type-list "
    "--type-not: --type: --vimgrep --with-filename --word-regexp",
    "rgrep": _GREP, "sdiff": "@read -B -E -W -a -b -i -l -s -t -w:", "seq": "@read @any @text @exact",
    "sha1sum": "@read @any", "sha224sum": "@read @any", "sha256sum": "@read @any",
    "sha384sum": "@read @any", "sha512sum": "@read @any",
    "shuf": "@read -e -i: -n: -r -z --echo --head-count: --repeat", "sleep": "@read @any @text @exact",
    "sort": "@read -C -M -R -S: -V -b -c -d -f -g -h -i -k: -m -n -r -s -t: -u -z --check? "
    "--field-separator: --human-numeric-sort --ignore-case --key: --numeric-sort --parallel: --reverse "
    "--stable --unique --version-sort --zero-terminated",
    "stat": "@read @any @text", "strings": "@read @any -a -e: -f -n: -o -t:", "sum": "@read @any",
    "tac": "@read @any",
    "tail": "@read @any -# -F -c: -f -n: -q -r -s: -v -z --bytes: --follow? --lines: --pid: --quiet --retry "
    "--verbose",
    "tr": "@read @any @text",
    "tree": "@read -C -D -F -I: -J -L: -P: -X -a -d -f -h -i -l -n -p -s --dirsfirst --gitignore --noreport "
    "--prune",
    "true": "@read @any @text", "tsort": "@read @any", "tty": "@read @any @text",
    "type": "@read @any @text", "uname": "@read @any @text", "unexpand": "@read @any",
    "uniq": "@read @one -D -c -d -f: -i -s: -u -w: -z --count --ignore-case --repeated --unique",
    "uptime": "@read @any @text", "users": "@read @any @text", "vmstat": "@read @any @text",
    "wc": "@read @any -L -c -l -m -w --bytes --chars --lines --max-line-length --words",
    "whereis": "@read @any @text", "which": "@read @any @text", "who": "@read @any @text",
    "whoami": "@read @any @text",
    "xxd": "@read @one @words -a -b -c: -e -g: -i -l: -o: -p -ps -s: -u", "zcat": "@read @any -f -q -v",
    "zgrep": _GREP,
    # git: commands that read
    "git blame": "@read -C? -L: -M? -e -f -l -n -p -s -t -w --date: --line-porcelain --porcelain "
    "--show-email --show-name --show-number --since:",
    "git cat-file": "@read -e -p -s -t", "git check-attr": "@read -a --all",
    "git check-ignore": "@read -n -q -v -z --no-index", "git check-mailmap": "@read @text",
    "git cherry": "@read -v --abbrev?", "git count-objects": "@read -H -v",
    "git describe": "@read --abbrev? --all --always --contains --dirty? --exact-match --exclude: "
    "--first-parent --long --match: --tags",
    "git diff": _DIFF, "git diff-files": _DIFF, "git diff-index": _DIFF + "-m",
    "git diff-tree": _DIFF + "-c -m -r -t --no-commit-id --root",
    "git for-each-ref": "@read --contains? --count: --format: --merged? --no-contains? --no-merged? "
    "--points-at: --sort:",
    "git grep": "@read -# -A: -B: -C: -E -F -H -L -P -W -c -e: -h -i -l -m: -n -o -p -q -v -w "
    "--all-match --and "
    "--break --cached --color? --column --count --extended-regexp --files-with-matches --fixed-strings "
    "--function-context --heading --ignore-case --line-number --max-depth: --name-only --no-color --not "
    "--only-matching --or --perl-regexp --quiet --recurse-submodules --show-function --untracked "
    "--word-regexp",
    "git lfs ls-files": "@read -l -s", "git lfs status": "@read", "git log": _LOG,
    "git ls-files": "@read -c -d -i -k -m -o -s -t -u -v -x: -z --abbrev? --cached --deleted "
    "--directory --eol "
    "--error-unmatch --exclude-standard --exclude: --full-name --ignored --modified --others --stage "
    "--unmerged",
    "git ls-tree": "@read -d -l -r -t -z --abbrev? --full-name --full-tree --long --name-only --name-status",
    "git merge-base": "@read -a --all --fork-point --independent --is-ancestor --octopus",
    "git name-rev": "@read --all --name-only --refs: --tags", "git notes list": "@read",
    "git notes show": "@read", "git range-diff": _DIFF, "git remote get-url": "@read --all --push",
    "git rev-list": _LOG + "--objects",
    "git rev-parse": "@read -q --abbrev-ref? --absolute-git-dir --all --git-common-dir --git-dir "
    "--is-bare-repository --is-inside-work-tree --quiet --short? --show-cdup --show-prefix "
    "--show-superproject-working-tree --show-toplevel --symbolic --symbolic-full-name --verify",
    "git shortlog": _LOG + "-c -e -n -s", "git show": _LOG,
    "git show-branch": "@read -a -r --all --current --list --remotes",
    "git show-ref": "@read -d -q -s --branches --dereference --hash? --heads --quiet --tags --verify",
    "git stash list": _LOG, "git stash show": _DIFF,
    "git status": "@read -b -s -u? -v -z --branch --column? --ignored? --long --no-renames --porcelain? "
    "--short "
    "--show-stash --untracked-files?",
    "git submodule status": "@read --cached --recursive", "git submodule summary": "@read --cached --files",
    "git var": "@read -l", "git version": "@read --build-options", "git whatchanged": _LOG,
    "git worktree list": "@read -v --porcelain",
    # git: commands that write
    "git add": "-A -N -n -u -v --all --dry-run --intent-to-add --update --verbose",
    "git apply": "@exact -R -p: -v --3way --cached --check --index --numstat --stat --whitespace:",
    "git archive": "@exact -l -o= -v --format: --list --output= --prefix: --verbose",
    "git branch": "@exact -a -c -d -l -m -q -r -u: -v -vv --all --contains? --format: --list --merged? "
    "--no-merged? --remotes --set-upstream-to: --show-current --sort: --track? --unset-upstream",
    "git checkout": "@exact -b: -q -t --detach --progress --quiet --track?",
    "git cherry-pick": f"@exact -m: -n -x --no-commit {_CONTINUE}",
    "git clone": "@exact -b: -q -v --branch: --depth: --no-tags --progress --quiet --recurse-submodules "
    "--single-branch",
    "git commit": "-a -am: -m: -q -s -v --all --allow-empty --date: --dry-run --message: --no-edit --quiet "
    "--signoff --verbose",
    "git fetch": "@exact -p -q -t -v --all --depth: --dry-run --prune --quiet --tags --verbose",
    "git format-patch": "@exact -# -N -n -o= -s --output-directory= --signoff --stdout",
    "git init": "@exact -b: -q --initial-branch: --quiet",
    "git merge": f"@exact -m: --ff --ff-only --no-commit --no-ff --no-stat --squash --stat {_CONTINUE}",
    "git mv": "@exact -k -n -v",
    "git pull": "@exact -p -q -v --all --ff-only --no-rebase --prune --quiet --rebase? --tags --verbose",
    "git push": "@exact -n -q -u -v --dry-run --follow-tags --porcelain --progress --quiet --set-upstream "
    "--tags --verbose",
    "git rebase": f"@exact --autostash --onto: {_CONTINUE}",
    "git remote add": "@exact -f -m: -t: --no-tags --tags", "git remote show": "@exact -n",
    "git reset": "@exact -q --mixed --quiet --soft", "git restore": "@exact -S -q --quiet --staged",
    "git revert": f"@exact -m: -n --no-commit --no-edit {_CONTINUE}",
    "git rm": "@exact -n -q --cached --dry-run --quiet", "git stash apply": "-q --index --quiet",
    "git stash pop": "-q --index --quiet",
    "git stash push": "-k -m: -q -u --include-untracked --keep-index --message: --quiet --staged",
    "git submodule init": "@exact", "git submodule update": "@exact -q --depth: --init --recursive",
    "git switch": "@exact -c: -d -q --create: --detach --quiet --track?",
    "git tag": "@exact -a -l -m: -n? --contains? --format: --list --merged? --message: --points-at: --sort:",
    "git worktree add": "@exact -b: -q --detach",
    # Tests, linters and builds: they run the project's code
    "black": f"{_LINT} -S -l: -t: --fast --line-length: --safe --target-version:",
    "bun run": f"@target {_SCRIPT}", "bun test": "@tests @folders -t:",
    "c++": _COMPILER, "cargo bench": _CARGO, "cargo build": _CARGO, "cargo check": _CARGO,
    "cargo clippy": _CARGO, "cargo doc": _CARGO, "cargo fmt": "-p: -q -v --all --check --package: --quiet",
    "cargo test": _CARGO, "cargo tree": f"{_CARGO} -d -i: -e: --depth: --duplicates --invert:",
    "cc": _COMPILER, "clang": _COMPILER, "clang++": _COMPILER,
    "cmake": "@exact @words -B= -G: -S= -j? --build= --config: --parallel? --target: --version",
    "ctest": "@exact @words -C: -E: -L: -N -Q -R: -V -VV -j? --output-on-failure --progress --rerun-failed "
    "--show-only --test-dir= --timeout: --version",
    "eslint": "--cache --color --ext: --max-warnings: --no-color --no-warn-ignored --quiet",
    "flake8": f"{_LINT} --count --ignore: --max-line-length: --select: --show-source --statistics",
    "g++": _COMPILER, "gcc": _COMPILER, "go build": f"{_GO} -o=",
    "go doc": "@words @text -all -short -src -u",
    "go env": "@read @words @text -json", "go fmt": "@words -n -x", "go get": "@exact @words -t -u -v",
    "go install": "@exact @words -v", "go list": f"{_GO} -deps -e -f: -test -u", "go mod download": "-x",
    "go mod graph": "", "go mod tidy": "-v -x", "go mod verify": "", "go mod why": "-m",
    "go run": "@words @exact",
    "go test": _GO, "go version": "@read -m", "go vet": f"{_GO} -c: -all", "isort": f"{_LINT} "
    "--check-only --profile:",
    "jest": _JEST,
    "mypy": "-m: -p: -v --explicit-package-bases --follow-imports: --ignore-missing-imports "
    "--namespace-packages --no-color-output --no-error-summary --no-incremental --pretty --python-version: "
    "--show-column-numbers --show-error-codes --show-error-context --strict --warn-unreachable "
    "--warn-unused-ignores --version",
    "npm audit": "@exact --json", "npm ci": "@exact --ignore-scripts --no-audit --no-fund",
    "npm install": "@exact -D -E -S --ignore-scripts --legacy-peer-deps --no-audit --no-fund --save "
    "--save-dev --save-exact",
    "npm ls": "@read -a -l --all --depth: --json --long --parseable", "npm outdated": "@exact --json --long",
    "npm run": f"@target {_SCRIPT}", "npm run-script": f"@target {_SCRIPT}", "npm start": _SCRIPT, "npm "
    "test": _SCRIPT,
    "npm view": "@exact @text --json",
    "pnpm install": "@exact --frozen-lockfile --offline --prefer-offline", "pnpm run": f"@target {_SCRIPT}",
    "pnpm test": _SCRIPT,
    "prettier": "-c -l --check --list-different --no-color",
    "pylint": "-E -j: --disable: --enable: --errors-only",
    "pyright": "--outputjson --stats --verbose --warnings",
    "pytest": "@tests @folders -k: -l -m: -n: -q -qq -r: -s -v -vv -vvv -x "
    "--capture: --co --collect-only --color: --cov? "
    "--cov-report= --deselect: --dist: --durations-min: --durations: --exitfirst --failed-first --ff "
    "--ignore-glob: --ignore= --import-mode: --last-failed --lf --maxfail: --new-first --nf --no-cov "
    "--no-header --no-summary --numprocesses: --quiet --runxfail --showlocals --stepwise --strict-config "
    "--strict-markers --sw --tb: --timeout: --verbose --version",
    "ruff check": f"{_LINT} --extend-ignore: --extend-select: --ignore: --line-length: --no-fix "
    "--output-format: --preview --select: --show-files --show-settings --statistics --target-version:",
    "ruff format": f"{_LINT} --line-length: --preview --target-version:",
    "tsc": "@words --incremental --noEmit --pretty --project= --skipLibCheck --strict --version -b -p= -v",
    "unittest": "@tests @modules -b -f -k: -q -s= -t= -v --buffer --failfast --locals --quiet --verbose",
    "vitest": _JEST, "vitest run": _JEST, "yarn install": "@exact --frozen-lockfile --immutable --offline",
    "yarn run": "@target @tests", "yarn test": "@tests",
    "ant": _MAKE, "fab": _MAKE, "gmake": _MAKE, "gradle": _MAKE, "gradlew": _MAKE, "invoke": _MAKE,
    "just": _MAKE, "make": _MAKE, "mvn": _MAKE, "mvnw": _MAKE, "ninja": _MAKE, "nox": _MAKE, "rake": _MAKE,
    "task": _MAKE,
    # Files, archives and the network
    "ack": "@read -# -A: -B: -C: -H -L -Q -c -f -g: -h -i -l -m: -n -o -r -s -v -w -x --nocolor --type:",
    "ag": "@read -# -A: -B: -C: -G: -H -L -Q -c -g: -i -l -m: -n -o -s -u -v -w --hidden --nocolor --nogroup",
    "curl": "@exact @url -4 -6 -A: -H: -I -L -O -S -X: -f -fsS -fsSL -i -k -m: -o= -s -sL -sS -sSL -sSf -v "
    "--compressed --connect-timeout: --fail --head --header: --include --location --max-time: --output= "
    "--remote-name --request: --retry: --show-error --silent --user-agent: --verbose",
    "kubectl describe": "@exact @text -A -l: -n: --all-namespaces --namespace: --selector:",
    "kubectl get": "@exact @text -A -l: -n: -w --all-namespaces --namespace: --selector: --show-labels "
    "--sort-by:",
    "kubectl logs": "@exact @text -c: -f -n: -p --all-containers --namespace: --previous --since: --tail:",
    "rsync": "@exact -P -a -c -h -i -n -r -t -u -v -z --archive --checksum --dry-run --exclude: "
    "--human-readable --include: --itemize-changes --progress --recursive --stats --verbose",
    "split": "@exact -a: -b: -d -l: -n: --bytes: --lines: --numeric-suffixes? --verbose",
    "tar": "@exact -C= -J -a -c -cf= -cvf= -czf= -czvf= -f= -j -k -t -tf= -tvf= -tzf= -v -x -xf= -xjf= -xJf= "
    "-xvf= -xz -xzf= -xzvf= -z --auto-compress --bzip2 --create --directory= --exclude: --extract --file= "
    "--gzip --list --strip-components: --verbose --xz",
    "tee": "@exact -a -i --append",
    "unzip": "@exact -d= -j -l -n -o -q -t -v",
    "wget": "@exact @url -O= -P= -S -c -nc -nv -q --no-verbose --quiet --show-progress --spider --timeout: "
    "--tries:",
    "zip": "@exact -9 -j -q -r -u -y",
}  # fmt: skip
"""Entries by program, or by program and subcommand."""

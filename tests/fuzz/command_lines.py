"""Generator of malicious command lines: allowed commands that try to run or write something else.

Everything named `evil` isn't allowed: a program, a directory of programs, a file to write.
"""

import random
from collections.abc import Callable

PROGRAMS = (
    "cat", "echo", "grep", "ls", "printf", "true", "[", "test", "cd", "sed -n", "read -r", "set -eu",
    "wait",
)  # fmt: skip
RULES = (
    "Bash(cat *)", "Bash(echo *)", "Bash(grep *)", "Bash(ls *)", "Bash(printf *)", "Bash(true)",
    "Bash([ *)", "Bash(test *)", "Bash(cd *)", "Bash(sed -n *)", "Bash(git diff *)", "Bash(make test)",
    "Bash(make all *)",
    "Bash(set -eu)", "Bash(npm run build *)", "Bash(python -m pytest *)", "Bash(sort *)",
    "Bash(LC_ALL=C sort *)", "Edit(fine/**)",
)  # fmt: skip
"""Permission rules that allow some of the commands."""
_COMMANDS = (
    *PROGRAMS, "git diff", "make test", "npm run build", "python -m pytest", "sort", "LC_ALL=C sort",
    "make all", "find .", "pwd", ":", "command ls", "timeout 5 ls", "env ls", "env a=b ls", "xargs ls",
    "xargs -I {} ls {}", "nice ls", "nohup ls", "exec ls", "time ls", "! ls", "bash -c ls", "sh -c 'ls'",
    "builtin echo", "command -v ls",
)  # fmt: skip
_BAD = (
    "evil", "evil x", "git push", "make evil", "./evil", "evil/ls", "eval evil", "bash -c evil",
    "source evil.sh", ". ./evil.sh", "env evil", "xargs evil", "command evil", "exec evil",
    "python -c evil", "trap evil EXIT", "alias ls=evil", "shopt -s expand_aliases", "ls() { evil; }",
    "function ls { evil; }", "PATH=evil", "touch evil", "export PATH=evil", "enable -f evil ls",
    "hash -p evil/ls ls", "printf -v PATH evil", "read PATH", "set -x", "declare PATH=evil", "unset PATH",
    "BASH_ENV=evil.sh", "PS4='$(evil)'", "IFS=/", "CDPATH=evil", "printf %n PATH", "[ -v 'a[$(evil)]' ]",
    "test -v 'a[$(evil)]'", "let 'a[$(evil)]'", "((a[$(evil)]))", "mapfile -C evil -c 1",
)  # fmt: skip
_TEXTS = (
    "a", "b c", "-n", "-v", "--", "=", "x=y", "evil", "; evil", "| evil", "&& evil", "& evil", "\n evil",
    "$(evil)", "`evil`", "#", "# evil", "*", "?", "~", "{a,b}", "{evil,x}", "%n", "PATH", "a[$(evil)]",
    "!", "!!", "\\", "'", '"', "$", "$x", "$IFS", "${x}", "(", ")", "<", ">", "> evil", ">fine/a", "E",
    "..", "evil.sh", "\t", "é", "\r",
)  # fmt: skip
_NAMES = (
    "x", "a", "ls", "PATH", "IFS", "PS4", "BASH_ENV", "ENV", "LC_ALL", "HOME", "CDPATH", "SHELLOPTS", "_",
)  # fmt: skip
_OPERATORS = (
    "; ", " && ", " || ", " | ", "\n", " & ", " |& ", ";", "&&", "|", " \\\n && ", " # evil\n",
)  # fmt: skip
_DEPTH = 3

TRICKS = (
    "printf %n PATH; ls", "printf 'abc%n' PATH; ls", "printf '%n' 'a[$(evil)]'",
    "printf '%.*d' 'a[$(evil)]' 1", "printf '%*d' 'a[$(evil)]' 1", "printf %d 'a[$(evil)]'",
    "printf '%(%s)T' 'a[$(evil)]'", "[ 'a[$(evil)]' -eq 0 ]", "test 1 -eq 'a[$(evil)]'",
    "test -t 'a[$(evil)]'", "[ a -v 'a[$(evil)]' ]", "[ ! -v 'a[$(evil)]' ]", "x=-v; [ $x 'a[$(evil)]' ]",
    "echo ${x:='$(evil)'}; echo ${x@P}", "x='a[$(evil)]'; echo $((x))", "x='$(evil)'; set -eux; PS4=$x ls",
    "for PS4 in '$(evil)'; do set -eux; ls; done", "for i in 1; do ls; done; cd evil && ls",
    "cd evil; ./ls", "ls\r evil", "ls #\r\nevil", "ls \\\r\nevil", "echo a >fine/a{,b}",
    "echo a > fine/$(echo ../../evil)", "echo a > fine/../evil2", "wait -n -p 'a[$(evil)]'",
    "wait 'a[$(evil)]'", "read -r 'a[$(evil)]' < a", "sed -n '1p;w evil2' a", "sed -n 1e a",
    "sed -n '/x/pw evil2' a", "sed -n -i p a", "ls &>evil2", "ls >&evil2", "ls 3>&1 >fine/a", "ls >|evil2",
    "ls <>evil2", "cat <<< $(evil)", "cat <<E\n$(evil)\nE", "cat <<'E'\n$(evil)\nE",
    'cat <<"E\n"\n$(evil)\nE', "cat <<E\\\n\n$(evil)\nE", "cat << E; evil\n a\nE", "cat <<E\na\nE\nevil",
    "cat <<-E\n\ta\n\tE\nevil", "cat <<E | evil\na\nE", 'ls "`evil`"', 'ls "${x:-`evil`}"',
    "ls ${x:-$(evil)}", "ls ${x:-<(evil)}", 'ls ${x+"$(evil)"}', "ls ${a[$(evil)]}", "ls ${x:$(evil)}",
    "ls ${x:0:a[$(evil)]}", "ls $[a[$(evil)]]", "echo $((a[$(evil)]))", "ls $'\\x24(evil)'",
    'ls $"$(evil)"', "ls {a,$(evil)}", "{ls,evil}", "ls;{ls,evil}", "$x evil", "x=evil; $x",
    "x=evil ls; $x", "''evil", "e''vil", '"evil"', "\\evil", "time evil", "! evil", "command evil",
    "exec evil", "ls & evil", "ls |& evil", "if evil; then ls; fi", "while evil; do ls; done",
    "until evil; do ls; break; done", "case $(evil) in x) ls;; esac", "[[ $(evil) ]]",
    "[[ -v a[$(evil)] ]]", "((a[$(evil)]))", "let x=a[\\$(evil)]", "ls() { evil; }; ls",
    "function ls() { evil; }; ls", "ls () evil; ls", "coproc evil",
    "shopt -s expand_aliases\nalias ls=evil\nls", "BASH_ENV=evil.sh bash -c ls", "ENV=evil.sh sh -c ls",
    "DEBUG='$(evil)' make all", "cc=evil make all", "env cc=evil make all", "DEBUG=`evil` npm run build",
    "npm_config_x=evil npm run build", "MAKEFLAGS=evil make all", "DEBUG=1 make all", "x=evil; make all",
    "env -i cc=evil make all", "timeout 5 env cc=evil make all", "bash -c 'cc=evil make all'",
    "cc=evil bash -c 'make all'", "for cc in evil; do make all; done", "LC_ALL='$(evil)' npm run build",
    "PATH=evil ls", "PATH=evil; ls", "export PATH=evil; ls", "env PATH=evil ls", "env -S 'evil'",
    "env -i evil", "env --split-string=evil", "env -u PATH ls", "nice -n 5 evil", "timeout 5 evil",
    "xargs evil <a", "echo evil | xargs -I {} {}", "echo 'evil' | xargs -I ls ls",
    "xargs -I ls ls <evil.sh", "echo evil | sh", "sh < evil.sh", "sh <<< evil", "sh <<E\nevil\nE",
    "bash evil.sh", "bash -c 'evil'", 'bash -c "$x"', "bash -c ls evil", "bash -xc 'ls'",
    "PS4='$(evil)' bash -xc 'ls'", "find . -exec evil {} +", "find . -ok evil \\;",
    "find . -execdir ls {} +", "find . -delete", "find . -fprint evil2", "sort -o evil2 a",
    "sort -oevil2 a", "sort --output=evil2 a", "sort --comp=evil a", "sort -S1 --compress-program=evil a",
    "git diff --output=evil2", "git diff --ext-diff", "git -c core.pager=evil diff",
    "GIT_EXTERNAL_DIFF=evil git diff", "git diff --no-index a evil.sh", "make test evil",
    "make test SHELL=evil", "make test -f evil", "npm run build -- --x",
    "npm run build --script-shell=evil", "python -m pytest -p evil", "grep --x", "ls -- evil",
    "ls\n\nevil", "ls;;evil", "ls & & evil", "ls <(evil)", "ls >(evil)", "cat < <(evil)",
    "cat 0<<<$(evil)", "echo a 2>$(evil)", "echo a >fine/`evil`", "a=$(evil) ls", "a=`evil`",
    "a=(evil $(evil))", "a[$(evil)]=1", "a+=$(evil)", "export a=$(evil)", "declare -i a='b[$(evil)]'",
    "ls ~evil", "ls ~+", "ls !(evil)", "shopt -s extglob; ls !(a)", "ls a#evil", "ls a;#evil\nevil",
    "ls $#; evil", "ls $(( 1 + $(evil) ))", 'ls "$(( $(evil) ))"', "ls $((`evil`))", "ls $( (evil) )",
    "ls $({ evil; })", "ls $(<a)", "ls `<a`", "x=1 evil", "1>fine/a evil", "<a evil", ">fine/a evil",
    "{ evil; } >fine/a", "(evil)", "ls && (evil)", "if true; then evil; fi", "for x in a; do evil; done",
    "for x in $(evil); do ls; done", "for ((i=0;i<a[$(evil)];i++)); do ls; done", "for x do evil; done",
    "select x in a; do evil; done", "trap evil EXIT; ls", "trap -- evil DEBUG; ls", "eval evil",
    'eval "ls; evil"', "source evil.sh", ". evil.sh", "builtin eval evil", "builtin . ./evil.sh",
    "command eval evil", "enable -f evil ls", "hash -p evil/ls ls; ls", "exec -a x evil", "exec >evil2",
    "exec 3>evil2", "exec ls", "jobs -x evil", "fc -s", "history -w evil2", "mapfile -C evil -c 1 x < a",
    "read PATH <<< evil; ls", "printf -v PATH evil; ls", "getopts a PATH", "unset PATH; ls", "cd /; ls",
    "cd -- -; ls", "CDPATH=evil cd x", "cat *; ls", "cat -v", "[ a ] && evil", "test a -o evil",
    'test "$(evil)"', "true $(evil)", "true; evil", "true\x0cevil", "ls\x0bevil", 'ls\xa0evil',
    'ls\u2028evil', "ls ;evil", "ls\t;\tevil", "ls '\n' evil", 'ls "\n"; evil', "ls \\\n;evil", "l\\\ns",
    "ev\\\nil", "ls $x\\\n(evil)", "ls $\\\n(evil)", 'ls "$\\\n(evil)"', "ls <\\\n(evil)",
    "cat <<\\\nE\n$(evil)\nE", "ls |\\\n& evil", "ls &\\\n& evil", "ls ;\\\n evil", " \\\nevil",
    "cat <<E\n\\$(evil)\nE", "cat <<E\n\\\\$(evil)\nE", "cat <<E\n${x:-$(evil)}\nE", "cat <<E\n`evil`\nE",
    "cat <<E\n$((a[$(evil)]))\nE", "cat <<E\n$\\\n(evil)\nE", "cat <<''\n$(evil)\n\nevil",
    'echo "\\$(evil)"', 'echo "\\\\$(evil)"', "echo '\\'$(evil)", "echo '\\''; evil", "echo $'\\''; evil'",
    'echo "`echo \\"$(evil)\\"`"', "echo `echo \\`evil\\``", 'echo "$(echo ")"; evil)"',
    "echo $(echo ')'; evil)", "echo $(case x in x) evil;; esac)", "echo $(# )\nevil)",
    "echo $(cat <<E\n)\nE\nevil)", 'x=%n; printf "$x" PATH; ls', "printf -- %n PATH; ls",
    "printf '%%%5hhn' PATH; ls", 'printf "%%n" PATH; ls', "break 'a[$(evil)]'", "exit 'a[$(evil)]'",
    "return 'a[$(evil)]'", "shift 'a[$(evil)]'", "printf -- -v PATH",
)  # fmt: skip
"""Known ways to make one command run another."""


def command_line(rng: random.Random) -> str:
    """Return a random command line."""
    text = _lines(rng, _DEPTH)
    for _ in range(rng.choice((0, 0, 0, 0, 1, 2))):
        text = _mutate(rng, text)
    return text


def _mutate(rng: random.Random, text: str) -> str:
    """Return `text` with one random change."""
    at = rng.randrange(len(text) + 1)
    match rng.randrange(3):
        case 0:
            return (
                text[:at]
                + rng.choice(("\\\n", "\\", "'", '"', "`", "$", "#", "\n", ";", "}", ")", "(", " "))
                + text[at:]
            )
        case 1:
            return text[:at] + text[at + 1 :]
        case _:
            return text[:at] + rng.choice(_TEXTS) + text[at:]


def _lines(rng: random.Random, depth: int) -> str:
    parts = [_command(rng, depth)]
    while rng.random() < 0.35:
        parts += [rng.choice(_OPERATORS), _command(rng, depth)]
    return "".join(parts)


def _command(rng: random.Random, depth: int) -> str:
    if depth <= 0 or rng.random() < 0.75:
        return _simple(rng, depth)
    return rng.choice(_COMPOUND)(rng, depth - 1)


def _simple(rng: random.Random, depth: int) -> str:
    words = [f"{rng.choice(_NAMES)}={_word(rng, depth)}" for _ in range(rng.choice((0, 0, 0, 0, 0, 1)))]
    words.append(rng.choice(_BAD if rng.random() < 0.08 else _COMMANDS))
    words += [_word(rng, depth) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    for _ in range(rng.choice((0, 0, 0, 1))):
        words.insert(rng.randrange(len(words) + 1), _redirection(rng, depth))
    text = " ".join(words)
    if rng.random() < 0.06:
        text += _here_document(rng, depth)
    return text


def _word(rng: random.Random, depth: int) -> str:
    return "".join(_piece(rng, depth) for _ in range(rng.choice((1, 1, 1, 2, 3)))) or "a"


def _piece(rng: random.Random, depth: int) -> str:
    text = rng.choice(_TEXTS)
    kinds = 7 if depth <= 0 else 12
    match rng.randrange(kinds):
        case 0 | 1:
            return "'" + text.replace("'", "") + "'"
        case 2 | 3:
            return (
                '"' + (text + (_piece(rng, depth - 1) if rng.random() < 0.3 else "")).replace('"', "") + '"'
            )
        case 4:
            return rng.choice(
                ("a", "fine/a", "-n", "b", "--x=y", "*.py", "$x", "${x}", "$#", "$?", "{a,b}", "[ab]")
            )
        case 5:
            return rng.choice(
                ("\\ ", "\\;", "\\\n", "\\'", '\\"', "\\$", "\\`", "\\\\", "$'\\x65vil'", '$"evil"', "$'a'")
            )
        case 6:
            return text
        case 7:
            return f"$({_lines(rng, depth - 1)})"
        case 8:
            return f"`{_lines(rng, depth - 1).replace('`', '')}`"
        case 9:
            return f"{rng.choice('<>')}({_lines(rng, depth - 1)})"
        case 10:
            inner = _word(rng, depth - 1)
            return (
                rng.choice(("${x:-%s}", "${x:=%s}", "${x/%s}", "${x[%s]}", "${!x%s}", "${x@P}%s", "${#x%s}"))
                % inner
            )
        case _:
            return rng.choice(("$((%s))", "$[%s]", '"$(%s)"')) % _simple(rng, depth - 1)


def _redirection(rng: random.Random, depth: int) -> str:
    target = rng.choice(("fine/a", "fine/a", "/dev/null", "evil", "$x", "&1", "&2", "fine/../evil"))
    if rng.random() < 0.2:
        target = _word(rng, depth)
    descriptor = rng.choice(("", "", "2", "1", "&", "{x}"))
    return f"{descriptor}{rng.choice(('>', '>>', '<', '>|', '<>', '<<<'))}{target}"


def _here_document(rng: random.Random, depth: int) -> str:
    body = rng.choice(("a", "$(evil)", "`evil`", "E", "\tE", " E", "E x", "$x", _lines(rng, depth - 1)))
    mark = rng.choice(("E", "'E'", '"E"', "\\E", "-E", "- E", "E$x", "''E"))
    rest, end = rng.choice(("", "", " | evil", " | cat", " > fine/a")), rng.choice(("E", "\tE", "E "))
    return f" <<{mark}{rest}\n{body}\n{end}"


def _blocks(form: str) -> Callable[[random.Random, int], str]:
    def build(rng: random.Random, depth: int) -> str:
        return "".join(
            _lines(rng, depth) if char == "%" else _word(rng, depth) if char == "@" else char for char in form
        )

    return build


_FORMS = (
    "( % )", "{ %; }", "if %; then %; fi", "if %; then %; else %; fi", "for x in @ @; do %; done",
    "for PATH in @; do %; done", "while false; do %; done", "until %; do %; break; done",
    "case @ in @) % ;; esac", "f() { %; }; f", "bash -c '%'", "eval '%'", "eval \"%\"",
    "[[ @ == @ ]] && %", "(( @ )) || %", "a=(@ @)", "bash -c \"%\"", "echo '%' | bash",
    "xargs -0 sh -c '%'", "find . -exec @ {} \\;", "! %", "time -p %", "coproc %",
    "select x in a; do %; break; done", "{ %\n}", "(\n%\n)", "trap '%' EXIT", "alias ls='%'\n%",
)  # fmt: skip
_COMPOUND = tuple(_blocks(form) for form in _FORMS)

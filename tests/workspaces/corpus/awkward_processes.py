"""Commands that fail, are killed, run too long, or leave processes behind."""

from tests.workspaces.corpus.corpus_command import CorpusCommand, expand, table


def awkward_processes() -> list[CorpusCommand]:
    """Return the commands."""
    return [
        *expand(
            "killed by @signal@",
            "echo a > before; rm LICENSE; @who@; echo b > after",
            is_awkward=True,
            signal=("TERM", "KILL", "USR1", "HUP", "SEGV"),
            who={"the shell": "kill -@signal@ $$", "a child": "sh -c 'echo c > child; kill -@signal@ $$'"},
        ),
        *table(
            "timeout",
            {
                "asleep": "echo a > before; sleep 60; echo b > after",
                "busy": "echo a > before; while :; do :; done",
                "in a child": "echo a > before; sh -c 'echo c > child; sleep 60'; echo b > after",
                "ignores TERM": "trap '' TERM; echo a > before; sleep 60",
                "after a removal": "rm -rf docs; sleep 60",
                "with an open file": "exec 3> open.txt; echo x >&3; sleep 60",
                "of its own": "timeout 0.2 sleep 9; echo $? > status",
            },
            is_awkward=True,
            time_limit_s=1.0,
        ),
        *table(
            "fails",
            {
                "command not found": "echo x > before; no-such-program; echo $? > status",
                "exit 1": "echo x > before; exit 1",
                "set -e": "set -e; echo x > before; false; echo y > after",
                "set -u": "set -u; echo x > before; echo $unset; echo y > after",
                "syntax": "echo x > before; if",
                "no permission": "echo x > before; ./README.md",
                "too many arguments": "echo x > before; /bin/true $(seq 400000)",
                "no such folder": "cd nowhere || echo x > after",
                "full disk": "cat /dev/zero > /dev/full; echo $? > status",
                "file too large": "ulimit -f 10; head -c 1000000 /dev/zero > limited; echo $? > status",
                "too many open files": 'ulimit -n 8; for n in 3 4 5 6 7 8 9; do eval "exec $n> f$n"; done; echo x > end',
                "broken pipe": "yes | head -1 > one; echo ${PIPESTATUS[0]} > status",
                "stack": "ulimit -s 100; echo x > before",
                "exec": "echo x > before; exec sh -c 'echo y > replaced'",
                "exec of a missing program": "echo x > before; exec /missing",
            },
            is_awkward=True,
        ),
        *table(
            "left behind",
            {
                "background, waits for nothing": "echo a > a; (sleep 60; echo late > late) > /dev/null 2>&1 &",
                "nohup": "nohup sh -c 'sleep 60; echo late > late' > /dev/null 2>&1 & echo a > a",
                "disown": "sleep 60 > /dev/null 2>&1 & disown; echo a > a",
                "open descriptor": "(exec 3> held; sleep 60) > /dev/null 2>&1 & sleep 0.1; echo a > a",
                "in the removed folder": "(cd old; sleep 60) > /dev/null 2>&1 & sleep 0.1; rm -rf old",
                "coprocess": "coproc sleep 60; echo a > a",
            },
            is_awkward=True,
        ),
        *(
            command
            for name, script in {
                "background with output": "echo a > a; (sleep 0.4; echo late > late.txt; echo done) &",
                "daemon by setsid": "setsid sh -c 'sleep 0.4; echo late > late.txt' < /dev/null > /dev/null 2>&1 & echo a > a",
                "daemon by two forks": (
                    "python3 -c 'import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
                    'f = os.open("/dev/null", 2); [os.dup2(f, n) for n in range(3)]\ntime.sleep(0.4); open("late.txt", "w").write("x")\''
                ),
                "server that outlives its starter": (
                    'setsid python3 -c \'import socket, time; s = socket.socket(socket.AF_UNIX); s.bind("../server"); '
                    'time.sleep(0.4); open("late.txt", "w").write("x")\' < /dev/null > /dev/null 2>&1 & echo a > a'
                ),
            }.items()
            for command in expand(name, script, is_awkward=True, awaits="late.txt")
        ),
        *table(
            "namespace",
            {
                "unshare": "unshare -Ur sh -c 'echo x > from-namespace' ; echo $? > status",
                "mount": "mount -t tmpfs none empty && touch empty/hidden && umount empty; ls empty > listing",
                "bind mount": "mount --bind docs empty && echo x > empty/through && umount empty; true",
                "mount left": "mount -t tmpfs none empty; touch empty/hidden; ls empty | wc -l > count; umount empty",
                "chroot": "chroot . /nothing; echo $? > status",
                "own pid namespace": "unshare -rpf sh -c 'echo $$ > pid'; echo x > after",
            },
            is_awkward=True,
            needs="unshare mount",
        ),
    ]

"""Package installs, from packages on this disk: pip, venv, npm."""

from tests.workspaces.corpus.corpus_command import CorpusCommand, expand, table

_PIP = "pip --quiet --disable-pip-version-check --no-cache-dir install --no-index --find-links $PACKAGES --no-warn-script-location --root-user-action ignore"
_NPM = "npm --silent --offline --no-audit --no-fund --no-update-notifier"


def packages() -> list[CorpusCommand]:
    """Return the commands. `$PACKAGES` is a folder with two wheels (alpha needs beta), a source package and a tarball."""
    return [*_pip(), *_virtual_environments(), *_npm()]


def _pip() -> list[CorpusCommand]:
    return [
        *expand(
            "pip install @what@",
            f"{_PIP} --no-compile --target vendor @what@",
            needs="pip",
            what=(
                "beta",
                "alpha",
                "alpha==1.0",
                "beta==9",
                "$PACKAGES/gamma-1.0.tar.gz",
                "--no-deps alpha",
                "alpha beta",
                ".",
            ),
        ),
        *table(
            "pip",
            {
                "install twice": f"{_PIP} --no-compile --target vendor beta && {_PIP} --no-compile --target vendor --upgrade alpha",
                "from requirements": f"printf 'alpha\\nbeta==1.0\\n' > requirements.txt && {_PIP} --no-compile --target vendor -r requirements.txt",
                "prefix": f"{_PIP} --prefix local --ignore-installed beta",
                "download": "pip --quiet --disable-pip-version-check download --no-index --find-links $PACKAGES -d wheels alpha",
                "wheel": "pip --quiet --disable-pip-version-check wheel --no-index --find-links $PACKAGES -w wheels .",
            },
            needs="pip",
        ),
    ]


def _virtual_environments() -> list[CorpusCommand]:
    install = (
        f"python3 -m venv --without-pip .venv && {_PIP.replace('pip ', 'pip --python .venv/bin/python ', 1)}"
    )
    uninstall = "pip --python .venv/bin/python --quiet --disable-pip-version-check uninstall -y"
    return [
        *expand(
            "venv @option@",
            "python3 -m venv --without-pip @option@ .venv",
            option=("", "--symlinks", "--copies", "--system-site-packages", "--prompt sample"),
        ),
        *table(
            "venv",
            {
                "cleared": (
                    "python3 -m venv --without-pip .venv && touch .venv/stale",
                    "python3 -m venv --without-pip --clear .venv",
                ),
                "upgraded": (
                    "python3 -m venv --without-pip .venv",
                    "python3 -m venv --without-pip --upgrade .venv",
                ),
                "removed": ("python3 -m venv --without-pip .venv", "rm -rf .venv"),
                "program": "python3 -m venv --without-pip .venv && .venv/bin/python -c 'import sys; print(sys.prefix)' > prefix.txt",
            },
        ),
        *table(
            "venv with pip",
            {
                "install": f"{install} alpha",
                "install and run": f"{install} alpha && .venv/bin/alpha > out.txt",
                "install from source": f"{install} .",
                "install for editing": f"{install} -e .",
                "uninstall": (f"{install} alpha", f"{uninstall} alpha"),
                "upgrade in place": (f"{install} beta", f"{install.split(' && ')[1]} --force-reinstall beta"),
            },
            needs="pip",
        ),
    ]


def _npm() -> list[CorpusCommand]:
    return table(
        "npm",
        {
            "install a tarball": f"{_NPM} install $PACKAGES/delta-1.0.0.tgz",
            "install a folder": f'mkdir -p lib/e && echo \'{{"name": "e", "version": "1.0.0"}}\' > lib/e/package.json && {_NPM} install ./lib/e',
            "install and require": f"{_NPM} install $PACKAGES/delta-1.0.0.tgz && node -p 'require(\"delta\").n' > n.txt",
            "uninstall": (f"{_NPM} install $PACKAGES/delta-1.0.0.tgz", f"{_NPM} uninstall delta"),
            "ci": (f"{_NPM} install $PACKAGES/delta-1.0.0.tgz && rm -rf node_modules", f"{_NPM} ci"),
            "ci over an install": (f"{_NPM} install $PACKAGES/delta-1.0.0.tgz", f"{_NPM} ci"),
            "run": f"{_NPM} run build",
            "pack": f"{_NPM} pack",
            "init": f"mkdir n && cd n && {_NPM} init -y",
            "version": f"{_NPM} version --no-git-tag-version 1.2.3",
            "pkg set": f"{_NPM} pkg set license=MIT",
        },
        needs="npm node",
    )

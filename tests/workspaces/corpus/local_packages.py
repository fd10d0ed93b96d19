"""Packages on this disk, for installs without the internet."""

import io
import tarfile
import zipfile
from pathlib import Path

_WHEEL = "Wheel-Version: 1.0\nGenerator: corpus\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_local_packages(folder: Path) -> None:
    """Write two wheels (alpha needs beta and has a script), a source package (gamma) and an npm tarball (delta)."""
    folder.mkdir(parents=True)
    _write_wheel(
        folder,
        "alpha",
        metadata="Requires-Dist: beta\n",
        files={
            "alpha/__init__.py": "def main():\n    print('alpha')\n",
            "alpha/data/table.txt": "1 2 3\n",
            "alpha-1.0.dist-info/entry_points.txt": "[console_scripts]\nalpha = alpha:main\n",
        },
    )
    _write_wheel(
        folder, "beta", files={"beta/__init__.py": "VALUE = 1\n", "beta/deep/er/module.py": "x = 2\n"}
    )
    backend = Path(__file__).with_name("gamma_backend.py").read_text()
    _write_tar(
        folder / "gamma-1.0.tar.gz",
        {
            "gamma-1.0/PKG-INFO": "Metadata-Version: 2.1\nName: gamma\nVersion: 1.0\n",
            "gamma-1.0/pyproject.toml": (
                '[build-system]\nrequires = []\nbuild-backend = "gamma_backend"\nbackend-path = ["."]\n'
            ),
            "gamma-1.0/gamma_backend.py": backend,
        },
    )
    _write_tar(
        folder / "delta-1.0.0.tgz",
        {
            "package/package.json": '{"name": "delta", "version": "1.0.0", "main": "index.js", "bin": "cli.js"}\n',
            "package/index.js": "exports.n = 4;\n",
            "package/cli.js": "#!/usr/bin/env node\nconsole.log(4);\n",
        },
    )


def _write_wheel(folder: Path, name: str, *, files: dict[str, str], metadata: str = "") -> None:
    info = f"{name}-1.0.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{metadata}",
        f"{info}/WHEEL": _WHEEL,
    }
    record = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(zipfile.ZipInfo(path), text)


def _write_tar(path: Path, files: dict[str, str]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            member.mode = 0o644
            archive.addfile(member, io.BytesIO(text.encode()))

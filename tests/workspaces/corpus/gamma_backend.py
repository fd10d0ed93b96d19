"""Build backend of the source package gamma; it needs nothing but Python."""

import pathlib
import zipfile


def build_wheel(directory, config_settings=None, metadata_directory=None):  # type: ignore[no-untyped-def]
    """Write the wheel and return its name, as PEP 517 defines it."""
    info = "gamma-1.0.dist-info"
    files = {
        "gamma.py": "VALUE = 3\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: gamma\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: gamma\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    name = "gamma-1.0-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(directory, name), "w") as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return name

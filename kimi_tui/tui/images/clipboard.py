"""The picture on the system's clipboard, by whatever program this system has for it. Slow: in a thread."""

import os
import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from kimi_tui.tui.images.reading import SUFFIXES

_TIMEOUT_S = 2.5
_POWERSHELL = (
    "Add-Type -AssemblyName System.Windows.Forms;"
    "$i=[System.Windows.Forms.Clipboard]::GetImage();"
    "if($i){$s=New-Object IO.MemoryStream;$i.Save($s,[Drawing.Imaging.ImageFormat]::Png);"
    "[Convert]::ToBase64String($s.ToArray())}"
)


def grabbed() -> bytes | None:
    """The picture; None when there is none. Raises OSError and RuntimeError."""
    if sys.platform in ("darwin", "win32"):
        return _by_pillow()
    if os.environ.get("WAYLAND_DISPLAY") and (picture := _by_wl_paste()):
        return picture
    if os.environ.get("DISPLAY") and (picture := _by_xclip()):
        return picture
    return _by_powershell()


def _by_pillow() -> bytes | None:
    from PIL import Image, ImageGrab

    found = ImageGrab.grabclipboard()
    if isinstance(found, Image.Image):
        stream = BytesIO()
        found.save(stream, "PNG")
        return stream.getvalue()
    for name in found or ():
        if Path(name).suffix.lower() in SUFFIXES:
            return Path(name).read_bytes()
    return None


def _by_wl_paste() -> bytes | None:
    kinds = _run("wl-paste", "--list-types").decode(errors="replace").split()
    kind = next((it for it in kinds if it.startswith("image/")), None)
    return (_run("wl-paste", "--no-newline", "--type", kind) or None) if kind else None


def _by_xclip() -> bytes | None:
    lead = ("xclip", "-selection", "clipboard", "-out", "-target")
    kinds = _run(*lead, "TARGETS").decode(errors="replace").split()
    kind = next((it for it in kinds if it.startswith("image/")), None)
    return (_run(*lead, kind) or None) if kind else None


def _by_powershell() -> bytes | None:
    # Under WSL the clipboard is that of Windows.
    import base64

    written = _run("powershell.exe", "-NoProfile", "-STA", "-Command", _POWERSHELL).strip()
    return base64.b64decode(written) if written else None


def _run(program: str, *arguments: str) -> bytes:
    """What a program prints; nothing when there is no such program, or when it fails."""
    path = shutil.which(program)
    if path is None:
        return b""
    try:
        result = subprocess.run(
            [path, *arguments],
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
            cwd=tempfile.gettempdir(),
        )
    except (OSError, subprocess.SubprocessError):
        return b""
    return result.stdout if result.returncode == 0 else b""

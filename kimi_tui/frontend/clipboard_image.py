"""Reads the image on the system clipboard with a program of the platform. Slow: call it in a thread."""

import os
import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from kimi_tui.frontend.image_loader import IMAGE_SUFFIXES

_TIMEOUT_S = 2.5
_POWERSHELL = (
    "Add-Type -AssemblyName System.Windows.Forms;"
    "$i=[System.Windows.Forms.Clipboard]::GetImage();"
    "if($i){$s=New-Object IO.MemoryStream;$i.Save($s,[Drawing.Imaging.ImageFormat]::Png);"
    "[Convert]::ToBase64String($s.ToArray())}"
)


def grab_clipboard_image() -> bytes | None:
    """Return the clipboard's image, or None if it has no image. Raises OSError and RuntimeError."""
    if sys.platform in ("darwin", "win32"):
        return _grab_with_pillow()
    if os.environ.get("WAYLAND_DISPLAY") and (image := _grab_with_wl_paste()):
        return image
    if os.environ.get("DISPLAY") and (image := _grab_with_xclip()):
        return image
    return _grab_with_powershell()


def _grab_with_pillow() -> bytes | None:
    from PIL import Image, ImageGrab

    content = ImageGrab.grabclipboard()
    if isinstance(content, Image.Image):
        stream = BytesIO()
        content.save(stream, "PNG")
        return stream.getvalue()
    for name in content or ():
        if Path(name).suffix.lower() in IMAGE_SUFFIXES:
            return Path(name).read_bytes()
    return None


def _grab_with_wl_paste() -> bytes | None:
    types = _run("wl-paste", "--list-types").decode(errors="replace").split()
    image_type = next((it for it in types if it.startswith("image/")), None)
    return (_run("wl-paste", "--no-newline", "--type", image_type) or None) if image_type else None


def _grab_with_xclip() -> bytes | None:
    command = ("xclip", "-selection", "clipboard", "-out", "-target")
    types = _run(*command, "TARGETS").decode(errors="replace").split()
    image_type = next((it for it in types if it.startswith("image/")), None)
    return (_run(*command, image_type) or None) if image_type else None


def _grab_with_powershell() -> bytes | None:
    # WSL uses the clipboard of Windows.
    import base64

    encoded = _run("powershell.exe", "-NoProfile", "-STA", "-Command", _POWERSHELL).strip()
    return base64.b64decode(encoded) if encoded else None


def _run(program: str, *arguments: str) -> bytes:
    """Return the output of `program`, or an empty string if it is missing or fails."""
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

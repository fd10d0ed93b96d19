"""Sizes of files, for reading."""


def readable_size(n_bytes: int) -> str:
    """Such as `17 bytes`, `3.2 KB`, `1.1 GB`: powers of ten."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return "1 byte" if n_bytes == 1 else f"{n_bytes} bytes"

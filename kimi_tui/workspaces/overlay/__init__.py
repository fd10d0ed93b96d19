"""Backend "overlayfs": views in mount namespaces, by `overlayfs` (Linux 5.11 and newer)."""

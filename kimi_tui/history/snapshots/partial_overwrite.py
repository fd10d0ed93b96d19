"""Detection of a file that a killed process has overwritten in part."""

_BLOCK = 4096


def is_partly_overwritten(current: bytes, old: bytes, new: bytes) -> bool:
    """Return whether `current` is `old` with some blocks overwritten by those of `new`.

    After a power failure, any blocks may be new. A block is partly new if the process was killed while
    writing it.
    """
    length = len(current)
    is_growing = len(old) < length < len(new)
    if length not in {len(old), len(new)} and not is_growing:
        return False
    return all(
        _is_partly_overwritten_block(
            current[start : start + _BLOCK], old[start : start + _BLOCK], new[start : start + _BLOCK]
        )
        for start in range(0, length, _BLOCK)
    )


def _is_partly_overwritten_block(current: bytes, old: bytes, new: bytes) -> bool:
    if current in (old[: len(current)], new[: len(current)]):
        return True
    n_new = next(
        (number for number, (one, other) in enumerate(zip(current, new, strict=False)) if one != other),
        min(len(current), len(new)),
    )
    return current[n_new:] == old[n_new : len(current)]

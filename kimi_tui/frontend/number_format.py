"""Formatting of numbers for the screen."""


def format_tokens(count: int) -> str:
    """Return `count` in at most five characters: 950, 12.4k, 200k, 1.2M."""
    if count < 1000:
        return str(count)
    if count < 99_950:
        return f"{count / 1000:.1f}".removesuffix(".0") + "k"
    if count < 999_500:
        return f"{count / 1000:.0f}k"
    return f"{count / 1_000_000:.1f}".removesuffix(".0") + "M"


def format_cost(amount: float) -> str:
    """Return `amount` in dollars, with four decimals if it is below a cent."""
    if 0 < amount < 0.01:
        return f"${amount:.4f}"
    return f"${amount:.2f}"


def format_duration(seconds: float) -> str:
    """Return `seconds` as a short duration: 0.4 s, 12 s, 3 min 5 s, 2 h 4 min."""
    if seconds < 9.95:
        return f"{max(seconds, 0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"

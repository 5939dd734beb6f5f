"""How wide text is in a browser: figures of pages are laid out before it is known which font they get.

The widths are those of wide fonts such as DejaVu Sans, so that other fonts leave more room, not less.
"""

from __future__ import annotations

NARROW, WIDE = frozenset("ijl|.,:;'!()[]{} \u202f"), frozenset("mwMWQ%@\N{EM DASH}")


def width(text: str, letters: float, bold: bool = False) -> float:
    """The width of a text in points, with letters of ``letters`` points."""
    ems = 0.0
    for letter in text:
        if letter in NARROW:
            ems += 0.34
        elif letter in WIDE:
            ems += 0.95
        elif letter.isupper():
            ems += 0.7
        elif ord(letter) >= 0x2E80:
            ems += 1.0
        else:
            ems += 0.62
    return ems * letters * (1.1 if bold else 1.0)

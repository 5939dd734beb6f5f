"""Colours of states, as colour-blind people see them: apart from each other, and readable on the paper.

The matrices are those of Machado, Oliveira and Fernandes 2009 ("A physiologically-based model for simulation
of color vision deficiency", IEEE TVCG 15(6)), severity 1.0, on linear RGB.
"""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pytest

SEEN_BY = {
    "anybody": np.eye(3),
    "protanopes": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopes": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopes": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
PAIRS = (("good", "bad"), ("chosen", "bad"))
"""Met and not met; a bar within its limit and one beyond it."""
LEAST_APART = 20
"""CIE 1976 colour difference; 2.3 is just noticeable."""
LEAST_CONTRAST = 4.5
"""WCAG 2.2, 1.4.3, text."""
COLOUR = re.compile(r"--(\w+): #((?:[0-9a-f]{3}){1,2})\b")
ROOT = re.compile(r":root \{([^}]*)\}")


def _palettes() -> dict[str, dict[str, np.ndarray]]:
    """The linear RGB of each named colour, light and dark."""
    text = (files("tsnbench.ui") / "page/style.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--(\w+): #((?:[0-9a-f]{3}){1,2})\b", one)) for one in ROOT.findall(text)[:2]
    )
    both = {"light": light, "dark": light | dark}
    return {look: {name: _linear(code) for name, code in own.items()} for look, own in both.items()}


def _linear(code: str) -> np.ndarray:
    whole = code if len(code) == 6 else "".join(2 * digit for digit in code)
    shares = np.frombuffer(bytes.fromhex(whole), dtype=np.uint8) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def _lab(linear: np.ndarray) -> np.ndarray:
    """CIE 1976 L*a*b* of sRGB's primaries, D65."""
    xyz = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ]
    )
    shares = xyz @ linear / (xyz @ np.ones(3))
    f = np.where(shares > (6 / 29) ** 3, np.cbrt(shares), shares * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def _luminance(linear: np.ndarray) -> float:
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("eyes", SEEN_BY)
@pytest.mark.parametrize("look", ["light", "dark"])
def test_states_are_apart_and_readable_for(look: str, eyes: str) -> None:
    palette = {name: np.clip(SEEN_BY[eyes] @ one, 0, 1) for name, one in _palettes()[look].items()}
    for one, other in PAIRS:
        apart = float(np.linalg.norm(_lab(palette[one]) - _lab(palette[other])))
        assert apart > LEAST_APART, (one, other, apart)
    paper = _luminance(palette["paper"])
    for one in ("good", "bad", "soft", "ink"):
        low, high = sorted((paper, _luminance(palette[one])))
        assert (high + 0.05) / (low + 0.05) > LEAST_CONTRAST, one

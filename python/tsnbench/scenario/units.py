"""Quantities as people write them (``250 us``) and as programs compute with them: exact, or an error.

Every quantity becomes an integer: duration ns, rate bit/s, size octets, credit bit, length mm, share ppm.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

Schema = dict[str, Any]
"""JSON Schema, whose keys its own standard defines."""

_QUANTITY = re.compile(r"\s*(-?[0-9]+(?:\.[0-9]+)?)(?:\s*/\s*([0-9]+))?\s*(\S*)\s*")
_COMMA = re.compile(r"\s*(-?[0-9]+),([0-9]+)\s*(\S*)\s*")
"""A number with a decimal comma."""
_EXPONENT = re.compile(r"\s*(-?[0-9]+(?:\.[0-9]+)?)[eE]([+-]?[0-9]{1,2})\s*(\S*)\s*")
"""A number with a power of ten."""
_DIGITS = re.compile(
    r"""\s*(?:
        (?P<spaced>[0-9]{1,3}(?:[_' ][0-9]{3})+)
        | (?P<pointed>[0-9]{1,3}(?:[.,][0-9]{3}){2,})
        | (?P<hexadecimal>0x[0-9a-fA-F]{1,12})
        | (?P<short>\.[0-9]+)
        | (?P<long>[0-9]+\.)(?=\s|[A-Za-z])
    )\s*(?P<unit>\S*)\s*""",
    re.VERBOSE,
)
"""A number in other digits: in groups of three, hexadecimal, or with no digit on one side of the point."""
_POWER = re.compile(r"(?:([0-9.]+)\s*[*\u00d7x]\s*)?10\s*\^\s*([+-]?[0-9]{1,2})\s*(\S*)")
_PRODUCT = re.compile(r"\s*([0-9.]+)\s*[*\u00d7x]\s*([0-9.]+)\s*([A-Za-z/%]+)\s*")
_CALL = re.compile(r"\s*(?:([a-z]+)\(\s*([^,()]*)|\$\{\s*\w*\s*=\s*([^,}]*)).*")
"""A random value or a list of values as OMNeT++ writes it; a comma in braces ends it here."""
_QUANTILE = re.compile(r"p([0-9.]+)\s*(?:<=?|:|=|\u2264)\s*(.+)")
_WORDS = re.compile(
    r"(?:[<>]=?|[~\u2264\u2265\u00b1]|max\.?|min\.?|about|every)?\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z%/]+)(?:[\s,.(].*)?"
)
"""A quantity between a sign or a word and other words: ``< 200 us``, ``1 Gbps full-duplex``."""
_PHY = re.compile(r"([0-9.]+)(G?)BASE-?[A-Z].*", re.IGNORECASE)
"""The name of a physical layer: ``100BASE-T1``, ``2.5GBASE-T``. IEEE 802.3-2022, 1.2.3."""
_LONGEST = 40
"""Characters of a quantity; what is longer is no quantity, and big integers cost time."""


class UnitError(ValueError):
    """A text that is no value of its kind: the expected value, and how to write it."""

    def __init__(self, expected: str, hint: str = "") -> None:
        super().__init__(f"expected {expected} ({hint})")
        self.expected = expected
        self.hint = hint


_HUGE = 100_000
"""Bare numbers from here on are no number of Mbit/s."""
_MOST_PARSED = 10_000
_parsed: dict[tuple[str, str], int] = {}
"""Worth of texts by dimension: thousands of streams say ``1 ms``."""


@dataclass(frozen=True)
class Dimension:
    """One kind of quantity: ``units`` gives each unit's worth in ``base``; hints name the ``usual`` one."""

    name: str
    article: str
    base: str
    usual: str
    units: Mapping[str, Fraction]
    aliases: Mapping[str, str]
    """Frequent mistakes -> the intended unit; for hints only."""
    others: Mapping[str, Fraction] = field(default_factory=dict)
    """Units of other programs and their worth in ``base``; for hints only."""
    reciprocals: Mapping[str, Fraction] = field(default_factory=dict)
    """Units of the reciprocal, with the worth of 1 of them; for hints only."""
    coarse: str = ""
    """The unit in which other programs count, for bare numbers below 1; for hints only."""
    fine: str = ""
    """The unit in which other programs count, for bare numbers of many digits; for hints only."""
    whole: str = ""
    """A quantity of which people write a share, as hints name it."""

    @property
    def expected(self) -> str:
        return f"{self.article} {self.name} with a unit"

    def text(self, value: int) -> str:
        """A value in the largest unit that holds it exactly: 90000 ns is ``90 us``."""
        fitting = [(worth, unit) for unit, worth in self.units.items() if value and value % worth == 0]
        worth, unit = max(fitting, key=lambda fit: fit[0], default=(Fraction(1), self.base))
        return f"{value // worth} {unit}"

    def _exact(self, worth: Fraction, text: str) -> str:
        """A hint for a quantity in a unit of other programs."""
        below = worth.numerator // worth.denominator
        if worth.denominator == 1:
            return f"write {self.text(below)}"
        base = self.base
        return f"write {below}{base} or {below + 1}{base}: {text} is no whole number of {base}"

    def _of_other_programs(self, number: Fraction, usual: str) -> str:
        """The unit that a bare number has in other programs; empty where the usual one fits."""
        if 0 < number < 1:
            return self.coarse
        return self.fine if number >= _HUGE and usual == self.usual else ""

    def _with_unit(self, number: str, usual: str) -> str:
        """A hint for a bare number; one below 1 is a share of all, as mathematics writes it."""
        unit = self._of_other_programs(Fraction(number), usual)
        worth = Fraction(number) * self.units.get(unit, 0)
        if unit and worth.denominator == 1:
            return f"write {self.text(worth.numerator)} for {number} {unit}"
        if number.startswith("-"):
            worth = Fraction(2) ** int(number) * 10**9 if re.fullmatch("-[0-9]", number) else Fraction(0)
            logarithm = f"write {self.text(worth.numerator)} for the logarithm {number}"
            is_one = self.name == "duration" and worth.numerator > 0 and worth.denominator == 1
            return logarithm if is_one else "leave the minus sign out"
        if "%" not in self.units:
            return f"write {' or '.join(number + unit for unit in usual.split(' or '))}"
        share = Fraction(number)
        return (
            f"write {float(share * 100):g}% or {number}%"
            if share < 1
            else f"write {number}% or {number}{usual}"
        )

    def _bare(self, value: Fraction, text: str, usual: str) -> str:
        """A hint for a fraction or a power of ten without a unit; empty where the usual unit fits."""
        if "%" in self.units:
            return f"write {self.text(int(value * 10**6))}" if value * 10**6 % 1 == 0 and value < 1 else ""
        unit = self._of_other_programs(value, usual)
        worth = value * self.units.get(unit, 0)
        return f"write {self.text(int(worth))} for {text} {unit}" if unit and worth.denominator == 1 else ""

    def _without_power(self, number: str, power: int, unit: str, usual: str) -> str:
        """A hint for a power of ten, which is written out."""
        if not unit and (
            hint := self._bare(Fraction(Decimal(number).scaleb(power)), f"{number}e{power}", usual)
        ):
            return hint
        unit = self.aliases.get(unit) or self.aliases.get(unit.lower()) or unit or usual
        digits = Decimal(number).scaleb(power)
        written = f"{digits.normalize():f}"
        return f"write {written} {unit}" if len(written) < _LONGEST else f"write it like 250{usual}"

    def _with_point(self, whole: str, part: str, unit: str, usual: str) -> str:
        """A hint for a decimal comma; before three digits it may separate thousands."""
        unit = self.aliases.get(unit) or self.aliases.get(unit.lower()) or unit or usual
        thousands = f", or {whole}{part} {unit}" if len(part) == 3 and whole.strip("-0") else ""
        return f"write {whole}.{part} {unit}{thousands}"

    def _among_words(self, text: str) -> str:
        """A hint for a physical layer, a share of a quantity, or a quantity among words; empty for others."""
        text = text.strip()[:_LONGEST]
        if power := _POWER.fullmatch(text):
            return self._without_power(power[1] or "1", int(power[2]), power[3], self.usual)
        if hint := self._in_other_digits(text) or self._of_omnet(text):
            return hint
        phy = _PHY.fullmatch(text) if self.name == "rate" else None
        if self._unit(text) and not text.isdecimal():
            return f"write 1 {self._unit(text)}"
        if phy is not None:
            return f"write {phy[1]} {'G' if phy[2] else 'M'}bit/s for {text}"
        found = _WORDS.fullmatch(text)
        if found is None:
            return ""
        number, unit = found.groups()
        if unit == "%" and self.whole:
            example = f"{self.article} {self.name} such as 250{self.usual}"
            return f"write {example}, in place of {number} % of {self.whole}"
        unit = self._unit(unit)
        return f"write {number} {unit}" if unit else ""

    def _unit(self, written: str) -> str:
        """The unit that somebody means who writes this; empty if there is none."""
        lower = written.lower()
        own = written if written in self.units else self.aliases.get(written) or self.aliases.get(lower)
        return own or (lower if lower in self.units else "")

    def _in_other_digits(self, text: str) -> str:
        """A hint for a number in other digits, or a product; empty for other texts."""
        if (found := _DIGITS.fullmatch(text)) and (unit := self._unit(found["unit"])):
            if found["hexadecimal"]:
                return f"write {int(found['hexadecimal'], 16)} {unit}"
            if found["short"] or found["long"]:
                return f"write {Decimal(found['short'] or found['long'])} {unit}"
            return f"write {re.sub('[^0-9]', '', found['spaced'] or found['pointed'])} {unit}"
        if (product := _PRODUCT.fullmatch(text)) and (unit := self._unit(product[3])):
            return f"write {float(product[1]) * float(product[2]):g} {unit}"
        return ""

    def _of_omnet(self, text: str) -> str:
        """A hint for a random value or a list of values of OMNeT++; empty for other texts."""
        if (quantile := _QUANTILE.fullmatch(text)) and self.name == "duration":
            return f"write delay p{quantile[1]}: {quantile[2]}, which is a key of its own"
        found = _CALL.fullmatch(text)
        if found is None:
            return ""
        random, first, listed = found.groups()
        if listed:
            return f"write [{listed}, …], a list: one run for each value"
        if self.name == "duration" and random == "exponential":
            return f"write poisson: {{mean-interval: {first or '100 us'}}} in place of period"
        if self.name == "duration":
            return f"write {first or '1 ms'}, and jitter: 100 us for releases that are late at random"
        if self.name == "size":
            return f"write units: [{first or '100 B'}, 1400 B] in place of it, or one size"
        return "write one value, or a list for one run each"

    @property
    def spellings(self) -> str:
        return ", ".join(unit for unit in self.units if unit not in ("µs", "μs"))

    def read(self, text: str, usual: str = "") -> tuple[Fraction, str]:
        """The number and the unit of a text, as written; ``usual`` is the unit that hints name here: ``ms``,
        or ``ms or s`` where a bare number may have either.

        Raises :class:`UnitError` where the text is no number with a unit of this dimension.
        """
        found = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
        either = usual or self.usual
        usual = either.split(" or ")[0]
        example = f"write it like 250{usual}; units are {self.spellings}"
        comma = _COMMA.fullmatch(text) if len(text) <= _LONGEST else None
        if comma is not None:
            raise UnitError(self.expected, self._with_point(comma[1], comma[2], comma[3], usual))
        power = _EXPONENT.fullmatch(text) if len(text) <= _LONGEST else None
        if power is not None:
            raise UnitError(self.expected, self._without_power(power[1], int(power[2]), power[3], usual))
        if found is None:
            raise UnitError(self.expected, self._among_words(text) or example)
        number, divisor, unit = found.groups()
        if divisor is not None and int(divisor) == 0:
            raise UnitError(self.expected, "a number cannot be divided by zero")
        if not unit:
            if divisor is not None:
                raise UnitError(
                    self.expected, self._bare(Fraction(number) / int(divisor), text.strip(), usual)
                )
            raise UnitError(self.expected, self._with_unit(number, either))
        if unit not in self.units:
            worth = self.others.get(unit, Fraction(0)) * Fraction(number) / int(divisor or 1)
            if unit in self.reciprocals and Fraction(number):
                worth = self.reciprocals[unit] / Fraction(number) * int(divisor or 1)
            if worth:
                raise UnitError(self.expected, self._exact(worth, text.strip()))
            meant = self._unit(unit)
            bare = text.strip().removesuffix(unit).rstrip()
            hint = f"write {bare}{meant}" if meant else self._among_words(text)
            raise UnitError(self.expected, hint or example)
        value = Fraction(number) / int(divisor or 1)
        if value < 0:
            raise UnitError(f"{self.article} {self.name} of 0 or more", "leave the minus sign out")
        return value, unit

    def parse(self, text: str, usual: str = "") -> int:
        """The text's worth in ``base``; raises :class:`UnitError` where that is not a whole number."""
        known = _parsed.get((self.name, text))
        if known is not None:
            return known
        value, unit = self.read(text, usual)
        worth = value * self.units[unit]
        if worth.denominator != 1:
            below = worth.numerator // worth.denominator
            raise UnitError(
                f"a whole number of {self.base}", f"write {below}{self.base} or {below + 1}{self.base}"
            )
        if len(_parsed) < _MOST_PARSED:
            _parsed[self.name, text] = worth.numerator
        return worth.numerator

    def schema(self) -> Schema:
        """The written form of the quantity, as JSON Schema."""
        units = "|".join(re.escape(unit) for unit in self.units)
        return {
            "type": "string",
            "description": f"{self.expected}: {self.spellings}",
            "pattern": rf"^\s*[0-9]+(\.[0-9]+)?(\s*/\s*[0-9]+)?\s*({units})\s*$",
            "examples": [f"250 {self.usual}"],
        }


def _units(**worth: int) -> dict[str, Fraction]:
    return {name: Fraction(value) for name, value in worth.items()}


DURATION = Dimension(
    name="duration",
    article="a",
    base="ns",
    usual="us",
    units={
        **_units(ns=1, us=1_000),
        "µs": Fraction(1_000),
        "μs": Fraction(1_000),
        **_units(ms=1_000_000, s=10**9, min=60 * 10**9, h=3600 * 10**9),
    },
    aliases={
        "usec": "us",
        "msec": "ms",
        "nsec": "ns",
        "sec": "s",
        "seconds": "s",
        "second": "s",
        "m": "ms",
        "hours": "h",
        "hour": "h",
        "minutes": "min",
        "mins": "min",
        "secs": "s",
        **{
            name + end: unit
            for name, unit in (
                ("nanosecond", "ns"),
                ("microsecond", "us"),
                ("millisecond", "ms"),
                ("usec", "us"),
                ("msec", "ms"),
                ("nsec", "ns"),
            )
            for end in ("", "s")
        },
        "US": "us",
        "Ms": "ms",
        "S": "s",
        **dict.fromkeys(("u", "\u00b5", "\u03bc", "\u00b5sec", "\u03bcsec", "mics", "micros"), "us"),
        **dict.fromkeys(("millis", "msecs"), "ms"),
    },
    others=_units(d=86_400 * 10**9, day=86_400 * 10**9, days=86_400 * 10**9),
    reciprocals=_units(Hz=10**9, kHz=10**6, MHz=10**3, fps=10**9),
    coarse="s",
    fine="ns",
    whole="the cycle",
)
LENGTH_OF_RUN = "ms or s"
"""The units that hints name for the length of a run and for times in it."""
RATE = Dimension(
    name="rate",
    article="a",
    base="bit/s",
    usual="Mbit/s",
    units={
        "bit/s": Fraction(1),
        "kbit/s": Fraction(10**3),
        "Mbit/s": Fraction(10**6),
        "Gbit/s": Fraction(10**9),
        "Tbit/s": Fraction(10**12),
    },
    aliases={
        "bps": "bit/s",
        "kbps": "kbit/s",
        "mbps": "Mbit/s",
        "gbps": "Gbit/s",
        "b/s": "bit/s",
        "kb/s": "kbit/s",
        "mb/s": "Mbit/s",
        "gb/s": "Gbit/s",
        "kbit": "kbit/s",
        "mbit": "Mbit/s",
        "gbit": "Gbit/s",
        "mbit/s": "Mbit/s",
        "gbit/s": "Gbit/s",
        **{unit + end: f"{unit}bit/s" for unit in "kMG" for end in ("", "b")},
        **dict.fromkeys(("ge", "gbe", "gige"), "Gbit/s"),
        **{
            f"{prefix}bit{end}": f"{unit}bit/s"
            for prefix, unit in (("kilo", "k"), ("mega", "M"), ("giga", "G"))
            for end in ("", "/s", "s", "s/s")
        },
    },
    # Octets per second: a capital B is an octet.
    others={
        unit: Fraction(8 * worth)
        for worth, units in (
            (1, "B/s Bps"),
            (10**3, "kB/s KB/s kBps KBps"),
            (10**6, "MB/s MBps"),
            (10**9, "GB/s GBps"),
        )
        for unit in units.split()
    },
    fine="bit/s",
    whole="the rate of the link",
)
SIZE = Dimension(
    name="size",
    article="a",
    base="B",
    usual="B",
    units={
        "B": Fraction(1),
        "octets": Fraction(1),
        "kB": Fraction(1_000),
        "MB": Fraction(10**6),
        "KiB": Fraction(1 << 10),
        "MiB": Fraction(1 << 20),
    },
    aliases={"b": "B", "byte": "B", "bytes": "B", "octet": "octets", "kb": "kB", "mb": "MB", "kib": "KiB"},
    others={**dict.fromkeys(("bit", "bits"), Fraction(1, 8)), "kbit": Fraction(125)},
)
CREDIT = Dimension(
    name="credit",
    article="a",
    base="bit",
    usual="B",
    units={
        "bit": Fraction(1),
        "kbit": Fraction(1_000),
        "B": Fraction(8),
        "octets": Fraction(8),
        "kB": Fraction(8_000),
    },
    aliases={"bits": "bit", "b": "B", "byte": "B", "bytes": "B", "octet": "octets", "kb": "kB"},
)
"""Credit of a shaper: ``tc`` counts it in octets, the standard in bit."""
LENGTH = Dimension(
    name="length",
    article="a",
    base="mm",
    usual="m",
    units=_units(mm=1, cm=10, m=1_000, km=1_000_000),
    aliases={"metre": "m", "metres": "m", "meter": "m", "meters": "m"},
    others=dict.fromkeys(("ft", "feet"), Fraction(1524, 5)),
)
SHARE = Dimension(
    name="share",
    article="a",
    base="ppm",
    usual="ppm",
    units={"%": Fraction(10_000), "ppm": Fraction(1)},
    aliases={"percent": "%"},
)
"""A share of a whole, as loss is: ``0.1 %``, ``100 ppm``."""
DRIFT = Dimension(
    name="drift",
    article="a",
    base="ppt",
    usual="ppm",
    units={"ppm": Fraction(10**6), "ppb": Fraction(10**3), "ppt": Fraction(1)},
    aliases={"PPM": "ppm", "PPB": "ppb"},
)
"""Frequency deviation of a clock, in parts of 10^12: ``20 ppm``, ``3 ppb``."""

PROPAGATION_PS_PER_MM = 5
"""5 ns per metre: a signal at two thirds of the speed of light, the usual assumption for copper and fibre."""


def propagation_ps(length_mm: int) -> int:
    """Time that a signal takes along a cable, in ps."""
    return length_mm * PROPAGATION_PS_PER_MM


Duration = int
"""ns."""
BitRate = int
"""bit/s."""
Size = int
"""Octets."""
Length = int
"""mm; see :func:`propagation_ps`."""

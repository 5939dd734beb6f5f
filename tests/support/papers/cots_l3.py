"""L3 of the COTS lessons: delays by guaranteed rate and by the real rate of the wire."""

from __future__ import annotations

from collections.abc import Iterable

from support.shipped import MS, Result, simulated, variants
from support.statistics import mean, us

SCENARIO = "papers/cots/l3"
DURATION = 2000 * MS


def run(variant: str) -> Result:
    return simulated(SCENARIO, variant, DURATION)


def study() -> Iterable[list[str]]:
    yield ["Guarantee and wire", "least", "mean", "greatest", "at the end"]
    for variant in variants(SCENARIO):
        delays = run(variant).delays("f1")
        yield [
            variant,
            *(
                us(value)
                for value in (delays.min() or 0, mean(delays), delays.max() or 0, mean(delays[-100:]))
            ),
        ]


TABLES = {"l3": study}

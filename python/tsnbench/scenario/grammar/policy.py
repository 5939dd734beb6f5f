"""What a CNC permits its clients: the keys of ``policy``."""

from __future__ import annotations

import re

from tsnbench.scenario.kinds.combinators import Field, Fields, MapOf, record_of
from tsnbench.scenario.kinds.values import Quantity
from tsnbench.scenario.model.scenario import Policy
from tsnbench.scenario.part import Values
from tsnbench.scenario.text.reading import Reading
from tsnbench.scenario.units import SHARE


def _shares(reading: Reading, fields: Fields, given: Values) -> None:
    shares = {int(pcp): share for pcp, share in fields.get("reserve", {}).items()}
    given["reserve"] = shares
    for key in ("pcp", "scheduled-pcp"):
        pcp = fields.get(key)
        if shares and isinstance(pcp, int) and pcp not in shares:
            expected = f"a PCP of reserve: {', '.join(map(str, sorted(shares, reverse=True)))}"
            fields.wrong(reading, key, expected, str(pcp))


POLICY = record_of(
    Policy,
    "what a CNC permits",
    {
        "reserve": Field(
            MapOf(
                "shares by PCP",
                Quantity(SHARE, 1, 10**6),
                re.compile("[0-7]"),
                "a priority code point from 0 to 7",
                "write reserve: {7: 50 %}",
            ),
            "the PCPs of requested streams, and their greatest share of each link: {7: 50 %}",
            since="0.1",
        )
    },
    rule=_shares,
    common_mistakes={
        **dict.fromkeys(("class", "classes", "share", "shares"), "write reserve: {7: 50 %}, or pcp: 7"),
        **dict.fromkeys(("vid", "vlan-id"), "did you mean vlan?"),
        **dict.fromkeys(("move", "tidy"), "did you mean moves?"),
    },
    example="{reserve: {7: 50 %}, moves: if-silent}",
)

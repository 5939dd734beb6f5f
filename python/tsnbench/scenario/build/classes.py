"""Priority code point to traffic class, and the queues of a port.

IEEE 802.1Q-2022, 8.6.6.
"""

from __future__ import annotations

from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.kinds.combinators import Fields
from tsnbench.scenario.text.reading import Bad, Reading, meant


def classes_of(reading: Reading, fields: Fields) -> dict[int, int] | None:
    """Every PCP's class; those that are not listed go to class 0."""
    from tsnbench.scenario import catalogue

    written = fields["classes"]
    if isinstance(written, str):
        tables = catalogue.pcp_to_class()
        if written in tables:
            return dict(enumerate(tables[written]))
        expected = "a map of PCP to traffic class, or 802.1Q/4 or 802.1Q/8"
        hint = meant(written, tables)
        reading.problem(fields.at("classes"), fields.path_of("classes"), expected, written, hint)
        return None
    if any(isinstance(value, Bad) for value in written.values()):
        return None
    return {pcp: written.get(str(pcp), 0) for pcp in range(8)}


def queues_of(reading: Reading, fields: Fields) -> model.Queues:
    """Only what is written is set, so that later settings override earlier ones key by key."""
    settings: dict[str, Any] = {}
    if "classes" in fields:
        settings["classes"] = classes_of(reading, fields)
    if "limit-frames" in fields:
        settings["limit_frames"] = fields["limit-frames"]
    if "limit-octets" in fields:
        settings["limit_octets"] = fields["limit-octets"]
    if "max-sdu" in fields:
        written = fields["max-sdu"]
        sizes = written if isinstance(written, dict) else {str(pcp): written for pcp in range(8)}
        settings["max_sdu"] = tuple(
            (int(pcp), size) for pcp, size in sizes.items() if not isinstance(size, Bad)
        )
    return model.Queues(**settings)

"""The names of a sweep's run folders: their values, in characters that file systems support."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence

LONGEST = 200
"""Most octets; file systems support 255, and temporary files need some of them."""


def folder_names(variants: Sequence[Mapping[str, str]]) -> list[str]:
    """A name for each run of a sweep: ``hops=3,rate=10_Mbit_s``.

    Names that are too long, or equal for different values, end with a hash of the values.
    """
    plain = [_plain(variant) for variant in variants]
    often = Counter(plain)
    return [
        name if often[name] == 1 and len(name.encode()) <= LONGEST else _told_apart(name, variant)
        for name, variant in zip(plain, variants, strict=True)
    ]


def _plain(variant: Mapping[str, str]) -> str:
    name = ",".join(f"{key}={value}" for key, value in variant.items())
    return "".join(c if c.isalnum() or c in "=,._-+" else "_" for c in name)


def _told_apart(name: str, variant: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(list(variant.items())).encode()).hexdigest()[:8]
    cut = name.encode()[: LONGEST - len(digest) - 1].decode(errors="ignore")
    return f"{cut}-{digest}"

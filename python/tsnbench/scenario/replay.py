"""A recording as written -> the model's: which file, which part of it, how fast and how often."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Any

from tsnbench.scenario import model
from tsnbench.scenario.grammar.shapes import Fields
from tsnbench.scenario.reading import Named, Reading

CAPTURES = (".pcap", ".pcapng", ".cap")
TABLES = (".csv", ".parquet")
_FACTOR = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:/([0-9]{1,9}))?")
_MAC = re.compile(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}")
_MOST_PASSES = 1 << 31


def replay(reading: Reading, written: Fields | Named) -> model.Replay | None:
    """The recording, or None where a mistake was noted. The file itself is read by planning."""
    if not isinstance(written, Fields):
        file = _file(reading, written)
        return None if file is None else model.Replay(file=file)
    if written.bad:
        return None
    file = _file(reading, written["file"])
    speed = _speed(reading, written["speed"]) if "speed" in written else (1, 1)
    repeat = _repeat(reading, written["repeat"]) if "repeat" in written else (1,)
    only = _only(reading, written["only"], file) if "only" in written else {}
    begin, until = written.get("from", 0), written.get("until")
    if until is not None and until <= begin:
        hint = "a recording is played until after from"
        reading.problem(
            written.at("until"), written.path_of("until"), "a time after from", "an earlier one", hint
        )
        return None
    if file is None or speed is None or repeat is None or only is None:
        return None
    return model.Replay(
        file=file, speed=speed, begin=begin, until=until, passes=repeat[0], only=model.Recorded(**only)
    )


def _file(reading: Reading, name: Named) -> str | None:
    """As a path that is right wherever the program runs: files stand beside the scenario."""
    if Path(name).suffix.lower() not in CAPTURES + TABLES:
        expected = f"a file that ends in {', '.join(CAPTURES + TABLES)}"
        reading.problem(name.place, name.path, expected, str(name))
        return None
    return str(Path(reading.file).parent / name)


def _speed(reading: Reading, text: Named) -> tuple[int, int] | None:
    found = _FACTOR.fullmatch(text)
    whole, decimals, divisor = found.groups() if found else ("0", None, None)
    above = int(whole + (decimals or ""))
    below = 10 ** len(decimals or "") * int(divisor or 1)
    if not above or not below:
        reading.problem(text.place, text.path, "a factor such as 2, 0.5 or 1/3", str(text))
        return None
    return above, below


def _repeat(reading: Reading, text: Named) -> tuple[int | None] | None:
    if text == "forever":
        return (None,)
    if not re.fullmatch("[0-9]{1,10}", text) or not 0 < int(text) < _MOST_PASSES:
        reading.problem(text.place, text.path, "a number of passes, or forever", str(text))
        return None
    return (int(text),)


def _only(reading: Reading, fields: Fields, file: str | None) -> dict[str, Any] | None:
    if fields.bad:
        return None
    if file is not None and Path(file).suffix.lower() in TABLES:
        hint = "a table is one flow"
        reading.problem(fields.place, fields.path, "a capture for only", "a table", hint)
        return None
    only: dict[str, Any] = {key: fields[key] for key in ("pcp", "udp") if key in fields}
    for key in ("source", "destination"):
        if key in fields:
            if not _is_address(fields[key]):
                text = fields[key]
                reading.problem(text.place, text.path, "a MAC or IP address", str(text))
                return None
            only[key] = str(fields[key])
    if "vlan" in fields:
        text = fields["vlan"]
        if text == "none":
            only["untagged"] = True
        elif re.fullmatch("[0-9]{1,4}", text) and 1 <= int(text) <= 4094:
            only["vlan"] = int(text)
        else:
            reading.problem(text.place, text.path, "a VLAN identifier from 1 to 4094, or none", str(text))
            return None
    return only


def _is_address(text: str) -> bool:
    if _MAC.fullmatch(text):
        return True
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text

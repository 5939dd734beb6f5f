"""What columns of a matrix are called, in English and German: the best word of each key comes first."""

from __future__ import annotations

import re

KEYS: dict[str, tuple[str, ...]] = {
    "name": (
        r"(stream|message|frame|telegram|pdu|flow|event|botschaft|nachricht|telegramm|datenstrom)(en|e|s)?"
        r"[ _-]?(name|bezeichnung|id)?",
        r"(message|frame|pdu|stream|flow|botschaft|nachricht|telegramm)s?[ _-]?\w*name\w*",
        r"(service|dienst)([ _-]?name)?",
        r"name|bezeichnung|title|titel",
        r"signal([ _-]?name)?",
    ),
    "from": (
        r"(sender|talker|producer|publisher|transmitter|sendende[rs]?|quelle|source)",
        r"(sender|talker|producer|publisher|transmitter|source|sending|tx|sende\w*|quell\w*|from|von)"
        r"[ _-]*(ecu|node|device|unit|name|steuerger\xe4t\w*|knoten|ger\xe4t|host|station)?s?",
        r"provider|anbieter|server|from|von|tx",
    ),
    "to": (
        r"(receiver|listener|consumer|subscriber|sink|destination|empf\xe4nger|senke|ziel)(s|\(s\))?",
        r"(receiver|listener|consumer|subscriber|sink|destination|dest|receiving|target|rx|empf\w*|senken?|ziel\w*"
        r"|to|an|nach)[ _-]*(ecu|node|device|unit|name|steuerger\xe4t\w*|knoten|ger\xe4t|host|station)?"
        r"(s|\(s\)|en|e)?",
        r"(receiver|empf\xe4nger|listener|sink)[ _-]?\d+",
        r"client|to|an|nach|rx",
    ),
    "period": (
        r"(cycle|cyclic|zyklus\w*|period\w*|interval\w*|intervall\w*|sende[ -]?zyklus|update)[ _-]*"
        r"(time|period|duration|rate|zeit|dauer)?",
        r".*(cycle|zyklus|period|interval|raster|takt).*",
        r"(send|transmission|update|sende)[ _-]?(rate|frequency|frequenz)|rate|frequen\w*",
    ),
    "payload": (
        r"(payload|nutzdaten|dlc|udp payload|user data)[ _-]*(size|length|l\xe4nge|gr\xf6\xdfe|bytes?)?",
        r"(data|daten|message|pdu|botschaft\w*|nachricht\w*|telegramm)[ _-]*"
        r"(size|length|l\xe4nge|gr\xf6\xdfe|bytes?)",
        r"(size|length|l\xe4nge|laenge|gr\xf6\xdfe|groesse|bytes?|octets?)",
    ),
    "frame": (r"(frame|ethernet|l2|rahmen\w*|paket|packet)[ _-]*(size|length|l\xe4nge|gr\xf6\xdfe|bytes?)",),
    "pcp": (
        r"(pcp|vlan[ _-]?prio\w*|802\.1p|cos)",
        r"(priority|prio|priorit\xe4t|traffic[ _-]?class|verkehrsklasse)([ _-]?\(?pcp\)?)?",
    ),
    "vlan": (r"vlan([ _-]?(id|tag))?|vid|vlan-?kennung",),
    "deadline": (
        r"(deadline|frist|max\w*\.?[ _-]*(\w+[ _-]*)?(latency|delay|latenz\w*|verz\xf6gerung))",
        r"(latency|delay|latenz\w*|verz\xf6gerung|e2e\b.*)([ _-]*(max\w*|requirement|anforderung|limit))?",
    ),
    "protocol": (r"(transport[ _-]?)?(protocol|protokoll\w*|transport|bus|bus ?system|network type|medium)",),
}
"""Patterns of the whole header, in lower case and without its unit."""
NEVER = re.compile(
    r"\b(ip|ipv4|ipv6|mac|address|adresse|addr|port|bit pos\w*|start ?bit|comment|kommentar|description"
    r"|beschreibung|min\w*|signal (length|l\xe4nge|size)|offset|jitter|signed|byte ?order)\b"
)

NO_PCP = re.compile(r"dscp|\b[01] *[=:] *(high|h[o\xf6]ch)|(high|h[o\xf6]ch)\w* *[=:] *[01]\b")
"""Priorities of another kind, and those whose least number is the highest priority."""


def is_other(header: str) -> bool:
    """Whether a header is about something else, whatever further words it has."""
    return NEVER.search(header.lower().replace("_", " ")) is not None


def rank(key: str, header: str) -> int | None:
    """How well a header fits a key, from 0 on; None if it does not fit."""
    text = re.sub(r"\s*[\[(][^\[\]()]*[\])]\s*$", "", header.lower().replace("\n", " ")).strip(" :*")
    text = re.sub(r"\s+(in )?(ms|us|\xb5s|ns|s|bytes?|bits?|octets?)$", "", text) if " " in text else text
    if is_other(text) or (key == "pcp" and NO_PCP.search(header.lower())):
        return None
    for place, pattern in enumerate(KEYS[key]):
        if re.fullmatch(pattern, text):
            return place
    return None

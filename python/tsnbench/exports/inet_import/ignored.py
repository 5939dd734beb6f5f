"""Keys of a model that change nothing in a scenario: options of OMNeT++, drawings, recordings, names."""

from __future__ import annotations

from tsnbench.exports.inet_import.language.ini import Entry

LAST = frozenset({
    "display-name", "displayStringTextFormat", "packetNameFormat", "recordPcap", "dumpProtocols", "hasStatus",
    "checksumMode", "fcsMode", "crcMode", "scalar-recording", "vector-recording", "statistic-recording",
    "result-recording-modes", "param-recording", "cmdenv-log-level", "cmdenv-ev-output", "record-eventlog",
    "bin-recording", "vector-buffer", "hasGlobalArp", "referenceClock", "alwaysFlush", "agingTime",
    "multicastInterface", "interfaceTableModule", "numLoInterfaces", "promiscuous", "defaultMulticastLoop",
    "numPcapRecorders", "pcapFile", "moduleNamePatterns", "display-string", "attachToStatistic",
    "defaultOverdueClockEventHandlingMode", "emulation", "simtimeScale", "hasIncomingStreams",
    "vlanIdFilter", "destinationPort", "startTime-display", "numPcap", "displayInterfaceTables",
    "displayGateSchedules", "gateFilter", "hasVisualizer", "description", "localPort",
})  # fmt: skip
"""Names of parameters. Some of them change what INET does, but nothing that a scenario does otherwise."""
PARTS = (
    "isualizer", "pcapRecorder", "moduleDump", ".arp.", "scenarioManager.", "statistic", "cmdenv", "tkenv",
    "qtenv", ".mobility.", "eventlog", "@display",
)  # fmt: skip
"""Parts of keys: whatever has one of them is about drawing or recording."""
TYPES = frozenset({"StreamingTransmitter", "DestreamingReceiver", "GlobalArp", "EthernetLayer",
                   "LayeredEthernetInterface", "EthernetStreamingPhyLayer", "EthernetPreemptingPhyLayer",
                   "EthernetMacLayer", "EthernetPhyLayer", "StreamRelayLayer", "StreamCoderLayer",
                   "StreamIdentifierLayer", "BridgingLayer", "SimpleIeee8021qFilter", "RelayInterfaceLearner",
                   "", "PacketTagger", "PeriodicGate"})  # fmt: skip
"""Types of modules that frames pass without a difference."""


def is_silent(entry: Entry) -> bool:
    """Whether a key says nothing about frames."""
    name = entry.key.rpartition(".")[2]
    if "." not in entry.key or name in LAST or any(part in entry.key for part in PARTS):
        return True
    return name == "typename" and entry.value.strip('"') in TYPES

"""The parts of a scenario as types: every quantity is an integer in the unit that its name contains.

The YAML spelling (units, sweeps, patterns by name) is read by :mod:`tsnbench.scenario.loader`; by the time a
:class:`Scenario` exists every catalogue name is resolved and every sweep is expanded.
"""

from __future__ import annotations

from tsnbench.scenario.model.clocks import (
    Clock,
    Clocks,
    ClockStep,
    DriftChange,
    FrequencyJump,
    PtpDown,
    Wander,
)
from tsnbench.scenario.model.devices import (
    Calibration,
    Depth,
    Device,
    GateLimits,
    ProcessingJitter,
    SlopeLimits,
    Stamps,
    Supported,
)
from tsnbench.scenario.model.faults import Fault
from tsnbench.scenario.model.gates import Follow, GateChange, GateEntry, Gates, Planned
from tsnbench.scenario.model.hosts import Constant, Histogram, Host, Latency, Uniform
from tsnbench.scenario.model.names import Name, Pcp, PortSelector
from tsnbench.scenario.model.network import (
    Buffer,
    Link,
    Network,
    Node,
    Queues,
)
from tsnbench.scenario.model.policing import Filter, Meter, Regeneration, StreamGate, StreamGateEntry
from tsnbench.scenario.model.ptp import Bmca, ClockQuality, Gptp, Ieee1588, Servo
from tsnbench.scenario.model.redundancy import (
    ActiveIdentification,
    Failover,
    Frer,
    LatentErrorDetection,
    StreamPath,
)
from tsnbench.scenario.model.scenario import Policy, Scenario
from tsnbench.scenario.model.schedule import Schedule, Windows
from tsnbench.scenario.model.shapers import Ats, CbsClass, Cqf, Etf, Preemption, Qdisc, Server, Shaper
from tsnbench.scenario.model.streams import JitterLimit, Release, Requirements, Send, Stream, Survives, Trdp
from tsnbench.scenario.model.taps import Taps
from tsnbench.scenario.model.traffic import (
    Answer,
    CaptureFilter,
    FixedSize,
    Periodic,
    Poisson,
    RecordedSizes,
    Replay,
    Saturating,
    TokenBucket,
    UnitSizes,
)

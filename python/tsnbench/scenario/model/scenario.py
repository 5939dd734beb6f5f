"""A scenario: the network, its streams, and their faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tsnbench import steps
from tsnbench.scenario.kinds.common import LONGEST, PROSE, SPAN, TIME
from tsnbench.scenario.kinds.values import Count, OrPlan, Quantity, Text
from tsnbench.scenario.model.clocks import Clocks
from tsnbench.scenario.model.faults import Fault
from tsnbench.scenario.model.hosts import Host
from tsnbench.scenario.model.names import Name, PortSelector
from tsnbench.scenario.model.network import Network
from tsnbench.scenario.model.policing import Filter, Regeneration
from tsnbench.scenario.model.schedule import Schedule, Windows
from tsnbench.scenario.model.shapers import Shaper
from tsnbench.scenario.model.streams import Stream
from tsnbench.scenario.model.taps import Taps
from tsnbench.scenario.part import Part, key
from tsnbench.scenario.units import DURATION, Duration

if TYPE_CHECKING:
    from tsnbench.plan.document import Plan
    from tsnbench.scenario.errors import Caution
    from tsnbench.scenario.text.origin import Origin


SETTLED = "settled"


class Scenario(Part):
    """One experiment as a person describes it; each value records its line and column.

    Durations are in ns, sizes in octets, rates in bit/s. A scenario is not changed after it was read.
    """

    name: Name = key(Text("a name", named=True, swept=False), "a short name", "my-first-network")
    title: str = key(PROSE, "one line for reports", default="")
    source: str = key(PROSE, "where the scenario is from: a paper and its table", default="")
    duration: Duration = key(Quantity(DURATION, 1, LONGEST, usual="ms"), "how long talkers talk", "100 ms")
    drain: Duration = key(
        TIME, "how long frames under way may still arrive; 100 ms unless given", default=100_000_000
    )
    measure_from: Duration | str | None = key(
        OrPlan(SPAN, SETTLED, SETTLED),
        "from when on frames count: a time, or settled",
        default=None,
    )
    seed: int = key(Count(0, 2**53, "a seed"), "seed of all randomness; 1 unless given", default=1)
    network: Network
    streams: dict[Name, Stream]
    shapers: dict[PortSelector, Shaper] = {}
    faults: tuple[Fault, ...] = ()
    policing: tuple[Filter | Regeneration, ...] = ()
    schedule: Schedule = Schedule()
    windows: Windows = Windows()
    taps: Taps = Taps()
    clocks: Clocks | None = None
    hosts: dict[Name, Host] = {}
    """Nodes whose software takes time."""
    variant: dict[str, str] = {}
    """The values of a sweep's parameters in this run, as written; empty without a sweep."""
    _origin: ClassVar[Origin | None] = None
    """The places of the scenario's parts in its file."""
    _cautions: ClassVar[tuple[Caution, ...]] = ()
    """Warnings from reading the file, to check before the results are trusted."""

    def read_from(self, origin: Origin, cautions: tuple[Caution, ...] = ()) -> Scenario:
        """A copy of the scenario that knows its places in a file."""
        made = self.model_copy()
        vars(made).update(_origin=origin, _cautions=cautions)
        return made

    def where(self, path: str) -> str:
        """``file:line:column`` of a part such as ``streams.cam.via``; empty where no file was read."""
        return self._origin.where(path) if self._origin else ""

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Warnings from reading the file: valid values that are probably not intended."""
        return self._cautions

    def plan(self) -> Plan:
        """Plans the scenario: paths, frame sizes, shapers, gates, schedules.

        Raises:
            InputError: the scenario cannot be planned. The message has the place in the file, the reason,
                and a hint where one was found.
        """
        made: Plan = steps.plan(self)
        return made

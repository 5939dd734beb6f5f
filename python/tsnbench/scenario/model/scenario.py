"""A scenario: the network, its streams, and their faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

from tsnbench import steps
from tsnbench.errors import InputError
from tsnbench.scenario.kinds.common import PCP, PROSE, RUN_SPAN, RUN_TIME, TAG
from tsnbench.scenario.kinds.values import Choice, Count, OrPlan, Text
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
from tsnbench.scenario.units import Duration

if TYPE_CHECKING:
    from tsnbench.plan.document import Plan
    from tsnbench.scenario.errors import Caution
    from tsnbench.scenario.text.origin import Origin


SETTLED = "settled"
MOST_STREAMS = 50_000
"""Streams that clients of a CNC can request."""
_MOVES = ("never", "if-silent", "in-maintenance")


class Policy(Part):
    """What ``tsnbench cnc`` permits clients; a run has the streams of the scenario alone, and no clients."""

    reserve: dict[int, int] = {}
    """By PCP the greatest share of each link for requested streams, in ppm; empty: no limit."""
    moves: Literal["never", "if-silent", "in-maintenance"] = key(
        Choice(
            {word: word for word in _MOVES},
            "moves",
            {"silent": "if-silent", "maintenance": "in-maintenance", "always": "in-maintenance"},
        ),
        "when streams in place may move: never (default), if-silent or in-maintenance",
        default="never",
        since="0.1",
    )
    pcp: int | None = key(
        PCP,
        "PCP of requested streams that name neither pcp nor class, and are not scheduled",
        default=None,
        sample="5",
        since="0.1",
        clause=TAG,
    )
    scheduled_pcp: int | None = key(
        PCP,
        "PCP of scheduled requested streams that name neither pcp nor class",
        default=None,
        sample="7",
        since="0.1",
        clause=TAG,
    )
    vlan: int | None = key(
        Count(1, 4094, "a VLAN identifier"),
        "VLAN identifier of requested streams that name none; 100 by default",
        default=None,
        sample="10",
        since="0.1",
        clause=TAG,
    )
    most_streams: int = key(
        Count(1, MOST_STREAMS, "a number of streams"),
        "most requested streams of all clients",
        default=10_000,
        sample="500",
        since="0.1",
    )


class Scenario(Part):
    """One experiment as a person describes it; each value records its line and column.

    Durations are in ns, sizes in octets, rates in bit/s. A scenario is not changed after it was read.

    Example:
        >>> from tsnbench import load
        >>> scenario = load("first.yaml")
        >>> scenario.name, scenario.duration, scenario.drain, scenario.seed
        ('first', 5000000, 100000000, 1)
        >>> list(scenario.network.nodes), list(scenario.streams)
        (['camera', 'controller', 'robot', 'switch'], ['loop', 'video'])
        >>> scenario.where("streams.loop.period")
        'first.yaml:13:47'
        >>> scenario.variant, scenario.cautions
        ({}, ())
    """

    name: Name = key(Text("a name", named=True, swept=False), "a short name", "my-first-network")
    title: str = key(PROSE, "one line for reports", default="", sample="A camera and a computer")
    source: str = key(
        PROSE, "where the scenario is from: a paper and its table", default="", sample="EnGINE Table 7"
    )
    duration: Duration = key(RUN_SPAN, "how long talkers talk", "100 ms")
    drain: Duration = key(
        RUN_TIME, "how long frames under way may still arrive; 100 ms by default", default=100_000_000
    )
    measure_from: Duration | str | None = key(
        OrPlan(RUN_SPAN, SETTLED, SETTLED),
        "from when on frames count: a time, or settled",
        default=None,
    )
    seed: int = key(Count(0, 2**53, "a seed"), "seed of all randomness; 1 by default", default=1)
    network: Network
    streams: dict[Name, Stream]
    shapers: dict[PortSelector, Shaper] = {}
    faults: tuple[Fault, ...] = ()
    policing: tuple[Filter | Regeneration, ...] = ()
    schedule: Schedule = Schedule()
    windows: Windows = Windows()
    taps: Taps = Taps()
    policy: Policy = Policy()
    clocks: Clocks | None = None
    hosts: dict[Name, Host] = {}
    """Nodes whose software takes time."""
    variant: dict[str, str] = {}
    """The values of a sweep's parameters in this run, as written; empty without a sweep."""
    _origin: ClassVar[Origin | None] = None
    """The places of the scenario's parts in its file."""
    _cautions: ClassVar[tuple[Caution, ...]] = ()
    """Warnings from reading the file, to check before the results are trusted."""
    _read: ClassVar[Mapping[str, object]] = {}
    """The values that were read from the file, by name."""

    def read_from(self, origin: Origin, cautions: tuple[Caution, ...] = ()) -> Scenario:
        """A copy of the scenario that knows its places in a file."""
        made = self.model_copy()
        vars(made).update(_origin=origin, _cautions=cautions, _read=dict(self.items()))
        return made

    def of_sweep(self, variant: dict[str, str], paths: Mapping[str, str], text: str = "") -> Scenario:
        """A copy of the scenario that knows the values of a sweep's parameters, the paths of these, and the
        text that was read."""
        made = self.model_copy(update={"variant": variant})
        if self._origin is not None:
            vars(made)["_origin"] = replace(self._origin, swept=paths, text=text or self._origin.text)
        return made

    def text(self) -> str:
        """The text that the scenario was read from, in which :attr:`variant` has values of this run.

        Empty if the scenario was made in Python, or changed there other than in its duration and seed.
        """
        if self._origin is None or not {"variant", "duration", "seed"}.issuperset(self._changed()):
            return ""
        return self._origin.text

    def _changed(self) -> list[str]:
        """The keys whose values are not those that were read."""
        return [
            name
            for name, value in self.items()
            if value is not self._read.get(name) and value != self._read.get(name)
        ]

    def __repr__(self) -> str:
        variant = "".join(f", {name} {value}" for name, value in self.variant.items())
        return f"Scenario({self.name!r}, {len(self.streams)} streams{variant})"

    def _repr_html_(self) -> str:
        return steps.html("scenario", self)

    def as_read(self) -> Origin:
        """The text that the scenario was read from.

        Raises:
            InputError: there is none, or the scenario was changed after it was read.
        """
        changed = [name for name in self._changed() if name != "variant"]
        if self._origin is not None and not changed:
            return self._origin
        found = f"{', '.join(changed)} changed in Python" if self._origin else "one that was made in Python"
        hint = "vary the scenario that load returned"
        raise InputError(f"vary: expected a scenario as it was read, found {found}\n  hint: {hint}")

    def where(self, path: str) -> str:
        """``file:line:column`` of a part such as ``streams.cam.via``; empty where no file was read."""
        return self._origin.where(path) if self._origin else ""

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Warnings from reading the file: valid values that are probably not intended."""
        return self._cautions

    def vary(self, values: Mapping[str, object]) -> list[Scenario]:
        """The scenario with other values: one scenario for each combination; the first path varies slowest.

        ``variant`` of each has its values. Values that a change in Python gave the scenario are not kept:
        they are refused.

        Args:
            values: the new value, or a list of values, of each path. Values are written as in YAML
                (``"500 us"``, ``3``). Paths are those of messages and studies (``streams.video.period``,
                ``faults[0].at``; a star stands for every key); a parameter of the file's sweep has its name,
                as for ``tsnbench tune``.

        Raises:
            ScenarioErrors: the scenario has no such path, or the values are wrong there: the same messages
                as for the text of a scenario, with the path.
            InputError: the scenario was made or changed in Python, so that there is no text to vary.

        Example:
            >>> from tsnbench import load
            >>> found = load("first.yaml").vary({"streams.video.period": ["200 us", "400 us"], "seed": 2})
            >>> [one.variant for one in found]
            [{'streams.video.period': '200 us', 'seed': '2'}, {'streams.video.period': '400 us', 'seed': '2'}]
        """
        made: list[Scenario] = steps.vary(self, values)
        return made

    def plan(self) -> Plan:
        """Plans the scenario: paths, frame sizes, shapers, gates, schedules.

        Raises:
            InputError: the scenario cannot be planned. The message has the place in the file, the reason,
                and a hint where one was found.

        Example:
            >>> from tsnbench import load
            >>> load("first.yaml").plan()
            Plan('first', 2 flows)
        """
        made: Plan = steps.plan(self)
        return made

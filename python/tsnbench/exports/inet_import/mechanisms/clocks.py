"""Clocks: oscillators that drift, and gPTP."""

from __future__ import annotations

from fractions import Fraction

from tsnbench.exports.inet_import.language.expressions import Node, Scope, VaryingError, evaluate, quantity
from tsnbench.exports.inet_import.mechanisms.ports import Port, table
from tsnbench.exports.inet_import.model import Model, ppm
from tsnbench.exports.inet_import.parameters import Setting
from tsnbench.exports.scenario_text import duration, flow
from tsnbench.sheet import csv_text

_OSCILLATED = frozenset({"OscillatorBasedClock", "SettableClock", "MultiClock"})
MOST_CHANGES = 100_000
"""Rows of a trace."""


WITHIN_A_SYNC = (
    "{first_step_threshold: 1 ns, pi_proportional_scale: 1, pi_proportional_exponent: -1, "
    "pi_proportional_norm_max: 1, pi_integral_scale: 10, pi_integral_exponent: 0, "
    "pi_integral_norm_max: 0.3}"
)
"""A proportional gain of one over the interval: the whole offset is gone at the next Sync.

linuxptp's own gains need a second for the first correction where a Sync comes every 500 us.
"""


def clocks(model: Model, ports: list[Port]) -> list[str]:
    """The lines under ``clocks``; empty where all nodes share one time."""
    lines = []
    drifting = []
    for node in model.topology.nodes:
        keys = _clock(model, node)
        if keys:
            drifting.append(node)
            lines.append(f"  {model.names[node]}: {flow(keys)}")
    master = _grandmaster(model)
    if master is not None:
        lines.append(f"  gptp: {flow(_gptp(model, master, ports))}")
    for node in drifting:
        uses = _uses(model, node)
        if not uses and any(one.talker == node for one in model.streams):
            model.decide("talkers that follow the simulation's time in INET; written: their clock", node)
    return ["clocks:", *lines] if lines else []


def _has_clock(model: Model, node: str) -> str:
    """The path of the node's clock; empty without one. Of several clocks, the first one counts."""
    parameters = model.parameters
    path = model.path(node, "clock")
    given = parameters.text(f"{path}.typename")
    synchronised = parameters.flag(model.path(node, "hasTimeSynchronization"))
    kind = given or ("SettableClock" if synchronised else "")
    if model.topology.nodes[node].type_name == "TsnClock" and not given:
        kind = "OscillatorBasedClock"
    if kind not in _OSCILLATED:
        return ""
    if kind == "MultiClock":
        if parameters.whole(f"{path}.numClocks", 1) > 1:
            model.lose_setting("clocks other than the first", parameters.setting(f"{path}.numClocks"))
        return f"{path}.clock[0]"
    return path


def _clock(model: Model, node: str) -> dict[str, object]:
    clock = _has_clock(model, node)
    if not clock:
        return {}
    parameters = model.parameters
    oscillator = f"{clock}.oscillator"
    kind = parameters.text(f"{oscillator}.typename", "ConstantDriftOscillator")
    keys: dict[str, object] = {}
    first = "initialDriftRate" if kind == "RandomDriftOscillator" else "driftRate"
    drift = parameters.setting(f"{oscillator}.{first}")
    if drift is not None:
        keys |= _drift(model, drift, "drift", "drift-within")
    if kind == "RandomDriftOscillator":
        wander = _wander(model, node, oscillator)
        if "trace" in wander:
            keys.clear()
        keys |= wander
    tick = parameters.number(f"{oscillator}.nominalTickLength", "ns")
    if tick is not None and tick >= 1:
        keys["granularity"] = f"{round(tick)} ns"
    return keys if set(keys) - {"granularity"} else {}


def _drift(model: Model, setting: Setting, one: str, several: str) -> dict[str, object]:
    """A constant, or a draw between minus and plus a value."""
    constant, most = _spread(model, setting)
    if constant is not None:
        return {one: ppm(constant)} if constant else {}
    if most is None:
        model.lose_setting("a drift of another form", setting)
        return {}
    return {several: ppm(most)}


def _spread(model: Model, setting: Setting) -> tuple[Fraction | None, Fraction | None]:
    """The constant, or the half width of a uniform distribution around 0, in ppm."""
    scope = model.parameters.scope(setting)
    try:
        try:
            return quantity(evaluate(setting.node, scope)).to("ppm"), None
        except VaryingError:
            return None, _half_width(setting.node, scope)
    except ValueError as error:
        raise model.parameters.wrong(setting, error) from None


def _half_width(node: Node, scope: Scope) -> Fraction | None:
    if node.kind != "call" or node.text != "uniform" or len(node.parts) < 2:
        return None
    try:
        low, high = (quantity(evaluate(part, scope)).to("ppm") for part in node.parts[:2])
    except VaryingError:
        return None
    return high if low == -high else None


def _wander(model: Model, node: str, oscillator: str) -> dict[str, object]:
    """A random walk: as such where it has no limits and a constant interval, and else drawn here."""
    parameters = model.parameters
    change = parameters.setting(f"{oscillator}.driftRateChange")
    every = parameters.setting(f"{oscillator}.changeInterval")
    if change is None or every is None:
        return {}
    limits = [
        parameters.number(f"{oscillator}.driftRateChange{end}Limit", "ppm") for end in ("Lower", "Upper")
    ]
    _, step = _spread(model, change)
    if step is not None and limits == [None, None]:
        try:
            interval = quantity(evaluate(every.node, parameters.scope(every))).to("s")
            return {"wander": flow({"step": ppm(step), "every": duration(interval)})}
        except VaryingError:
            pass
        except ValueError as error:
            raise parameters.wrong(every, error) from None
    name = f"{model.names[node]}-clock.csv"
    model.files[name] = _walk(model, oscillator, change, every, limits)
    model.decide("random walks of oscillators with limits or random intervals; drawn here", model.names[node])
    return {"trace": name}


def _walk(
    model: Model, oscillator: str, change: Setting, every: Setting, limits: list[Fraction | None]
) -> str:
    """Drifts in ppm from later times on, as a table."""
    parameters, draw = model.parameters, model.draw(oscillator)
    low, high = (None if one is None else float(one) for one in limits)
    first = parameters.setting(f"{oscillator}.initialDriftRate")

    def drawn(setting: Setting, unit: str) -> float:
        try:
            return quantity(evaluate(setting.node, parameters.scope(setting, 0.0, draw))).real(unit)
        except ValueError as error:
            raise parameters.wrong(setting, error) from None

    begin = 0.0 if first is None else drawn(first, "ppm")
    now, walked = 0.0, 0.0
    rows: list[tuple[str, str]] = []
    while now < float(model.limit) and len(rows) < MOST_CHANGES:
        rows.append((f"{now:.9f}", f"{begin + walked:.6f}"))
        now += max(drawn(every, "s"), 1e-6)
        walked += drawn(change, "ppm")
        # INET limits the walk, and not the drift.
        walked = walked if low is None else max(walked, low)
        walked = walked if high is None else min(walked, high)
    return csv_text(("t_s", "drift_ppm"), rows)


def _uses(model: Model, node: str) -> bool:
    """Whether an application or a gate of the node follows its clock."""
    parameters = model.parameters
    apps = range(min(parameters.whole(model.talks(node, "numApps"), 0), 1000))
    found = [parameters.text(model.talks(node, f"app[{n}].source.clockModule")) for n in apps]
    for number in model.topology.nodes[node].links:
        queue = model.path(node, f"eth[{number}].macLayer.queue")
        found += [
            parameters.text(f"{queue}.{gate}[{index}].clockModule")
            for gate in ("transmissionGate", "gate")
            for index in range(8)
        ]
    return any(found)


def _synchronised(model: Model, node: str) -> str:
    """The path of the gPTP module of a node; empty without one."""
    parameters = model.parameters
    flags = ("hasTimeSynchronization", "hasGptp")
    if any(parameters.flag(model.path(node, flag)) for flag in flags):
        return model.path(node, "gptp")
    for number in range(min(parameters.whole(model.talks(node, "numApps"), 0), 1000)):
        app = model.talks(node, f"app[{number}]")
        kind = parameters.text(f"{app}.typename")
        if kind == "Gptp":
            for key in ("syncInterval", "pdelayInterval"):
                parameters.setting(f"{app}.{key}")
            return app
        if kind == "SimpleClockSynchronizer":
            setting = parameters.setting(f"{app}.typename")
            model.lose_setting("synchronisation without a protocol; written: free clocks", setting)
            for key in (
                "masterClockModule", "slaveClockModule", "synchronizationInterval",
                "synchronizationClockTimeError",
            ):  # fmt: skip
                parameters.setting(f"{app}.{key}")
    return ""


def _grandmaster(model: Model) -> str | None:
    """The node that is master: it is so by its parameter, or it is a TsnClock; the first of several."""
    found = []
    for node, one in model.topology.nodes.items():
        path = _synchronised(model, node)
        if not path:
            continue
        kind = model.parameters.text(f"{path}.gptpNodeType")
        for key in ("slavePort", "masterPorts", "pdelayInitialOffset", "syncInitialOffset", "clockModule"):
            model.parameters.setting(f"{path}.{key}")
        several = model.parameters.setting(f"{path}.numDomains")
        if several is not None and model.parameters.whole(f"{path}.numDomains", 1) > 1:
            model.lose_setting("domains of gPTP other than the first", several)
            kind = kind or model.parameters.text(f"{path}.domain[0].gptpNodeType")
            _rest(model, path)
        if kind == "MASTER_NODE" or (one.type_name == "TsnClock" and kind in ("", "BRIDGE_NODE")):
            found.append(node)
    return found[0] if found else None


def _rest(model: Model, path: str) -> None:
    """Asks for the ports of all domains: a scenario has one domain, and gPTP makes its tree."""
    for number in range(model.parameters.whole(f"{path}.numDomains", 1)):
        for key in ("slavePort", "masterPorts", "gptpNodeType", "clockModule", "syncInitialOffset"):
            model.parameters.setting(f"{path}.domain[{number}].{key}")


def _gptp(model: Model, master: str, ports: list[Port]) -> dict[str, object]:
    path = _synchronised(model, master)
    keys: dict[str, object] = {"grandmaster": model.names[master]}
    for key, word in (("syncInterval", "sync-interval"), ("pdelayInterval", "pdelay-interval")):
        value = model.parameters.number(f"{path}.{key}", "s")
        default = Fraction(1, 8) if word == "sync-interval" else Fraction(1)
        keys[word] = duration(value if value is not None else default)
    model.decide(
        "clocks that INET sets at each Sync; written: a servo that removes the offset until the next Sync",
        model.names[master],
    )
    keys["servo"] = WITHIN_A_SYNC
    pcps = [pcp for port in ports if (pcp := _pcp_of_gptp(model, port)) is not None]
    if pcps:
        keys["pcp"] = pcps[0]
    return keys


def _pcp_of_gptp(model: Model, port: Port) -> int | None:
    """The PCP of PTP's messages where a port sorts packets by their names: one that no stream has."""
    if port.kind != "filters":
        return None
    number = next((n for n, one in enumerate(port.filters) if str(one).startswith("Gptp")), None)
    if number is None:
        return None
    own = port.classes - 1 - number if port.is_reversed else number
    return next((pcp for pcp, one in table(port, model).items() if one == own), None)

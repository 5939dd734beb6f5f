"""Settings of a host's processors and interrupts, each with its undo; a user chooses among them.

EnGINE V-C2: interrupts and programs on isolated cores keep periodic delay spikes away. EnGINE V-C3 (table 6)
compares frequencies beyond nominal (turbo), multithreading (SMT) and the governor. Turbo and SMT with the
governor `performance` (EX_SO4) perform best; all later experiments of EnGINE use them.
Without both (EX_SO2) there
are outliers up to 0.7 ms; without multithreading alone (EX_SO3) jitter is smaller and delays are longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_CPU = "/sys/devices/system/cpu"
_RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"


@dataclass(frozen=True)
class Setting:
    """One setting: its name, its reason, its commands and its undo.

    ``read`` prints the earlier value; ``do`` sets ``$value``. In the undo, ``{saved}`` is the earlier value
    and ``{file}`` the file that contains it.
    """

    name: str
    why: str
    value: str
    """The default value."""
    values: str
    """The permitted values, as a pattern of the shell."""
    read: str
    do: str
    undo: str


def boot_parameters(cpus: Sequence[int]) -> str:
    """Kernel parameters that need a boot: cores that the scheduler, timer ticks and RCU do not use."""
    cores = ",".join(map(str, cpus))
    return f"isolcpus={cores} nohz_full={cores} rcu_nocbs={cores}"


def settings(interfaces: Sequence[str], cpus: Sequence[int]) -> list[Setting]:
    """The settings in the order in which they are made; the undo takes the reverse order."""
    governor = f"{_CPU}/cpu*/cpufreq/scaling_governor"
    turbo = f"{_CPU}/intel_pstate/no_turbo"
    smt = f"{_CPU}/smt/control"
    found = [
        Setting(
            "governor",
            "frequencies that do not follow the load (EnGINE V-C3)",
            "performance",
            "[a-z]*",
            f"grep . {governor} /dev/null",
            f'for file in {governor}; do echo "$value" > "$file"; done',
            'while IFS=: read -r file value; do echo "$value" > "$file"; done < {file}',
        ),
        Setting(
            "turbo",
            "frequencies beyond nominal (EnGINE V-C3: better with)",
            "on",
            "on|off",
            f"cat {turbo}",
            f'if [ "$value" = on ]; then echo 0; else echo 1; fi > {turbo}',
            f"echo {{saved}} > {turbo}",
        ),
        Setting(
            "smt",
            "two threads per core (EnGINE V-C3: shorter delay with, smaller jitter without)",
            "on",
            "on|off",
            f"cat {smt}",
            f'echo "$value" > {smt}',
            f"echo {{saved}} > {smt}",
        ),
        Setting(
            "throttling",
            "whether real-time threads are throttled",
            "off",
            "on|off",
            f"cat {_RUNTIME}",
            f'if [ "$value" = off ]; then echo -1; else echo 950000; fi > {_RUNTIME}',
            f"echo {{saved}} > {_RUNTIME}",
        ),
    ]
    for device in interfaces:
        irqs = f"$(grep -w -F {device} /proc/interrupts | cut -d : -f 1)"
        found.append(
            Setting(
                "interrupts",
                f"cores for the interrupts of {device} (EnGINE V-C2)",
                ",".join(map(str, cpus)),
                "[0-9]*",
                f'for irq in {irqs}; do echo "$irq $(cat "/proc/irq/$irq/smp_affinity")"; done',
                f'for irq in {irqs}; do echo "$value" > "/proc/irq/$irq/smp_affinity_list"; done',
                'while read -r irq mask; do echo "$mask" > "/proc/irq/$irq/smp_affinity"; done < {file}',
            )
        )
    return found


def scripts(interfaces: Sequence[str], cpus: Sequence[int]) -> tuple[str, str]:
    """Two shell scripts: the first one makes the settings and saves the earlier values in a folder; the
    second one restores them.
    """
    made = settings(interfaces, cpus)
    first = {one.name: one for one in reversed(made)}
    named = [first[name] for name in dict.fromkeys(one.name for one in made)]
    listed = " ".join(f"{one.name}={one.value}" for one in named)
    do = [
        "#!/bin/sh",
        "# tuning.sh FOLDER [SETTING[=VALUE]...]: all settings, or only those that are named.",
        "# What was before is kept in the folder, for tuning-undo.sh.",
        f"# {listed}",
        f"# At boot, besides: {boot_parameters(cpus)}",
        'saved=${1:?expected a folder}; mkdir -p "$saved"; shift',
        'for one in "$@"; do',
        '    case "$one" in',
        *(_accepted(one) for one in named),
        f'    *) echo "expected some of {listed}, found $one" >&2; exit 2 ;;',
        "    esac",
        "done",
        f"[ $# -gt 0 ] || set -- {' '.join(one.name for one in named)}",
    ]
    undo = ["#!/bin/sh", "saved=${1:?expected the folder that tuning.sh filled}"]
    for number, one in enumerate(made, start=1):
        do += [
            f"# {one.why}",
            'value=; for one in "$@"; do case "$one" in '
            f"{one.name}) value={one.value} ;; {one.name}=*) value=${{one#*=}} ;; esac; done",
            # The values from before the first run are kept; a second run does not save the first one's
            # settings.
            f'if [ -z "$value" ]; then :; elif [ -s "$saved/{number}" ] || {one.read} > "$saved/{number}" '
            f'2> /dev/null; then {one.do}; else rm -f "$saved/{number}"; echo "not set: {one.name}" >&2; fi',
        ]
    for number in range(len(made), 0, -1):
        one = made[number - 1]
        file = f'"$saved/{number}"'
        value = f'"$(cat {file})"'
        back = one.undo.replace("{saved}", value).replace("{file}", file)
        undo += [f"# {one.name}", f"if [ -e {file} ]; then {back} && rm {file}; fi"]
    return "\n".join(do) + "\n", "\n".join(undo) + "\n"


def _accepted(one: Setting) -> str:
    values = "|".join(f"{one.name}={value}" for value in one.values.split("|"))
    return f"    {one.name}|{values}) ;;"

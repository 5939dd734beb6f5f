"""Settings that make a host's latency small and steady, each with its undo.

EnGINE V-C: affinity of interrupts and programs, isolated cores, governor, turbo, multithreading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """One setting: why, how, and back. ``read`` prints what was: ``{saved}`` in the undo, in ``{file}``."""

    why: str
    read: str
    do: str
    undo: str


def boot_parameters(cpus: Sequence[int]) -> str:
    """What only a boot can change: cores that the scheduler, timer ticks and RCU leave alone."""
    cores = ",".join(map(str, cpus))
    return f"isolcpus={cores} nohz_full={cores} rcu_nocbs={cores}"


def settings(interfaces: Sequence[str], cpus: Sequence[int]) -> list[Setting]:
    """In the order in which they are made; undone in the reverse order."""
    cores = ",".join(map(str, cpus))
    cpufreq = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
    turbo = "/sys/devices/system/cpu/intel_pstate/no_turbo"
    smt = "/sys/devices/system/cpu/smt/control"
    found = [
        Setting(
            "frequencies that do not follow the load",
            f"grep . {cpufreq} /dev/null",
            f'for file in {cpufreq}; do echo performance > "$file"; done',
            'while IFS=: read -r file value; do echo "$value" > "$file"; done < {file}',
        ),
        Setting(
            "no frequencies above nominal", f"cat {turbo}", f"echo 1 > {turbo}", f"echo {{saved}} > {turbo}"
        ),
        Setting("a core of one's own", f"cat {smt}", f"echo off > {smt}", f"echo {{saved}} > {smt}"),
        Setting(
            "no throttling of real-time threads",
            "cat /proc/sys/kernel/sched_rt_runtime_us",
            "echo -1 > /proc/sys/kernel/sched_rt_runtime_us",
            "echo {saved} > /proc/sys/kernel/sched_rt_runtime_us",
        ),
    ]
    for device in interfaces:
        irqs = f"$(grep -w -F {device} /proc/interrupts | cut -d : -f 1)"
        found.append(
            Setting(
                f"interrupts of {device} on isolated cores",
                f'for irq in {irqs}; do echo "$irq $(cat "/proc/irq/$irq/smp_affinity")"; done',
                f'for irq in {irqs}; do echo {cores} > "/proc/irq/$irq/smp_affinity_list"; done',
                'while read -r irq mask; do echo "$mask" > "/proc/irq/$irq/smp_affinity"; done < {file}',
            )
        )
    return found


def scripts(interfaces: Sequence[str], cpus: Sequence[int]) -> tuple[str, str]:
    """Two shell scripts: the first one does, and keeps what was before in a folder; the second one undoes."""
    do = [
        "#!/bin/sh",
        "# What was before is kept in the folder $1, for tuning-undo.sh.",
        f"# At boot, besides: {boot_parameters(cpus)}",
        'saved=${1:?expected a folder}; mkdir -p "$saved"',
    ]
    undo = ["#!/bin/sh", "saved=${1:?expected the folder that tuning.sh filled}"]
    made = settings(interfaces, cpus)
    for number, one in enumerate(made, start=1):
        do += [
            f"# {one.why}",
            f'if {one.read} > "$saved/{number}" 2> /dev/null; then {one.do}; else rm -f "$saved/{number}"; '
            f'echo "not set: {one.why}" >&2; fi',
        ]
    for number in range(len(made), 0, -1):
        one = made[number - 1]
        file = f'"$saved/{number}"'
        value = f'"$(cat {file})"'
        back = one.undo.replace("{saved}", value).replace("{file}", file)
        undo += [
            f"# {one.why}",
            f"if [ -e {file} ]; then {back}; fi",
        ]
    return "\n".join(do) + "\n", "\n".join(undo) + "\n"

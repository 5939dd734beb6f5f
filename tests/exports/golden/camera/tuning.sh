#!/bin/sh
# What was before is kept in the folder $1, for tuning-undo.sh.
# At boot, besides: isolcpus=2,3 nohz_full=2,3 rcu_nocbs=2,3
saved=${1:?expected a folder}; mkdir -p "$saved"
# frequencies that do not follow the load
if grep . /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor /dev/null > "$saved/1" 2> /dev/null; then for file in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance > "$file"; done; else rm -f "$saved/1"; echo "not set: frequencies that do not follow the load" >&2; fi
# no frequencies above nominal
if cat /sys/devices/system/cpu/intel_pstate/no_turbo > "$saved/2" 2> /dev/null; then echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo; else rm -f "$saved/2"; echo "not set: no frequencies above nominal" >&2; fi
# a core of one's own
if cat /sys/devices/system/cpu/smt/control > "$saved/3" 2> /dev/null; then echo off > /sys/devices/system/cpu/smt/control; else rm -f "$saved/3"; echo "not set: a core of one's own" >&2; fi
# no throttling of real-time threads
if cat /proc/sys/kernel/sched_rt_runtime_us > "$saved/4" 2> /dev/null; then echo -1 > /proc/sys/kernel/sched_rt_runtime_us; else rm -f "$saved/4"; echo "not set: no throttling of real-time threads" >&2; fi
# interrupts of eth1 on isolated cores
if for irq in $(grep -w -F eth1 /proc/interrupts | cut -d : -f 1); do echo "$irq $(cat "/proc/irq/$irq/smp_affinity")"; done > "$saved/5" 2> /dev/null; then for irq in $(grep -w -F eth1 /proc/interrupts | cut -d : -f 1); do echo 2,3 > "/proc/irq/$irq/smp_affinity_list"; done; else rm -f "$saved/5"; echo "not set: interrupts of eth1 on isolated cores" >&2; fi

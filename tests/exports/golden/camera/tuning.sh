#!/bin/sh
# tuning.sh FOLDER [SETTING[=VALUE]...]: all settings, or only those that are named.
# What was before is kept in the folder, for tuning-undo.sh.
# governor=performance turbo=on smt=on throttling=off interrupts=2,3
# At boot, besides: isolcpus=2,3 nohz_full=2,3 rcu_nocbs=2,3
saved=${1:?expected a folder}; mkdir -p "$saved"; shift
for one in "$@"; do
    case "$one" in
    governor|governor=[a-z]*) ;;
    turbo|turbo=on|turbo=off) ;;
    smt|smt=on|smt=off) ;;
    throttling|throttling=on|throttling=off) ;;
    interrupts|interrupts=[0-9]*) ;;
    *) echo "expected some of governor=performance turbo=on smt=on throttling=off interrupts=2,3, found $one" >&2; exit 2 ;;
    esac
done
[ $# -gt 0 ] || set -- governor turbo smt throttling interrupts
# frequencies that do not follow the load (EnGINE V-C3)
value=; for one in "$@"; do case "$one" in governor) value=performance ;; governor=*) value=${one#*=} ;; esac; done
if [ -z "$value" ]; then :; elif [ -s "$saved/1" ] || grep . /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor /dev/null > "$saved/1" 2> /dev/null; then for file in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo "$value" > "$file"; done; else rm -f "$saved/1"; echo "not set: governor" >&2; fi
# frequencies beyond nominal (EnGINE V-C3: better with)
value=; for one in "$@"; do case "$one" in turbo) value=on ;; turbo=*) value=${one#*=} ;; esac; done
if [ -z "$value" ]; then :; elif [ -s "$saved/2" ] || cat /sys/devices/system/cpu/intel_pstate/no_turbo > "$saved/2" 2> /dev/null; then if [ "$value" = on ]; then echo 0; else echo 1; fi > /sys/devices/system/cpu/intel_pstate/no_turbo; else rm -f "$saved/2"; echo "not set: turbo" >&2; fi
# two threads per core (EnGINE V-C3: shorter delay with, smaller jitter without)
value=; for one in "$@"; do case "$one" in smt) value=on ;; smt=*) value=${one#*=} ;; esac; done
if [ -z "$value" ]; then :; elif [ -s "$saved/3" ] || cat /sys/devices/system/cpu/smt/control > "$saved/3" 2> /dev/null; then echo "$value" > /sys/devices/system/cpu/smt/control; else rm -f "$saved/3"; echo "not set: smt" >&2; fi
# whether real-time threads are throttled
value=; for one in "$@"; do case "$one" in throttling) value=off ;; throttling=*) value=${one#*=} ;; esac; done
if [ -z "$value" ]; then :; elif [ -s "$saved/4" ] || cat /proc/sys/kernel/sched_rt_runtime_us > "$saved/4" 2> /dev/null; then if [ "$value" = off ]; then echo -1; else echo 950000; fi > /proc/sys/kernel/sched_rt_runtime_us; else rm -f "$saved/4"; echo "not set: throttling" >&2; fi
# cores for the interrupts of eth1 (EnGINE V-C2)
value=; for one in "$@"; do case "$one" in interrupts) value=2,3 ;; interrupts=*) value=${one#*=} ;; esac; done
if [ -z "$value" ]; then :; elif [ -s "$saved/5" ] || for irq in $(grep -w -F eth1 /proc/interrupts | cut -d : -f 1); do echo "$irq $(cat "/proc/irq/$irq/smp_affinity")"; done > "$saved/5" 2> /dev/null; then for irq in $(grep -w -F eth1 /proc/interrupts | cut -d : -f 1); do echo "$value" > "/proc/irq/$irq/smp_affinity_list"; done; else rm -f "$saved/5"; echo "not set: interrupts" >&2; fi

"""A SLURM cluster of one node: Debian's slurmctld, slurmd and munged in namespaces of their own.

Nothing is installed: ``make packages`` unpacks Debian's packages. The daemons see a network with loopback and
one private address only, and listen on loopback. If the first process of the namespaces ends, all others end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

UNPACKED = Path(__file__).parents[2] / ".venv/unpacked-slurm"
PACKAGES = "slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libmunge2 libhwloc15"
_CONFIGURATION = """ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={work}/munge.socket
CredType=cred/munge
PluginDir={plugins}
StateSaveLocation={work}/state
SlurmdSpoolDir={work}/spool
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd.pid
SlurmctldLogFile={work}/slurmctld.log
SlurmdLogFile={work}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
KillWait=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""
_BOOT = """set -e
hostname localhost
ip link set lo up
# SLURM resolves addresses only where another interface than loopback has one.
ip link add lab0 type veth peer name lab1
ip address add 10.77.0.1/24 dev lab0
ip link set lab0 up
"$0/usr/sbin/munged" --force --key-file key --socket "$1/munge.socket" --pid-file "$1/munged.pid" \\
  --log-file "$1/munged.log" --seed-file "$1/seed"
"$0/usr/sbin/slurmctld-wlm" -f slurm.conf
"$0/usr/sbin/slurmd-wlm" -f slurm.conf -d "$0/usr/sbin/slurmstepd-wlm"
touch ready
exec sleep 600
"""


def missing() -> str:
    """Why no cluster can be started here; empty if one can."""
    if os.geteuid() != 0:
        return "a SLURM cluster of one's own needs root"
    if not (UNPACKED / "usr/sbin/slurmctld-wlm").exists():
        return f"packages are missing, unpacked by make packages: {PACKAGES}"
    return ""


@dataclass(frozen=True)
class Cluster:
    """A running cluster."""

    work: Path
    first: int
    """The first process of its namespaces."""

    def run(self, *words: str | Path, cwd: Path | None = None) -> str:
        """The output of a command within the cluster; the names of SLURM's own commands need no path."""
        program = UNPACKED / "usr/bin" / words[0]
        command = [str(program) if program.exists() else str(words[0]), *map(str, words[1:])]
        done = subprocess.run(
            ["nsenter", "--target", str(self.first), "--mount", "--root", "--net", "--uts", "--ipc", "--pid",
             f"--wd={cwd or self.work}", *command],
            env=_environment(self.work), capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}{self.logs()}"
        return done.stdout

    def jobs(self) -> int:
        """How many jobs are waiting or running."""
        return len(self.run("squeue", "--noheader", "--array").splitlines())

    def logs(self) -> str:
        return "".join(file.read_text(errors="replace")[-2000:] for file in self.work.glob("*.log"))


def _environment(work: Path) -> dict[str, str]:
    plugins = UNPACKED / "usr/lib/x86_64-linux-gnu/slurm-wlm"
    libraries = f"{plugins.parent}:{plugins}"
    return {**os.environ, "LD_LIBRARY_PATH": libraries, "SLURM_CONF": str(work / "slurm.conf")}


@contextmanager
def cluster(work: Path) -> Iterator[Cluster]:
    """A cluster whose files are in ``work``; all its processes end at the end."""
    for name in ("state", "spool"):
        (work / name).mkdir(parents=True)
    # munged and slurmctld refuse folders and keys that others may write or read.
    work.chmod(0o755)
    (work / "key").write_bytes(os.urandom(1024))
    (work / "key").chmod(0o600)
    plugins = UNPACKED / "usr/lib/x86_64-linux-gnu/slurm-wlm"
    (work / "slurm.conf").write_text(_CONFIGURATION.format(work=work, plugins=plugins), encoding="utf-8")
    namespaces = ["--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]
    with (work / "boot.log").open("wb") as log:
        outer = subprocess.Popen(
            ["unshare", *namespaces, "sh", "-c", _BOOT, str(UNPACKED), str(work)],
            cwd=work, env=_environment(work), stdout=log, stderr=log,
        )  # fmt: skip
    first = 0
    try:
        until = time.monotonic() + 60
        while not (work / "ready").exists():
            assert outer.poll() is None, (work / "boot.log").read_text(encoding="utf-8")
            assert time.monotonic() < until, (work / "boot.log").read_text(encoding="utf-8")
            time.sleep(0.05)
        first = int(
            Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text(encoding="ascii").split()[0]
        )
        yield Cluster(work, first)
    finally:
        if first:
            os.kill(first, signal.SIGKILL)
        else:
            outer.kill()
        outer.wait()

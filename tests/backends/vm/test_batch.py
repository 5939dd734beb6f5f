"""Several Plans in one guest: their jobs; nothing starts if one of the Plans cannot run."""

from __future__ import annotations

import pytest

from support import guest_batch as batch
from support.kernel_text import understood
from support.planned import plan_of
from tsnbench.backends.vm import VirtualMachine, initramfs, unavailable
from tsnbench.errors import InputError

TEXT = """
name: NAME
duration: 5 ms
network: {stations: [a, b], links: {rate: 1 Gbit/s, between: [a -- b]}}
streams: {loop: {from: a, to: b, pcp: 6, period: 1 ms, payload: 100 B}}
"""


def _plan(name, more=""):
    return plan_of(TEXT.replace("NAME", name) + more)


def test_each_has_its_own_folders_and_cleans_up(tmp_path):
    parts = [
        batch.Part(VirtualMachine(dilate), _plan(name), tmp_path / name)
        for name, dilate in (("one", 1), ("two", 10))
    ]
    told = batch.files(parts)
    assert {name.partition("/")[0] for name in told} == {"0", "1", "job.sh"}
    script = told["job.sh"].decode()
    assert script.count("rmmod tsnport 2>/dev/null; insmod") == 2
    understood(script)
    for place in "01":
        own = told[f"{place}/job.sh"].decode()
        assert f"/results/{place}/talk-0" in own
        assert f"/job/{place}/plan.json" in own
        assert "/results/talk" not in own
        assert "/job/plan.json" not in own
    assert "--dilate 10" in told["1/job.sh"].decode()


def test_nothing_starts_where_one_cannot_run(tmp_path, monkeypatch):
    if why := unavailable():
        pytest.skip(f"no guests here: {why}")
    monkeypatch.setattr(batch, "boot", lambda *_: pytest.fail("a guest was started"))
    cut = "shapers: {a -> b: {preemption: {express: [6]}}}\n"
    parts = [
        batch.Part(VirtualMachine(), _plan(name, more), tmp_path / name)
        for name, more in (("good", ""), ("bad", cut))
    ]
    with pytest.raises(InputError, match="preemption"):
        batch.execute(parts)
    assert not (tmp_path / "good" / "manifest.json").exists()


def test_a_module_loses_its_signature_and_nothing_else():
    module = b"\x7fELF and so on"
    signature = b"s" * 393
    described = bytes([0, 4, 2, 3, 5, 0, 0, 0]) + len(signature).to_bytes(4, "big")
    signed = module + b"abc" + b"names" + signature + described + initramfs.SIGNED
    assert initramfs.unsigned(signed) == module
    assert initramfs.unsigned(module) == module

"""Plans on a real Linux kernel: a guest in QEMU that needs neither hardware nor KVM."""

from tsnbench.backends.vm.backend import VirtualMachine, unavailable

__all__ = ["VirtualMachine", "unavailable"]

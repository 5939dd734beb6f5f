"""The guest's kernel: Debian's own, downloaded and unpacked, never installed."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tsnbench.backends.vm import cache, debian
from tsnbench.errors import BackendError

SERIES = ("6.12", "6.1")
"""The preferred series first."""
_NAME = re.compile(r"linux-image-(\d+\.\d+)\.([\w.+-]+?)-amd64-unsigned")
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel package."""

    release: str
    """The release in the notation of ``uname -r``."""
    image: Path
    """The image for QEMU: an ELF image if it could be extracted, otherwise the compressed one."""
    modules: Path
    """The folder ``lib/modules/<release>``."""
    sha256: str
    """The SHA-256 of the package's file."""


def find() -> Kernel:
    """The kernel in the cache, which is downloaded first if it is missing.

    Raises:
        BackendError: the kernel is missing, and cannot be downloaded.
    """
    folder = cache.folder() / "kernel"
    folder.mkdir(exist_ok=True)
    package = _newest(list(folder.glob("linux-image-*.deb"))) or _download(folder)
    unpacked = folder / package.stem
    there = _there(unpacked)
    if there is None:
        if unpacked.exists():
            # The folder is moved aside first, so that programs with open files keep them.
            broken = Path(tempfile.mkdtemp(dir=folder, prefix="part-"))
            unpacked.rename(broken / unpacked.name)
            shutil.rmtree(broken, ignore_errors=True)
        _unpack(package, unpacked)
        there = _there(unpacked)
    if there is None:
        raise BackendError(f"{package}: has no kernel in it\nhint: delete it")
    release, image = there
    return Kernel(release, image, unpacked / "lib/modules" / release, cache.sha256(package))


def _there(unpacked: Path) -> tuple[str, Path] | None:
    """Release and image of an unpacked kernel; None if it is incomplete."""
    folders = unpacked / "lib/modules"
    release = next((path.name for path in folders.iterdir()), None) if folders.is_dir() else None
    if release is None:
        return None
    image = unpacked / "boot" / f"vmlinux-{release}"
    if not image.exists():
        image = unpacked / "boot" / f"vmlinuz-{release}"
    return (release, image) if cache.whole(image) is not None else None


def _key(name: str) -> tuple[int, list[int]] | None:
    """The sort key; None for another series or flavour."""
    found = _NAME.match(name)
    if not found or found[1] not in SERIES or "rt" in found[2] or "cloud" in found[2]:
        return None
    return -SERIES.index(found[1]), [int(number) for number in re.findall(r"\d+", found[2])]


def newest(names: list[str]) -> str | None:
    """The newest of the preferred series, of package names or package files."""
    known = [(key, name) for name in names if (key := _key(name)) is not None]
    return max(known)[1] if known else None


def _newest(packages: list[Path]) -> Path | None:
    name = newest([package.name for package in packages])
    return next((package for package in packages if package.name == name), None)


def _download(folder: Path) -> Path:
    hint = f"put a Debian package linux-image-6.12.*-amd64-unsigned into {folder}"
    if not shutil.which("apt-get") or not shutil.which("apt-cache"):
        raise BackendError(f"the guest's kernel cannot be downloaded: apt-get is missing\nhint: {hint}")
    listed = subprocess.run(
        ["apt-cache", "pkgnames", "linux-image-6."], capture_output=True, text=True, check=False
    ).stdout.split()
    name = newest(listed)
    if name is None:
        raise BackendError(
            "the guest's kernel cannot be downloaded: the package lists have no Linux 6.12 or 6.1\n"
            f"hint: apt-get update, or {hint}"
        )
    return debian.download(folder, name, hint)


def _unpack(package: Path, into: Path) -> None:
    """Unpacks in one step, so that an incomplete folder is not used as a kernel."""
    part = Path(tempfile.mkdtemp(dir=package.parent, prefix="part-"))
    try:
        debian.unpack(package, part)
        for image in (part / "boot").glob("vmlinuz-*"):
            whole = _decompressed(image.read_bytes())
            if whole is not None:
                cache.keep(image.with_name(image.name.replace("vmlinuz", "vmlinux")), whole)
            cache.note(image)
        part.chmod(0o755)
        part.rename(into)
    except OSError:
        if not into.exists():
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _decompressed(image: bytes) -> bytes | None:
    """The ELF image inside a compressed one: the emulated processor need not decompress it at each boot.

    Linux, Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length.
    """
    if image[0x202:0x206] != b"HdrS" or not shutil.which("zstd"):
        return None
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (image[0x1F1] + 1) * 512 + offset
    payload = image[start : start + length]
    if not payload.startswith(_ZSTD):
        return None
    # The last four octets are the uncompressed length.
    done = subprocess.run(["zstd", "-dcq"], input=payload[:-4], capture_output=True, check=False)
    return done.stdout if done.stdout.startswith(b"\x7fELF") else None

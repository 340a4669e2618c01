"""The machine that a run was made on, as hardware.json says it: best effort, never in the way."""

import json
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_LONGEST_S = 10
_PLATFORMS = {"linux": "linux", "darwin": "darwin"}


def describe(host_label: str | None = None) -> dict[str, Any]:
    """Host, system, processor, memory in MB and GPUs; what cannot be found out is None.

    A collector that breaks leaves its message in `collector_error`. `host_label` is what the configuration calls the
    machine.
    """
    found: dict[str, Any] = {
        "hostname": socket.gethostname(),
        "platform": _PLATFORMS.get(sys.platform, "other"),
        "os": platform.system(),
        "kernel": platform.release(),
        "cpu_model": None,
        "cpu_count": os.cpu_count(),
        "ram_mb": None,
        "gpus": [],
    }
    try:
        found |= collector(sys.platform)()
    except Exception as error:  # whatever a machine answers, a run is worth more than its description
        found["collector_error"] = f"{type(error).__name__}: {error}"
    return found if host_label is None else {**found, "host_label": host_label}


def collector(system: str) -> Callable[[], dict[str, Any]]:
    """What fills in the fields that differ between systems (a value of sys.platform)."""
    return {"linux": _linux, "darwin": _mac}.get(system, _other)


def _other() -> dict[str, Any]:
    return {"cpu_model": platform.processor() or None, "ram_mb": _ram_mb()}


def _linux() -> dict[str, Any]:
    return {"distro": _distro(), "cpu_model": _cpu_model(), "ram_mb": _ram_mb(), "gpus": _nvidia_gpus()}


def _distro() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _cpu_model() -> str | None:
    """The processor's name. Not every kind names it in /proc/cpuinfo; lscpu knows more."""
    for text, label in ((_text(Path("/proc/cpuinfo")), "model name"), (_output("lscpu"), "Model name")):
        for line in text.splitlines():
            name, _, value = line.partition(":")
            if name.strip() == label and value.strip():
                return value.strip()
    return platform.processor() or None


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _ram_mb() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    except (ValueError, OSError):
        return None


def _nvidia(fields: str) -> list[list[str]]:
    """The rows that nvidia-smi prints for some fields, one a GPU."""
    text = _output("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits")
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines()]
    return [row for row in rows if len(row) == fields.count(",") + 1]


def _nvidia_gpus() -> list[dict[str, Any]]:
    rows = _nvidia("name,memory.total,driver_version")
    return [
        {"model": model, "vram_mb": int(memory) if memory.isdigit() else None, "driver_version": driver}
        for model, memory, driver in rows
    ]


def gpu_memory_used_mb() -> int | None:
    """The memory in use on the fullest NVIDIA GPU, in MiB, now; None without one."""
    used = [int(memory) for (memory,) in _nvidia("memory.used") if memory.isdigit()]
    return max(used, default=None)


def _mac() -> dict[str, Any]:
    """Not run on a Mac by us: written after the documentation of sysctl and system_profiler."""
    chip, memory = _output("sysctl", "-n", "machdep.cpu.brand_string"), _output("sysctl", "-n", "hw.memsize")
    return {"cpu_model": chip.strip() or None, "ram_mb": int(memory) // 2**20 if memory.strip() else None} | read_mac(
        _output("system_profiler", "-json", "SPHardwareDataType", "SPDisplaysDataType")
    )


def read_mac(profile: str) -> dict[str, Any]:
    """The fields that a Mac has of its own, from what system_profiler prints as JSON (or from nothing)."""
    value = json.loads(profile or "{}")
    machine: dict[str, Any] = next(iter(value.get("SPHardwareDataType", [])), {})
    return {
        "chip": machine.get("chip_type") or machine.get("cpu_type"),
        "hardware_model": machine.get("model_number") or machine.get("machine_model"),
        "hardware_model_name": machine.get("machine_name"),
        "hardware_model_identifier": machine.get("machine_model"),
        "gpus": [
            {"model": gpu.get("sppci_model") or gpu.get("_name"), "vram_mb": _megabytes(gpu.get("spdisplays_vram"))}
            for gpu in value.get("SPDisplaysDataType", [])
        ],
    }


def _megabytes(text: Any) -> int | None:
    """`8 GB` or `1536 MB` as megabytes; a chip that shares its memory says nothing."""
    number, _, unit = str(text or "").partition(" ")
    return int(number) * {"GB": 1024, "MB": 1}.get(unit, 1) if number.isdigit() else None


def _output(*words: str) -> str:
    """What a command prints; nothing if it is missing, fails or takes too long."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=_LONGEST_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout

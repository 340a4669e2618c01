"""The machine that a run was made on, as hardware.json says it: best effort, never in the way."""

import os
import platform
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any


def describe() -> dict[str, Any]:
    """Host, system, processor, memory in MB and GPUs; what cannot be found out is None."""
    return {
        "hostname": socket.gethostname(),
        "platform": {"linux": "linux", "darwin": "darwin"}.get(sys.platform, "other"),
        "os": platform.system(),
        "kernel": platform.release(),
        "distro": _distro(),
        "cpu_model": _cpu_model(),
        "cpu_count": os.cpu_count(),
        "ram_mb": _ram_mb(),
        "gpus": _gpus(),
    }


def _distro() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _cpu_model() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), None)


def _ram_mb() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    except (ValueError, OSError):
        return None


def _gpus() -> list[dict[str, Any]]:
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines() if line.count(",") == 2]
    return [
        {"model": model, "vram_mb": int(memory) if memory.isdigit() else None, "driver_version": driver}
        for model, memory, driver in rows
    ]

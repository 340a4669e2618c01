"""Benchpacks: cases to be asked and measured one by one, some of them repositories to be changed.

pack.py        what a pack is, and reading one from its folder
manifest.py    the faults of a benchpack.toml by itself; scoring.py and json_schema.py are its parts
places.py      paths in it, and the texts that they lead to
preflight.py   what stops a sound pack from being run; links.py looks through repositories
load.py        all packs below a folder
check.py       what a program can see of a pack's quality
"""

from regrade.formats.benchpack.load import Loaded, discover, load_all, load_folders
from regrade.formats.benchpack.pack import Benchpack, Case, Fixture, load
from regrade.formats.benchpack.preflight import preflight

__all__ = ["Benchpack", "Case", "Fixture", "Loaded", "discover", "load", "load_all", "load_folders", "preflight"]

"""SelfBench tasks for Harbor: compiled into bundles, packed for others, and Harbor's job results read back.

bundle.py        compile_task: the whole bundle; refresh: what a repair makes anew
toolchains.py    what a declared toolchain installs
dockerfiles.py   the two images
task_toml.py     Harbor's own description of a task
toml_text.py     values as TOML writes them
test_script.py   what grades in the verifier's image
export.py        many bundles in one file
trials.py        what a trial's result says: rewards, infrastructure failures, gates
jobs.py          the folders that Harbor leaves
records.py       a trial as a record
"""

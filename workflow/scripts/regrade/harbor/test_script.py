"""A bundle's tests/test.sh: it grades what an agent left and writes /logs/verifier/reward.json.

The shell part is the template below; what puts tests and runner configuration back is
repository_tests/restoring, carried inside.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from regrade.formats.selfbench import diffs
from regrade.formats.selfbench.expansion import command, exclusions, held_out, quoted
from regrade.formats.selfbench.load import SelfbenchTask
from regrade.held_out.network import NETWORK
from regrade.repository_tests import restoring
from regrade.repository_tests.selfbench import restored

_END = "END_OF_MODULE"
_GLOBS = str.maketrans({sign: f"\\{sign}" for sign in "\\*?["})
_MARK = re.compile("@([A-Z_]+)@")
_TEMPLATE = r"""#!/bin/bash
# Grades what an agent left in its repository. The verdict is /logs/verifier/reward.json; this script ends with 0
# whatever it is. Made by a compiler from a task's definition: edit that, not this.
set -uo pipefail
umask 022

readonly app=/app tests=/tests agent_patch=/opt/selfbench/agent.patch rewards=/logs/verifier
readonly workdir=@WORKDIR@
readonly test_seconds=@SECONDS@
readonly fail_to_pass_command=@FAIL_TO_PASS@
readonly pass_to_pass_command=@PASS_TO_PASS@
readonly held_out=(@HELD_OUT@)
readonly exclusions=(@EXCLUSIONS@)
readonly restoring=@RESTORING@

# A failure that shows one of these may be the network's: it is tried again.
readonly network=@NETWORK@

patch_applied=0 fail_to_pass=0 pass_to_pass=0 deterministic=0 setup_completed=0
fail_to_pass_code=-1 repeat_code=-1 pass_to_pass_code=-1 status=0
scratch=$(mktemp -d)

finish() {
    local reward=0
    if ((patch_applied && fail_to_pass && pass_to_pass && deterministic)); then reward=1; fi
    mkdir -p "$rewards"
    # Harbor lets everybody write there; nobody but this script runs any more.
    rm -rf -- "$rewards/reward.json" "$rewards/reward.txt"
    printf '{"reward": %d, "patch_applied": %d, "fail_to_pass": %d, "pass_to_pass": %d, "deterministic": %d, ' \
        "$reward" "$patch_applied" "$fail_to_pass" "$pass_to_pass" "$deterministic" >"$scratch/reward.json"
    printf '"setup_completed": %d, "fail_to_pass_exit_code": %d, "fail_to_pass_repeat_exit_code": %d, ' \
        "$setup_completed" "$fail_to_pass_code" "$repeat_code" >>"$scratch/reward.json"
    printf '"pass_to_pass_exit_code": %d}\n' "$pass_to_pass_code" >>"$scratch/reward.json"
    cp "$scratch/reward.json" "$rewards/reward.json"
    rm -rf "$scratch"
    exit 0
}
trap finish EXIT

give_up() {
    echo "test.sh: $1"
    exit 0
}

as_verifier() {
    setpriv --reuid=verifier --regid=verifier --init-groups --inh-caps=-all --no-new-privs \
        env HOME=/home/verifier USER=verifier LOGNAME=verifier "$@"
}

apply() {
    as_verifier git -C "$app" apply --binary --whitespace=nowarn "$@"
}

restore() {
    printf '%s' "$restoring" >"$scratch/asked"
    local start='import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); '
    start+='runpy.run_module("regrade.repository_tests.restoring", run_name="__main__")'
    /usr/bin/python3 -I -S -c "$start" "$scratch/lib" "$scratch/base" "$app" "$scratch/changed" "$scratch/asked"
}

unpack_restoring() {
    local package="$scratch/lib/regrade/repository_tests/restoring"
    mkdir -p "$package"
@PYTHON@}

protect() {
    local path
    for path in "${held_out[@]}"; do
        if [[ -L "$app/$path" ]]; then
            chown -h root:root -- "$app/$path"
        elif [[ -e "$app/$path" && "$path" != . ]]; then
            chown -h -R root:root -- "$app/$path"
            chmod -R a-w -- "$app/$path"
        fi
    done
}

end_processes() {
    local try
    for try in {1..20}; do
        pkill -KILL -u verifier || return 0
        sleep 0.1
    done
}

# By way of a file, since a command that names thousands of tests is longer than an argument may be.
run_once() (
    printf '%s\n' "$1" >"$scratch-command"
    cd -- "$app/$workdir" || exit 1
    as_verifier timeout --kill-after=10 "$test_seconds" bash -lc '. "$1"' bash "$scratch-command" </dev/null
)

run() {
    local name=$1 attempt
    for attempt in 1 2 3; do
        echo "test.sh: $name, attempt $attempt"
        run_once "$2" >"$scratch/output" 2>&1
        status=$?
        end_processes
        cat "$scratch/output"
        echo "test.sh: $name ended with exit code $status"
        if ((status == 0 || attempt == 3)) || ! grep --text --quiet -E "$network" "$scratch/output"; then return; fi
        sleep $((attempt * 10))
    done
}

[[ -f "$agent_patch" ]] || give_up "there is no agent.patch"
git -c "safe.directory=$app" -C "$app" checkout-index --all --quiet --prefix="$scratch/base/" ||
    give_up "the base cannot be read"
: >"$scratch/changed"
if [[ -s "$agent_patch" ]]; then
    apply "${exclusions[@]}" <"$agent_patch" || give_up "agent.patch does not apply"
    git -C "$scratch" apply --numstat -z "$agent_patch" >"$scratch/changed" || give_up "agent.patch cannot be read"
fi
setup_completed=1

unpack_restoring
restore || give_up "held-out paths cannot be restored"
apply -p@LEVEL@ <"$tests/test.patch" || give_up "test.patch does not apply"
patch_applied=1
protect
rm -f "$tests/test.patch"
if [[ -d "${UV_CACHE_DIR:-}" ]]; then
    cp -a "$UV_CACHE_DIR" "$scratch-uv-cache" && chown -h -R verifier:verifier "$scratch-uv-cache"
    export UV_CACHE_DIR="$scratch-uv-cache"
fi

run fail-to-pass "$fail_to_pass_command"
fail_to_pass_code=$status
if ((status == 0)); then
    fail_to_pass=1
    run "fail-to-pass again" "$fail_to_pass_command"
    repeat_code=$status
    if ((status == 0)); then deterministic=1; fi
fi
run pass-to-pass "$pass_to_pass_command"
pass_to_pass_code=$status
if ((status == 0)); then pass_to_pass=1; fi
"""


def test_script(task: SelfbenchTask, gold_patch: bytes) -> str:
    """The script for a task, with the reference solution that lies in the bundle."""
    definition = task.definition
    paths = held_out(task)
    filled = {
        "NETWORK": quoted(NETWORK),
        "WORKDIR": quoted(definition.workdir),
        "SECONDS": str(definition.timeouts.tests_seconds),
        "FAIL_TO_PASS": quoted(command(definition, definition.fail_to_pass)),
        "PASS_TO_PASS": quoted(command(definition, definition.pass_to_pass)),
        "HELD_OUT": _array(paths),
        "EXCLUSIONS": _array(exclusions(path.translate(_GLOBS) for path in paths)),
        "RESTORING": quoted(json.dumps(restored(task, gold_patch))),
        "LEVEL": str(diffs.strip_level(task.test_patch)),
        "PYTHON": "".join(_unpacked(path) for path in sorted(Path(restoring.__path__[0]).glob("*.py"))),
    }
    return _fill(filled)


def _unpacked(module: Path) -> str:
    """A shell command that writes a module's source."""
    return f"    cat >\"$package/{module.name}\" <<'{_END}'\n{module.read_text(encoding='utf-8')}{_END}\n"


def _array(words: Iterable[str]) -> str:
    return "".join(f"\n    {quoted(word)}" for word in words) + "\n"


def _fill(values: dict[str, str]) -> str:
    """The template with its marks replaced; what is put in is not looked at again."""
    return _MARK.sub(lambda mark: values[mark[1]], _TEMPLATE)

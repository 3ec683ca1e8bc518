#!/bin/sh
# What a container runs: for web, worker, jobs or small (all three in one process) the line of the Procfile, adapted to the memory
# of the container; otherwise a command, such as check or backup. With exec, signals reach the process itself.
set -eu
entry=$(node src/cli/bootstrap/print-entry.mjs "${1:-web}")
if [ -n "$entry" ]; then exec $entry; fi
exec node src/cli/millrace.mjs "$@"

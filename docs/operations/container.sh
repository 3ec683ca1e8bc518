#!/bin/sh
# What a container runs: web, worker, jobs or small (all three in one process) is the line of the Procfile, fitted to the
# memory of the container, and anything else is a command, such as check or backup. exec: signals reach the process itself.
set -eu
entry=$(node src/cli/bootstrap/print-entry.mjs "${1:-web}")
if [ -n "$entry" ]; then exec $entry; fi
exec node src/cli/millrace.mjs "$@"

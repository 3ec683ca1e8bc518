#!/bin/sh
# What a container runs: web, worker or jobs is the line of the Procfile, and anything else is a command, such as check or
# backup. exec: signals reach the process itself.
set -eu
entry=$(sed -n "s/^${1:-web}: //p" Procfile)
if [ -n "$entry" ]; then exec $entry; fi
exec node src/cli/millrace.mjs "$@"

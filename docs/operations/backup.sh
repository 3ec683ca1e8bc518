#!/bin/sh
# Writes a backup to BACKUP_DIR, then deletes those older than KEEP_DAYS. If the backup fails, nothing is deleted.
# Run it in the folder of Millrace. It uses the store that the settings name, such as REDIS_URL.
set -eu
file="$BACKUP_DIR/millrace-$(date -u +%Y%m%dT%H%M%SZ).ndjson.gz"
node src/cli/millrace.mjs backup "$file"
find "$BACKUP_DIR" -maxdepth 1 -name 'millrace-*.ndjson.gz' -mtime "+${KEEP_DAYS:-14}" -delete

/** The opaque token of `X-Service-Version` (docs/reference/http.md "Reading your own writes"). */

/**
 * Places in the partitions' streams: partition -> sequence number of the entry that announced a write.
 * What `X-Service-Version` carries, made opaque by `formatVersion`.
 */
export type VersionVector = ReadonlyMap<number, number>;

const entryPattern = /^(\d{1,5})\.([0-9a-z]{1,11})$/;
const entriesMax = 4096;

/** Text that is safe in a header. */
export function formatVersion(version: VersionVector): string {
  const entries = [...version].sort(([a], [b]) => a - b);
  return `v1-${entries.map(([partition, sequence]) => `${partition}.${sequence.toString(36)}`).join('-')}`;
}

/** The vector of a token, or null when the text is no token of ours. */
export function parseVersion(text: string): VersionVector | null {
  const [mark, ...entries] = text.split('-', entriesMax);
  if (mark !== 'v1') return null;
  const version = new Map<number, number>();
  for (const entry of entries) {
    if (entry === '' && entries.length === 1) continue;
    const match = entryPattern.exec(entry);
    if (match?.[1] === undefined || match[2] === undefined) return null;
    version.set(Number(match[1]), Number.parseInt(match[2], 36));
  }
  return version;
}

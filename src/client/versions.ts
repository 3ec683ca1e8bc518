/** Versions of writes, as `X-Service-Version` tells them: `v1-` and for each partition how far it was written. */

const mark = 'v1-';

/**
 * A version that stands for both. Writes may go over several connections, to several fronts, and none of these knows of all.
 * @param later stands for both where they cannot be put together
 */
export function bothVersions(earlier: string | null, later: string | null): string | null {
  if (earlier === null || later === null) return later ?? earlier;
  if (!earlier.startsWith(mark) || !later.startsWith(mark)) return later;
  const places = new Map<string, string>();
  for (const entry of [...entriesOf(earlier), ...entriesOf(later)]) {
    const [, partition = '', place = ''] = /^(\d+[.~])(.*)$/.exec(entry) ?? [];
    const known = places.get(partition);
    if (known === undefined || Number.parseInt(place, 36) > Number.parseInt(known, 36)) {
      places.set(partition, place);
    }
  }
  return mark + [...places].map(([partition, place]) => partition + place).join('-');
}

/** A version that stands for all; null for none. */
export function oneVersion(versions: string | readonly string[] | undefined): string | null {
  if (versions === undefined || typeof versions === 'string') return versions ?? null;
  return versions.reduce<string | null>(bothVersions, null);
}

function entriesOf(version: string): string[] {
  return version
    .slice(mark.length)
    .split('-')
    .filter((entry) => entry !== '');
}

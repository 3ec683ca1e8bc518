/** The faults of a schedule. */

/** The faults, each as frequent as it is listed. */
const plainFaults = [
  'crash',
  'crash',
  'stop',
  'links',
  'link',
  'front',
  'stall',
  'stall',
  'redis',
  'lease',
  'lease',
] as const;
/** Applying another configuration takes longer than everything else, so it changes only in one seed of four. */
const faultsAmidChange = [
  ...plainFaults,
  'link',
  'jobs',
  'jobs',
  'configure',
  'configure',
  'configure',
  'configure',
] as const;
export type Fault = (typeof faultsAmidChange)[number];

/** Determined by the seed. */
export function faultsOfSeed(seed: number): readonly [Fault, ...Fault[]] {
  return Math.floor(seed / 4) % 4 === 0 ? faultsAmidChange : plainFaults;
}

/** The faults of a schedule. */

/** Faults; those listed more than once are more frequent. */
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

/** The faults that may happen with a seed. */
export function faultsOfSeed(seed: number): readonly [Fault, ...Fault[]] {
  return Math.floor(seed / 4) % 4 === 0 ? faultsAmidChange : plainFaults;
}

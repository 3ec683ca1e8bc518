/** What a schedule may break. */

/** What breaks, as often as it stands here. */
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
/** Following another configuration takes longer than all else, so in one seed of four alone it changes. */
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

/** As a seed says. */
export function faultsOfSeed(seed: number): readonly [Fault, ...Fault[]] {
  return Math.floor(seed / 4) % 4 === 0 ? faultsAmidChange : plainFaults;
}

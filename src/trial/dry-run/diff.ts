/** The changes of a configuration, as reported by a dry run (docs/reference/management.md "Dry run"). */
import type { Json } from '../../contract/json.ts';
import { dryRunSampleCharactersMax, dryRunSamplesMax } from '../../contract/limits.ts';

export interface ChangeCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly same: number;
}

/** Sample views, at most `dryRunSamplesMax` of each kind. */
export interface ChangeSamples {
  readonly added: readonly { readonly id: string; readonly after: Json }[];
  readonly changed: readonly { readonly id: string; readonly before: Json; readonly after: Json }[];
  readonly removed: readonly { readonly id: string; readonly before: Json }[];
}

export interface ConfigurationDiff {
  readonly views: ChangeCounts;
  readonly routes: ChangeCounts;
  readonly handles: ChangeCounts;
  readonly items: ChangeCounts;
  readonly samples: ChangeSamples;
}

export type ChangeKind = keyof ChangeCounts;

const noChanges: ChangeCounts = { added: 0, changed: 0, removed: 0, same: 0 };

export const emptyDiff: ConfigurationDiff = {
  views: noChanges,
  routes: noChanges,
  handles: noChanges,
  items: noChanges,
  samples: { added: [], changed: [], removed: [] },
};

export function plus(counts: ChangeCounts, kind: ChangeKind): ChangeCounts {
  return { ...counts, [kind]: counts[kind] + 1 };
}

/** A view that is added, changed or removed. */
export interface Sample {
  readonly id: string;
  /** Null: it did not exist. */
  readonly before: { readonly view: Json } | null;
  /** Null: it is removed. */
  readonly after: { readonly view: Json } | null;
}

export function hasRoom(samples: ChangeSamples, kind: Exclude<ChangeKind, 'same'>): boolean {
  return samples[kind].length < dryRunSamplesMax;
}

/** Adds a sample, unless the samples would become too large. */
export function withSample(samples: ChangeSamples, { id, before, after }: Sample): ChangeSamples {
  const next: ChangeSamples =
    before === null
      ? { ...samples, added: [...samples.added, { id, after: after?.view ?? null }] }
      : after === null
        ? { ...samples, removed: [...samples.removed, { id, before: before.view }] }
        : { ...samples, changed: [...samples.changed, { id, before: before.view, after: after.view }] };
  return JSON.stringify(next).length > dryRunSampleCharactersMax ? samples : next;
}

/** The processed record of an entity: what was last made of it, enough to see what a new state changes and to undo the rest. */
import { unpack } from '../codec/pack.ts';
import { PackWriter } from '../codec/pack-writer.ts';

export interface MadeClaim {
  /** From `claimField`. */
  readonly field: string;
  readonly host: string | null;
  readonly kind: 'page' | 'redirect';
  readonly sinceStamp: number;
  readonly display: string;
  readonly redirect: string | null;
}

/** Something made of the entity for one environment: a view or an index item. */
export interface MadeThing {
  readonly kind: 'view' | 'item';
  readonly environmentId: string;
  /** Schema alias, or index name. */
  readonly name: string;
  /** Digest of the schema that made it. */
  readonly schemaDigest: string;
  /** Digest of the stored bytes. */
  readonly bytesDigest: Buffer;
  readonly claims: readonly MadeClaim[];
  /** Lookup keys it is registered under: source id and key. */
  readonly dependsOn: readonly (readonly [sourceId: string, lookupKey: string])[];
}

export interface LookupStanding {
  readonly layoutId: string;
  readonly keys: readonly string[];
}

export interface ProcessedRecord {
  /** Stamp of the entity's state that was processed. */
  readonly stamp: number;
  readonly type: string;
  /** Under what it stands in each lookup layout that is kept for its source. */
  readonly lookups: readonly LookupStanding[];
  readonly made: readonly MadeThing[];
}

type PackedClaim = [string, string | null, 0 | 1, number, string, string | null];

type PackedThing = [0 | 1, string, string, string, Buffer, PackedClaim[], [string, string][]];

type PackedRecord = [number, string, [string, string[]][], PackedThing[]];

const writer = new PackWriter();

/** A `PackedRecord`. Equal records give equal bytes. */
export function encodeProcessed({ stamp, type, lookups, made }: ProcessedRecord): Buffer {
  writer.begin();
  writer.list(4);
  writer.number(stamp);
  writer.text(type);
  writer.list(lookups.length);
  for (const standing of lookups) {
    writer.list(2);
    writer.text(standing.layoutId);
    writer.list(standing.keys.length);
    for (const key of standing.keys) writer.text(key);
  }
  writer.list(made.length);
  for (const thing of made) writeThing(thing);
  return writer.take();
}

function writeThing(thing: MadeThing): void {
  writer.list(7);
  writer.number(thing.kind === 'view' ? 0 : 1);
  writer.text(thing.environmentId);
  writer.text(thing.name);
  writer.text(thing.schemaDigest);
  writer.bytes(thing.bytesDigest);
  writer.list(thing.claims.length);
  for (const { field, host, kind, sinceStamp, display, redirect } of thing.claims) {
    writer.list(6);
    writer.text(field);
    writer.textOrNull(host);
    writer.number(kind === 'page' ? 0 : 1);
    writer.number(sinceStamp);
    writer.text(display);
    writer.textOrNull(redirect);
  }
  writer.list(thing.dependsOn.length);
  for (const [sourceId, lookupKey] of thing.dependsOn) {
    writer.list(2);
    writer.text(sourceId);
    writer.text(lookupKey);
  }
}

export function decodeProcessed(stored: Buffer): ProcessedRecord {
  const [stamp, type, lookups, made] = unpack<PackedRecord>(stored);
  return {
    stamp,
    type,
    lookups: lookups.map(([layoutId, lookupKeys]) => ({ layoutId, keys: lookupKeys })),
    made: made.map(([kind, environmentId, name, schemaDigest, bytesDigest, claims, dependsOn]) => ({
      kind: kind === 0 ? 'view' : 'item',
      environmentId,
      name,
      schemaDigest,
      bytesDigest,
      claims: claims.map(([field, host, claimKind, sinceStamp, display, redirect]) => ({
        field,
        host,
        kind: claimKind === 0 ? 'page' : 'redirect',
        sinceStamp,
        display,
        redirect,
      })),
      dependsOn,
    })),
  };
}

/** The processed record of an entity: what was last made of it, enough to see what a new state changes and to undo the rest. */
import { pack, unpack } from '../codec/pack.ts';

/** A claim of a view, as its processed record keeps it. */
export interface ProcessedClaim {
  /** From `claimField`. */
  readonly field: string;
  readonly host: string | null;
  readonly kind: 'page' | 'redirect';
  readonly sinceStamp: number;
  readonly display: string;
  readonly redirect: string | null;
}

/** Something made of the entity for one environment: a view or an index item. */
export interface ProcessedOutput {
  readonly kind: 'view' | 'item';
  readonly environmentId: string;
  /** Schema alias, or index name. */
  readonly name: string;
  /** Digest of the schema that made it. */
  readonly schemaDigest: string;
  /** Digest of the stored bytes. */
  readonly bytesDigest: Buffer;
  readonly claims: readonly ProcessedClaim[];
  /** Lookup keys it is registered under: source id and key. */
  readonly dependsOn: readonly (readonly [sourceId: string, lookupKey: string])[];
}

/** The keys under which an entity stands in the lookup index of one layout. */
export interface IndexEntries {
  readonly layoutId: string;
  readonly keys: readonly string[];
}

export interface ProcessedRecord {
  /** Stamp of the entity's state that was processed. */
  readonly stamp: number;
  readonly type: string;
  /** Under what it stands in each lookup layout that is kept for its source. */
  readonly lookups: readonly IndexEntries[];
  readonly outputs: readonly ProcessedOutput[];
}

type PackedClaim = [
  field: string,
  host: string | null,
  kind: 0 | 1,
  sinceStamp: number,
  display: string,
  redirect: string | null,
];

type PackedOutput = [
  kind: 0 | 1,
  environmentId: string,
  name: string,
  schemaDigest: string,
  bytesDigest: Buffer,
  claims: PackedClaim[],
  dependsOn: ProcessedOutput['dependsOn'],
];

type PackedRecord = [
  stamp: number,
  type: string,
  lookups: [layoutId: string, keys: readonly string[]][],
  outputs: PackedOutput[],
];

/** Equal records give equal bytes. */
export function encodeProcessed({ stamp, type, lookups, outputs }: ProcessedRecord): Buffer {
  const record: PackedRecord = [
    stamp,
    type,
    lookups.map(({ layoutId, keys }) => [layoutId, keys]),
    outputs.map(packedOutput),
  ];
  return pack(record);
}

function packedOutput(output: ProcessedOutput): PackedOutput {
  const { kind, environmentId, name, schemaDigest, bytesDigest, claims, dependsOn } = output;
  return [
    kind === 'view' ? 0 : 1,
    environmentId,
    name,
    schemaDigest,
    bytesDigest,
    claims.map((claim) => [
      claim.field,
      claim.host,
      claim.kind === 'page' ? 0 : 1,
      claim.sinceStamp,
      claim.display,
      claim.redirect,
    ]),
    dependsOn,
  ];
}

export function decodeProcessed(stored: Buffer): ProcessedRecord {
  const [stamp, type, lookups, outputs] = unpack<PackedRecord>(stored);
  return {
    stamp,
    type,
    lookups: lookups.map(([layoutId, lookupKeys]) => ({ layoutId, keys: lookupKeys })),
    outputs: outputs.map(([kind, environmentId, name, schemaDigest, bytesDigest, claims, dependsOn]) => ({
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

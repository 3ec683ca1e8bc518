/** The processed record of an entity: what was last made of it, enough to see what a new state changes and to undo the rest. */
import type { EntityRef } from '../../contract/ids.ts';
import type { JsonObject } from '../../contract/json.ts';
import { type FormerClaim, packFormerClaim, unpackFormerClaim } from '../change-log/told-views.ts';
import { pack, unpack } from '../codec/pack.ts';
import { longId, shortId } from '../codec/short-id.ts';
import { textOfField } from '../keys.ts';

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
  /** Type of the entity when the view was told last; absent: that of the record. */
  readonly toldType?: string;
  /** Claims that the view has given up, the latest first; absent: none. `keys.left` says which of them were served. */
  readonly formerClaims?: readonly FormerClaim[];
  /** Views that the view refers to (`referenceText`), each once; absent: none. */
  readonly references?: readonly string[];
  /** Webhooks that the schema names for the view, and what it tells them of it; absent: none. */
  readonly destinations?: readonly Destination[];
  /** What caused the last build that changed a byte; absent: a change of the entity itself. */
  readonly because?: BuildCause;
  /** Why the schema makes nothing of the entity as it is now; the rest is what was made last. Absent: it does. */
  readonly failure?: ProcessedFailure;
}

/** A webhook that a schema names for its views. */
export interface Destination {
  readonly alias: string;
  readonly options: JsonObject;
}

export interface BuildCause {
  readonly kind: 'lookup' | 'configuration' | 'repair' | 'restore';
  /** For a lookup: the entity whose change caused it. */
  readonly entity?: EntityRef;
}

/** Of a schema in JavaScript. */
export interface ProcessedFailure {
  readonly message: string;
  /** File, with line and column where they are known. */
  readonly place: string;
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

/** Stands for what the record says at another place already. */
const same = true;
type Same = typeof same;

type PackedClaim = [
  field: string,
  host: string | null,
  kind: 0 | 1,
  /** Same: that of the record. */
  sinceStamp: number | Same,
  /** Same: what stands in the field behind its mark. */
  display: string | Same,
  /** Same: the display of the claim before. */
  redirect: string | Same | null,
];

type PackedOutput = [
  kind: 0 | 1,
  /** From `shortId`. Same: that of the output before. */
  environmentId: string | Same,
  name: string,
  schemaDigest: string,
  bytesDigest: Buffer,
  claims: PackedClaim[],
  dependsOn: ProcessedOutput['dependsOn'],
  /** Absent for most: no told type, no former claims and no references. */
  toldType?: string | null,
  formerClaims?: ReturnType<typeof packFormerClaim>[],
  failure?: readonly [message: string, place: string] | null,
  references?: readonly string[],
  destinations?: readonly Destination[],
  because?: PackedCause,
];

type PackedCause = readonly [kind: BuildCause['kind'], sourceId?: string, originId?: string];

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
    outputs.map((output, at) => packedOutput(output, stamp, outputs[at - 1])),
  ];
  return pack(record);
}

/** Most outputs have none of this. */
type Further = Pick<
  ProcessedOutput,
  'toldType' | 'formerClaims' | 'failure' | 'references' | 'destinations' | 'because'
>;

function hasFurther(further: Further): boolean {
  return Object.values(further).some((value) => value !== undefined);
}

function packedOutput(
  output: ProcessedOutput,
  stamp: number,
  before: ProcessedOutput | undefined,
): PackedOutput {
  const { kind, environmentId, name, schemaDigest, bytesDigest, claims, dependsOn, ...further } = output;
  const { toldType, formerClaims, failure, references, destinations, because } = further;
  const packed: PackedOutput = [
    kind === 'view' ? 0 : 1,
    environmentId === before?.environmentId ? same : shortId(environmentId),
    name,
    schemaDigest,
    bytesDigest,
    claims.map((claim, at) => packedClaim(claim, stamp, claims[at - 1])),
    dependsOn,
  ];
  if (hasFurther(further)) {
    packed.push(
      toldType ?? null,
      (formerClaims ?? []).map(packFormerClaim),
      failure === undefined ? null : [failure.message, failure.place],
      references ?? [],
    );
    if (destinations !== undefined || because !== undefined) packed.push(destinations ?? []);
    if (because !== undefined) packed.push(packCause(because));
  }
  return packed;
}

function packedClaim(
  { field, host, kind, sinceStamp, display, redirect }: ProcessedClaim,
  stamp: number,
  before: ProcessedClaim | undefined,
): PackedClaim {
  return [
    field,
    host,
    kind === 'page' ? 0 : 1,
    sinceStamp === stamp ? same : sinceStamp,
    display === textOfField(field) ? same : display,
    redirect !== null && redirect === before?.display ? same : redirect,
  ];
}

function packCause({ kind, entity }: BuildCause): PackedCause {
  return entity === undefined ? [kind] : [kind, entity.sourceId, entity.originId];
}

function unpackCause([kind, sourceId, originId]: PackedCause): BuildCause {
  if (sourceId === undefined || originId === undefined) return { kind };
  return { kind, entity: { sourceId, originId } };
}

export function decodeProcessed(stored: Buffer): ProcessedRecord {
  const [stamp, type, lookups, packed] = unpack<PackedRecord>(stored);
  const outputs: ProcessedOutput[] = [];
  for (const output of packed) outputs.push(unpackedOutput(output, stamp, outputs.at(-1)));
  return {
    stamp,
    type,
    lookups: lookups.map(([layoutId, lookupKeys]) => ({ layoutId, keys: lookupKeys })),
    outputs,
  };
}

function unpackedClaims(packed: readonly PackedClaim[], stamp: number): ProcessedClaim[] {
  const claims: ProcessedClaim[] = [];
  for (const [field, host, kind, sinceStamp, display, redirect] of packed) {
    claims.push({
      field,
      host,
      kind: kind === 0 ? 'page' : 'redirect',
      sinceStamp: sinceStamp === same ? stamp : sinceStamp,
      display: display === same ? textOfField(field) : display,
      redirect: redirect === same ? (claims.at(-1)?.display ?? null) : redirect,
    });
  }
  return claims;
}

function unpackedOutput(
  packed: PackedOutput,
  stamp: number,
  before: ProcessedOutput | undefined,
): ProcessedOutput {
  const [kind, environmentId, name, schemaDigest, bytesDigest, claims, dependsOn, ...further] = packed;
  const [toldType, formerClaims, failure, references, destinations, because] = further;
  return {
    kind: kind === 0 ? 'view' : 'item',
    environmentId: environmentId === same ? (before?.environmentId ?? '') : longId(environmentId),
    name,
    schemaDigest,
    bytesDigest,
    claims: unpackedClaims(claims, stamp),
    dependsOn,
    ...(toldType == null ? {} : { toldType }),
    ...(formerClaims === undefined || formerClaims.length === 0
      ? {}
      : { formerClaims: formerClaims.map(unpackFormerClaim) }),
    ...(failure == null ? {} : { failure: { message: failure[0], place: failure[1] } }),
    ...(references === undefined || references.length === 0 ? {} : { references }),
    ...(destinations === undefined || destinations.length === 0 ? {} : { destinations }),
    ...(because === undefined ? {} : { because: unpackCause(because) }),
  };
}

/** True for a record that a restore has put there: its stamp lies between those of two states. */
export function isRestored(record: ProcessedRecord | null): boolean {
  return record !== null && !Number.isInteger(record.stamp);
}

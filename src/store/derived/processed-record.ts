/**
 * The processed record of an entity: what was last built from it. It is enough to see what a new state changes and to undo the
 * rest.
 */
import type { EntityRef } from '../../contract/ids.ts';
import type { JsonObject } from '../../contract/json.ts';
import { type PublishState, type PublishTimes, publishStates } from '../../contract/publish-times.ts';
import type { BuildFailure } from '../../schemas/build/build-outcome.ts';
import { type NameList, sharedListOf } from '../codec/name-lists.ts';
import { pack, unpack } from '../codec/pack.ts';
import { longId, shortId } from '../codec/short-id.ts';
import { textOfField } from '../keys.ts';

/** A claim of a view, as stored in its processed record. */
export interface ProcessedClaim {
  /** From `claimField`. */
  readonly field: string;
  readonly host: string | null;
  readonly kind: 'page' | 'redirect';
  readonly sinceStamp: number;
  readonly display: string;
  readonly redirect: string | null;
}

/** Something built from the entity for one environment: a view or an index item. */
export interface ProcessedOutput {
  readonly kind: 'view' | 'item';
  readonly environmentId: string;
  /** Schema alias, or index name. */
  readonly name: string;
  /** Digest of the schema that built it. */
  readonly schemaDigest: string;
  /** Digest of the stored bytes. */
  readonly bytesDigest: Buffer;
  readonly claims: readonly ProcessedClaim[];
  /** Source id and key of each lookup that it depends on. */
  readonly dependsOn: readonly (readonly [sourceId: string, lookupKey: string])[];
  /** Type of the entity when the view was last reported; absent: that of the record. */
  readonly reportedType?: string;
  /** Claims that the view gave up, latest first; absent: none. `keys.left` has those that were served. */
  readonly formerClaims?: readonly FormerClaim[];
  /** Distinct views that the view references (`referenceText`); absent: none. */
  readonly references?: readonly string[];
  /** Webhooks that the schema names for the view, with options; absent for none. */
  readonly destinations?: readonly Destination[];
  /** The cause of the last build that changed a byte; absent for a change of the entity itself. */
  readonly because?: BuildCause;
  /** Why the schema fails for the current entity; the other fields are from the last successful build. Absent: no failure. */
  readonly failure?: BuildFailure;
}

/** A webhook that a schema names for its views. */
export interface Destination {
  readonly alias: string;
  readonly options: JsonObject;
}

export interface BuildCause {
  readonly kind: 'lookup' | 'configuration' | 'repair' | 'restore' | 'schedule';
  /** For a lookup: the entity whose change caused it. */
  readonly entity?: EntityRef;
}

/** Keys of an entity in the lookup index of one layout. */
export interface IndexEntries {
  readonly layoutId: string;
  readonly keys: readonly string[];
}

/** Publishing times of the processed state, and the publish state that follows from them. */
export interface ProcessedTimes extends PublishTimes {
  readonly state: PublishState;
  /** True if the state was reached by schedule, not by a save. */
  readonly isBySchedule: boolean;
}

export interface ProcessedRecord {
  /** Stamp of the entity's state that was processed. */
  readonly stamp: number;
  readonly type: string;
  /** Its keys in each lookup layout of its source. */
  readonly lookups: readonly IndexEntries[];
  readonly outputs: readonly ProcessedOutput[];
  /** Absent for an entity that is always published. */
  readonly times?: ProcessedTimes;
}

/** The state of an entity when it was last processed. */
export function processedState({ times }: ProcessedRecord): PublishState {
  return times?.state ?? 'published';
}

/** Placeholder for a value that the record already has elsewhere. */
const same = true;
type Same = typeof same;

/**
 * Most claims are pages, or redirects to the previous claim, on all hosts, as old as the record, with the field as display
 * text. Then a page is packed as its field, and a redirect as a list with its field.
 */
type PackedClaim = string | [field: string] | WholeClaim;

type WholeClaim = [
  field: string,
  host: string | null,
  kind: 0 | 1,
  /** `same`: that of the record. */
  sinceStamp: number | Same,
  /** `same`: the text of the field. */
  display: string | Same,
  /** `same`: the display of the previous claim. */
  redirect: string | Same | null,
];

/** The part of an output that many records share: it is the same for most entities of a type. */
type OutputNames = [
  kind: 0 | 1,
  /** From `shortId`. `same`: that of the previous output. */
  environmentId: string | Same,
  name: string,
  schemaDigest: string,
];

/** The rest of an output, without trailing nulls and empty lists. */
type OwnOutput = [
  bytesDigest: Buffer,
  claims?: PackedClaim[],
  references?: readonly string[],
  /** Source ids from `shortId`. */
  dependsOn?: ProcessedOutput['dependsOn'],
  toldType?: string | null,
  formerClaims?: ReturnType<typeof packFormerClaim>[],
  failure?: readonly [message: string, place: string] | null,
  destinations?: readonly Destination[],
  because?: PackedCause | null,
];

type PackedCause = readonly [kind: BuildCause['kind'], sourceId?: string, originId?: string];

type PackedLookups = [layoutId: string, keys: readonly string[]][];

type PackedTimes = readonly [
  publishAt: number | null,
  unpublishAt: number | null,
  /** Index in `publishStates`. */
  state: number,
  isBySchedule?: true,
];

/** A record that contains its names. */
type WholeRecord = [
  stamp: number,
  type: string,
  outputs: [...OutputNames, ...OwnOutput][],
  lookups?: PackedLookups,
  times?: PackedTimes,
];

/** A record without the names in `namesOf`. */
type NamelessRecord = [
  stamp: number,
  namesDigest: Uint8Array,
  outputs: OwnOutput[],
  lookups?: PackedLookups,
  times?: PackedTimes,
];

/** The shared names that records leave out: the type, then kind, environment, name and schema of each output. */
function namesOf({ type, outputs }: ProcessedRecord): string[] {
  const names = [type];
  for (const { kind, environmentId, name, schemaDigest } of outputs) {
    names.push(kind, environmentId, name, schemaDigest);
  }
  return names;
}

const namesPerOutput = 4;

/** The list of names that the record should leave out (`sharedListOf`). Counts the record. */
export function processedNamesOf(record: ProcessedRecord): NameList | null {
  return sharedListOf(namesOf(record));
}

/**
 * Equal records with the same list give equal bytes.
 * @param list from `processedNamesOf`, must be stored with the record; null: the record contains its names
 */
export function encodeProcessed(record: ProcessedRecord, list: NameList | null = null): Buffer {
  const { stamp, type, outputs } = record;
  const rest = packedRest(record);
  if (list !== null) {
    const nameless: NamelessRecord = [
      stamp,
      list.digest,
      outputs.map((output) => ownOutput(output, stamp)),
      ...rest,
    ];
    return pack(nameless);
  }
  const whole: WholeRecord = [
    stamp,
    type,
    outputs.map((output, at) => [...outputNames(output, outputs[at - 1]), ...ownOutput(output, stamp)]),
    ...rest,
  ];
  return pack(whole);
}

/** Empty for an entity that has no lookup keys and is always published. */
function packedRest({ lookups, times }: ProcessedRecord): [PackedLookups?, PackedTimes?] {
  if (lookups.length === 0 && times === undefined) return [];
  const packed: PackedLookups = lookups.map(({ layoutId, keys }) => [layoutId, keys]);
  return times === undefined ? [packed] : [packed, packTimes(times)];
}

function packTimes({ publishAt, unpublishAt, state, isBySchedule }: ProcessedTimes): PackedTimes {
  const number = publishStates.indexOf(state);
  return isBySchedule ? [publishAt, unpublishAt, number, true] : [publishAt, unpublishAt, number];
}

function unpackedTimes(packed: PackedTimes | undefined): Pick<ProcessedRecord, 'times'> {
  if (packed === undefined) return {};
  const [publishAt, unpublishAt, number, isBySchedule = false] = packed;
  return { times: { publishAt, unpublishAt, state: publishStates[number] ?? 'published', isBySchedule } };
}

function outputNames(
  { kind, environmentId, name, schemaDigest }: ProcessedOutput,
  before: ProcessedOutput | undefined,
): OutputNames {
  return [
    kind === 'view' ? 0 : 1,
    environmentId === before?.environmentId ? same : shortId(environmentId),
    name,
    schemaDigest,
  ];
}

function ownOutput(output: ProcessedOutput, stamp: number): OwnOutput {
  const {
    bytesDigest,
    claims,
    references,
    dependsOn,
    reportedType: toldType,
    formerClaims,
    failure,
  } = output;
  const { destinations, because } = output;
  const packed: OwnOutput = [
    bytesDigest,
    claims.map((claim, at) => packedClaim(claim, stamp, claims[at - 1])),
    references ?? [],
    dependsOn.map(([sourceId, lookupKey]) => [shortId(sourceId), lookupKey]),
    toldType ?? null,
    (formerClaims ?? []).map(packFormerClaim),
    failure === undefined ? null : [failure.message, failure.place],
    destinations ?? [],
    because === undefined ? null : packCause(because),
  ];
  while (isNothing(packed.at(-1))) packed.pop();
  return packed;
}

function isNothing(value: OwnOutput[number]): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function packedClaim(
  { field, host, kind, sinceStamp, display, redirect }: ProcessedClaim,
  stamp: number,
  before: ProcessedClaim | undefined,
): PackedClaim {
  if (host === null && sinceStamp === stamp && display === textOfField(field)) {
    if (kind === 'page' && redirect === null) return field;
    if (kind === 'redirect' && redirect !== null && redirect === before?.display) return [field];
  }
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

/** A record that is decoded except for the names that it leaves out. */
export interface OpenProcessed {
  readonly stamp: number;
  /** Digest of the names that it leaves out; null: none. */
  readonly namesDigest: Uint8Array | null;
  readonly packed: WholeRecord | NamelessRecord;
}

export function openProcessed(stored: Buffer): OpenProcessed {
  const packed = unpack<WholeRecord | NamelessRecord>(stored);
  const [stamp, second] = packed;
  return { stamp, namesDigest: typeof second === 'string' ? null : second, packed };
}

/** @param names names that the record leaves out; null: none */
export function decodeProcessed({ packed }: OpenProcessed, names: readonly string[] | null): ProcessedRecord {
  return names === null ? wholeRecord(packed as WholeRecord) : namedRecord(packed as NamelessRecord, names);
}

function wholeRecord([stamp, type, whole, lookups, times]: WholeRecord): ProcessedRecord {
  const outputs: ProcessedOutput[] = [];
  for (const [kind, environmentId, name, schemaDigest, ...own] of whole) {
    outputs.push({
      kind: kind === 0 ? 'view' : 'item',
      environmentId: environmentId === same ? (outputs.at(-1)?.environmentId ?? '') : longId(environmentId),
      name,
      schemaDigest,
      ...unpackedOutput(own, stamp),
    });
  }
  return { stamp, type, lookups: unpackedLookups(lookups), outputs, ...unpackedTimes(times) };
}

/** @param names as `namesOf` lists them */
function namedRecord(
  [stamp, , nameless, lookups, times]: NamelessRecord,
  [type = '', ...ofOutputs]: readonly string[],
): ProcessedRecord {
  const outputs = nameless.map((own, at): ProcessedOutput => {
    const from = at * namesPerOutput;
    const [kind = '', environmentId = '', name = '', schemaDigest = ''] = ofOutputs.slice(
      from,
      from + namesPerOutput,
    );
    return {
      kind: kind === 'view' ? 'view' : 'item',
      environmentId,
      name,
      schemaDigest,
      ...unpackedOutput(own, stamp),
    };
  });
  return { stamp, type, lookups: unpackedLookups(lookups), outputs, ...unpackedTimes(times) };
}

function unpackedLookups(packed: PackedLookups = []): IndexEntries[] {
  return packed.map(([layoutId, lookupKeys]) => ({ layoutId, keys: lookupKeys }));
}

function unpackedClaims(packed: readonly PackedClaim[], stamp: number): ProcessedClaim[] {
  const claims: ProcessedClaim[] = [];
  for (const one of packed) {
    const [field, host, kind, sinceStamp, display, redirect] = wholeClaim(one);
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

function wholeClaim(packed: PackedClaim): WholeClaim {
  if (typeof packed === 'string') return [packed, null, 0, same, same, null];
  return packed.length === 1 ? [packed[0], null, 1, same, same, same] : packed;
}

function unpackedOutput(
  packed: OwnOutput,
  stamp: number,
): Omit<ProcessedOutput, 'kind' | 'environmentId' | 'name' | 'schemaDigest'> {
  const [bytesDigest, claims = [], references = [], dependsOn = [], ...further] = packed;
  const [toldType, formerClaims = [], failure, destinations = [], because] = further;
  return {
    bytesDigest,
    claims: unpackedClaims(claims, stamp),
    dependsOn: dependsOn.map(([sourceId, lookupKey]) => [longId(sourceId), lookupKey]),
    ...(toldType == null ? {} : { reportedType: toldType }),
    ...(formerClaims.length === 0 ? {} : { formerClaims: formerClaims.map(unpackFormerClaim) }),
    ...(failure == null ? {} : { failure: { message: failure[0], place: failure[1] } }),
    ...(references.length === 0 ? {} : { references }),
    ...(destinations.length === 0 ? {} : { destinations }),
    ...(because == null ? {} : { because: unpackCause(because) }),
  };
}

/** True for a record that a restore wrote: its stamp is between those of two states. */
export function isRestored(record: ProcessedRecord | null): boolean {
  return record !== null && !Number.isInteger(record.stamp);
}

/** A claim at the time the view gave it up. */
export interface FormerClaim {
  /** From `claimField`. */
  readonly field: string;
  readonly host: string | null;
  readonly kind: 'page' | 'redirect';
  readonly display: string;
}

export type PackedFormerClaim = [field: string, host: string | null, kind: 0 | 1, display: string];

export function packFormerClaim({ field, host, kind, display }: FormerClaim): PackedFormerClaim {
  return [field, host, kind === 'page' ? 0 : 1, display];
}

export function unpackFormerClaim([field, host, kind, display]: PackedFormerClaim): FormerClaim {
  return { field, host, kind: kind === 0 ? 'page' : 'redirect', display };
}

/** Unique among the claims of a view. */
export function claimKey({ kind, host, field }: Pick<ProcessedClaim, 'kind' | 'host' | 'field'>): string {
  return `${kind}:${host ?? ''}:${field}`;
}

/**
 * The lines of a backup, which is NDJSON in gzip. First comes `header`, then `document` for each file of the
 * configuration, `entity` for each source entity, `fields` for each auto-indexed entity type, and finally `end`.
 * A backup without `end` is truncated.
 */
import type { StoredEntity } from '../../contract/entity.ts';
import { jsonOf } from '../../contract/json.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import type {
  ProcessedClaim,
  ProcessedRecord,
  ProcessedTimes,
} from '../../store/derived/processed-record.ts';
import type { AutoFieldTypes } from '../../store/entities/auto-fields.ts';
import type { EntitySnapshot } from '../../store/entities/snapshots.ts';

export const backupFormat = 'millrace-backup';
/** Increase it if older versions cannot read the format. */
export const backupVersion = 1;

export interface HeaderLine {
  readonly kind: 'header';
  readonly format: string;
  readonly version: number;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** A file of the active configuration, with hashed API keys. */
export interface DocumentLine {
  readonly kind: 'document';
  readonly path: string;
  readonly text: string;
}

type ClaimWithAge = Omit<ProcessedClaim, 'redirect'>;

export interface EntityLine extends StoredEntity {
  readonly kind: 'entity';
  readonly tenant: string;
  /** Null if the entity was not processed yet. */
  readonly processed: {
    readonly stamp: number;
    readonly type: string;
    readonly views: readonly {
      readonly environmentId: string;
      readonly alias: string;
      readonly claims: readonly ClaimWithAge[];
    }[];
    /** Absent for an entity without publication times. */
    readonly times?: ProcessedTimes;
  } | null;
}

/** The decided field types of an auto-indexed entity type. */
export interface FieldsLine {
  readonly kind: 'fields';
  readonly tenant: string;
  readonly sourceId: string;
  readonly type: string;
  readonly fields: readonly (readonly [name: string, type: FieldType])[];
}

/** Count and checksum of all lines before it. */
export interface EndLine {
  readonly kind: 'end';
  readonly entities: number;
  /** SHA-256 of all lines before this one, line feeds included, in hexadecimal. */
  readonly sha256: string;
}

export type BackupLine = HeaderLine | DocumentLine | EntityLine | FieldsLine | EndLine;

/** The start of every entity line, to count entities without parsing them. */
export const entityLineStart = Buffer.from('{"kind":"entity"');

/** The line of an entity, with the claims of its processed record. */
export function entityLine(tenant: string, { entity, processed }: EntitySnapshot): EntityLine {
  return { kind: 'entity', tenant, ...entity, processed: processed && processedOf(processed) };
}

function processedOf({ stamp, type, outputs, times }: ProcessedRecord): EntityLine['processed'] {
  const views = outputs
    .filter(({ kind, claims }) => kind === 'view' && claims.length > 0)
    .map(({ environmentId, name, claims }) => ({
      environmentId,
      alias: name,
      claims: claims.map(({ redirect: _, ...claim }) => claim),
    }));
  return { stamp, type, views, ...(times === undefined ? {} : { times }) };
}

/** The entity of a line, and a processed record that has only its claims. */
export function snapshotOf({ kind: _, tenant: __, processed, ...entity }: EntityLine): EntitySnapshot {
  return { entity, processed: processed && recordOf(processed) };
}

/** The backup has no redirect targets: they are recomputed, and the age of a claim does not depend on them. */
function recordOf({ stamp, type, views, times }: NonNullable<EntityLine['processed']>): ProcessedRecord {
  const outputs = views.map(({ environmentId, alias, claims }) => ({
    kind: 'view' as const,
    environmentId,
    name: alias,
    schemaDigest: '',
    bytesDigest: Buffer.alloc(0),
    claims: claims.map((claim) => ({ ...claim, redirect: null })),
    dependsOn: [],
  }));
  return { stamp, type, lookups: [], outputs, ...(times === undefined ? {} : { times }) };
}

/** The line of an auto-indexed entity type. */
export function fieldsLine({ tenant, sourceId, type, fields }: AutoFieldTypes): FieldsLine {
  return { kind: 'fields', tenant, sourceId, type, fields: [...fields] };
}

/** The JSON of a line, with its line feed. */
export function lineText(line: BackupLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** Parses a line; null if it is not a line of a backup. */
export function parseLine(bytes: Buffer): BackupLine | null {
  const json: unknown = jsonOf(bytes.toString('utf8'));
  return isLine(json) ? json : null;
}

const kinds: ReadonlySet<unknown> = new Set(['header', 'document', 'entity', 'fields', 'end']);

/** Checks only the kind, because the checksum covers the rest. */
function isLine(json: unknown): json is BackupLine {
  return typeof json === 'object' && json !== null && 'kind' in json && kinds.has(json.kind);
}

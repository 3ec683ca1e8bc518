/**
 * The rows of a page as JSON text in UTF-8: the built-in fields, then the item's own fields as stored in the shard. A row may
 * have megabytes, so rows are written in steps and their size is checked meanwhile.
 */
import { getOwn, type JsonObject } from '../../contract/json.ts';
import { queryPageUnitsMax } from '../../contract/limits.ts';
import { builtInFields } from '../../contract/query-names.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery } from '../../search/checked-query.ts';
import { propertyOf } from '../../search/fields/paths.ts';
import { highlightsName } from '../../search/highlight/highlighter.ts';
import type { ShownRow } from '../../search/shard-answer.ts';

export interface RowText {
  /** The beginning of the text, with the opening brace and the built-in fields. */
  readonly head: string;
  /** The other fields as a JSON object. This may be the shard's memory and must not be changed. */
  readonly fieldsBytes: Uint8Array;
  /** Length of the whole text in bytes. */
  readonly bytes: number;
}

/** Rows of an index have a score, those of an auto-indexed source group do not. @param index from `indexName` */
function isScored(index: string): boolean {
  return !index.startsWith('auto:');
}

/** Which members the rows of a response have. */
export interface RowForm {
  readonly isWithScore: boolean;
  /** Names of the item's own fields to show; null for all. For a member of an object, the whole object is shown. */
  readonly fields: ReadonlySet<string> | null;
  /** Index of the distance in the values of a row's place; null if the rows are not sorted by distance. */
  readonly distanceAt: number | null;
}

/** The form of the rows of a query. @param index from `indexName` */
export function rowFormOf(index: string, { fields, highlight, sort }: CheckedQuery): RowForm {
  const shown = fields ? new Set(fields.flatMap((name) => [name, propertyOf(name)])) : null;
  if (highlight !== null) shown?.add(highlightsName);
  else shown?.delete(highlightsName);
  const distanceAt = sort.findIndex(({ near }) => near !== undefined);
  return { isWithScore: isScored(index), fields: shown, distanceAt: distanceAt < 0 ? null : distanceAt };
}

export function rowText(
  { place: { values, originId, sourceId }, updatedAtMs, score, fieldsBytes }: ShownRow,
  { isWithScore, fields: shown, distanceAt }: RowForm,
): RowText {
  const ids = `{"_originId":${JSON.stringify(originId)},"_sourceGuid":${JSON.stringify(sourceId)}`;
  const updatedAt = `,"_updatedAt":"${new Date(updatedAtMs).toISOString()}"`;
  const scoreText = isWithScore ? `,"_score":${score}` : '';
  const distanceText = distanceAt === null ? '' : `,"_distance":${values[distanceAt] ?? null}`;
  // Fields of auto-indexed types may have the name of a built-in field. Fields of an index schema never do.
  const all = isWithScore ? fieldsBytes : withoutBuiltIns(fieldsBytes, distanceAt !== null);
  const fields = shown === null ? all : chosenFields(all, shown);
  const comma = fields.length === emptyObjectBytes ? '' : ',';
  const head = `${ids}${updatedAt}${scoreText}${distanceText}${comma}`;
  return { head, fieldsBytes: fields, bytes: Buffer.byteLength(head) + fields.length - openingBraceBytes };
}

/** Writes a row at a position of a buffer. @returns the position after it */
export function writeRow(target: Buffer, at: number, { head, fieldsBytes, bytes }: RowText): number {
  const end = at + bytes;
  // The last byte of the head overwrites the opening brace of the fields, which avoids a subarray.
  target.set(fieldsBytes, end - fieldsBytes.length);
  target.write(head, at);
  return end;
}

/** Concatenates rows in one buffer. */
export function joinedRows(rows: readonly RowText[]): Buffer {
  const joined = Buffer.allocUnsafe(rows.reduce((sum, { bytes }) => sum + bytes, 0));
  let at = 0;
  for (const row of rows) at = writeRow(joined, at, row);
  return joined;
}

const openingBraceBytes = 1;
const emptyObjectBytes = 2;
const underscore = 0x5f;

/** Removes fields with the name of a built-in field, which takes precedence. */
function withoutBuiltIns(fieldsText: Buffer, hasDistance: boolean): Buffer {
  if (!fieldsText.includes(underscore) || !fieldsText.includes('"_')) return fieldsText;
  const names = hasDistance ? [...builtInFields, '_distance'] : builtInFields;
  if (!names.some((name) => fieldsText.includes(`"${name}":`))) return fieldsText;
  const fields = JSON.parse(fieldsText.toString()) as JsonObject;
  for (const name of names) delete fields[name];
  return Buffer.from(JSON.stringify(fields));
}

/** The cost of reading a byte of JSON text, in units of the work budget. */
const unitsPerByte = 5;

const noFields = Buffer.from('{}');

/** The fields with one of the names, in the order of the item. */
function chosenFields(fieldsText: Buffer, names: ReadonlySet<string>): Buffer {
  if (names.size === 0) return noFields;
  workBudget.units += unitsPerByte * fieldsText.length;
  const fields = JSON.parse(fieldsText.toString()) as JsonObject;
  const members: string[] = [];
  for (const name of Object.keys(fields)) {
    if (names.has(name)) members.push(`${JSON.stringify(name)}:${JSON.stringify(getOwn(fields, name))}`);
  }
  return Buffer.from(`{${members.join()}}`);
}

export interface PageRows {
  readonly texts: readonly RowText[];
  /** Total length of the texts in bytes. */
  readonly bytes: number;
}

/** The cost of writing a row, in units of the work budget. A byte of its text costs a tenth of a unit. */
const unitsPerRow = 100;
const bytesPerUnit = 10;

/** @returns null if the rows, or the values of their places, are too large */
export function* pageRows(
  rows: readonly ShownRow[],
  form: RowForm,
  bytesMax: number,
): Steps<PageRows | null> {
  const texts: RowText[] = [];
  let bytes = 0;
  let placeUnits = 0;
  for (const row of rows) {
    const text = rowText(row, form);
    texts.push(text);
    bytes += text.bytes;
    placeUnits += placeUnitsOf(row);
    workBudget.units += unitsPerRow + Math.trunc(text.bytes / bytesPerUnit);
    if (bytes > bytesMax || placeUnits > queryPageUnitsMax) return null;
    if (workBudget.isOver()) yield;
  }
  return { texts, bytes };
}

/** UTF-16 units of the values of a row's place. */
function placeUnitsOf({ place }: ShownRow): number {
  let units = 0;
  for (const value of place.values) if (typeof value === 'string') units += value.length;
  return units;
}

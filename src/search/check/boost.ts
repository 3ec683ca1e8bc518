import type { Json } from '../../contract/json.ts';
import { boostShape } from '../../contract/shapes-query.ts';
import type { CheckedBoost } from '../checked-query.ts';
import { parseDateText } from '../fields/date-text.ts';
import { type FieldMeaning, type FieldTable, meaningOf } from '../fields/field-table.ts';
import { isNumeric } from '../fields/field-type.ts';
import { isSent, readerOf } from './members.ts';
import { type QueryErrors, quote } from './query-errors.ts';

const readBoost = readerOf(boostShape, 'ignored');

/** Checks the boosts of a search (docs/reference/indexes-and-queries.md "Boosts"). */
export function checkBoost(boosts: readonly Json[], table: FieldTable, errors: QueryErrors): CheckedBoost[] {
  return boosts.flatMap((one, at) => checkOne(one, `search.boost[${at}]`, table, errors) ?? []);
}

function checkOne(sent: Json, place: string, table: FieldTable, errors: QueryErrors): CheckedBoost | null {
  const boost = readBoost(sent, place, errors);
  if (boost === null) return null;
  const { field, weight, halfLife, origin } = boost;
  const originMs = checkOrigin(origin ?? null, `${place}.origin`, errors);
  if (typeof field !== 'string') return null;
  checkField(meaningOf(table, field), field, sent, place, errors);
  return { field, weight: weight ?? 1, halfLifeDays: halfLife ?? null, originMs };
}

function checkField(
  meaning: FieldMeaning,
  field: string,
  boost: Json,
  place: string,
  errors: QueryErrors,
): void {
  if (meaning.kind === 'unknown') errors.add(`${place}.field`, `the index has no field ${quote(field)}`);
  if (meaning.kind === 'unknown' || meaning.kind === 'absent') return;
  const traits = meaning.kind === 'field' ? meaning.traits : null;
  const isList = traits?.shape === 'scalar' || traits?.shape === 'list';
  if (traits === null || !isList || !isNumeric(traits.kind)) {
    const type = meaning.kind === 'field' ? `of type ${meaning.type}` : 'not a field of an item';
    errors.add(`${place}.field`, `a boost needs a field of numbers or dates; ${quote(field)} is ${type}`);
    return;
  }
  const isDate = traits.kind === 'date';
  if (isDate && !isSent(boost, 'halfLife')) {
    errors.add(
      `${place}.halfLife`,
      'is missing; a field of dates needs the days after which a boost is half',
    );
  }
  for (const name of ['halfLife', 'origin']) {
    if (!isDate && isSent(boost, name))
      errors.add(`${place}.${name}`, `is for fields of dates; ${quote(field)} has numbers`);
  }
}

function checkOrigin(origin: string | null, place: string, errors: QueryErrors): number | null {
  if (origin === null) return null;
  const ms = parseDateText(origin);
  if (ms === null) errors.add(place, `must be a date as ISO 8601 text, not ${quote(origin)}`);
  return ms;
}

import type { Json, JsonObject } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import { searchBoostsMax, searchBoostWeightMax } from '../../contract/limits.ts';
import type { CheckedBoost } from '../checked-query.ts';
import { parseDateText } from '../columns/date-text.ts';
import { type FieldMeaning, type FieldTable, meaningOf } from '../fields/field-table.ts';
import { isNumeric } from '../fields/field-type.ts';
import { type Mistakes, quote } from './mistakes.ts';

/** The boosts of a search (docs/reference/indexes-and-queries.md "Boosts"). */
export function checkBoost(boost: Json, table: FieldTable, mistakes: Mistakes): CheckedBoost[] {
  if (boost === null) return [];
  if (!Array.isArray(boost)) {
    mistakes.add('search.boost', `must be an array of {"field", "weight"}, not ${quote(boost)}`);
    return [];
  }
  if (boost.length > searchBoostsMax) {
    mistakes.add('search.boost', `${boost.length} boosts; at most ${searchBoostsMax} are allowed`);
    return [];
  }
  return boost.flatMap((one, at) => checkOne(one, `search.boost[${at}]`, table, mistakes) ?? []);
}

function checkOne(boost: Json, place: string, table: FieldTable, mistakes: Mistakes): CheckedBoost | null {
  if (!isJsonObject(boost)) {
    mistakes.add(place, `must be {"field", "weight"}, not ${quote(boost)}`);
    return null;
  }
  const field = getOwn(boost, 'field') ?? null;
  const weight = checkWeight(getOwn(boost, 'weight') ?? null, `${place}.weight`, mistakes);
  const halfLifeDays = checkHalfLife(getOwn(boost, 'halfLife') ?? null, `${place}.halfLife`, mistakes);
  const originMs = checkOrigin(getOwn(boost, 'origin') ?? null, `${place}.origin`, mistakes);
  if (typeof field !== 'string') {
    mistakes.add(`${place}.field`, field === null ? 'is missing' : `must be a string, not ${quote(field)}`);
    return null;
  }
  checkField(meaningOf(table, field), field, boost, place, mistakes);
  return { field, weight, halfLifeDays, originMs };
}

function checkField(
  meaning: FieldMeaning,
  field: string,
  boost: JsonObject,
  place: string,
  mistakes: Mistakes,
): void {
  if (meaning.kind === 'unknown') mistakes.add(`${place}.field`, `the index has no field ${quote(field)}`);
  if (meaning.kind === 'unknown' || meaning.kind === 'absent') return;
  const traits = meaning.kind === 'field' ? meaning.traits : null;
  const isList = traits?.shape === 'scalar' || traits?.shape === 'list';
  if (traits === null || !isList || !isNumeric(traits.kind)) {
    const type = meaning.kind === 'field' ? `of type ${meaning.type}` : 'no field of an item';
    mistakes.add(`${place}.field`, `a boost needs a field of numbers or dates; ${quote(field)} is ${type}`);
    return;
  }
  const isDate = traits.kind === 'date';
  const has = (name: string) => (getOwn(boost, name) ?? null) !== null;
  if (isDate && !has('halfLife')) {
    mistakes.add(
      `${place}.halfLife`,
      'is missing; a field of dates needs the days after which a boost is half',
    );
  }
  for (const name of ['halfLife', 'origin']) {
    if (!isDate && has(name))
      mistakes.add(`${place}.${name}`, `is for fields of dates; ${quote(field)} has numbers`);
  }
}

function checkWeight(weight: Json, place: string, mistakes: Mistakes): number {
  if (typeof weight === 'number' && weight > 0 && weight <= searchBoostWeightMax) return weight;
  const wrong = `must be a number over 0, up to ${searchBoostWeightMax}, not ${quote(weight)}`;
  mistakes.add(place, weight === null ? 'is missing' : wrong);
  return 1;
}

function checkHalfLife(days: Json, place: string, mistakes: Mistakes): number | null {
  if (days === null) return null;
  if (typeof days === 'number' && days > 0 && Number.isFinite(days)) return days;
  mistakes.add(place, `must be a number of days over 0, not ${quote(days)}`);
  return null;
}

function checkOrigin(origin: Json, place: string, mistakes: Mistakes): number | null {
  if (origin === null) return null;
  const ms = typeof origin === 'string' ? parseDateText(origin) : null;
  if (ms === null) mistakes.add(place, `must be a date as ISO 8601 text, not ${quote(origin)}`);
  return ms;
}

import { createHash } from 'node:crypto';
import type { Cursor } from '../../contract/config-cursor.ts';
import { canonicalJson, isJsonObject, type Json } from '../../contract/json.ts';
import { lookupResultsMax } from '../../contract/limits.ts';
import { parseJsonNumber } from '../../lib/json-number.ts';
import { entityValue } from '../build/entity-value.ts';
import {
  type FilterNode,
  isOperator,
  type PropertyMatchName,
  propertyMatches,
  QueryValues,
} from '../filter/node.ts';
import { FilterParser } from '../filter/parser.ts';
import type { DefinitionContext } from '../language/definition.ts';
import { compileField, compileRequiredField, rejectLongText } from '../language/expression.ts';
import { parseAt, Reader } from '../language/reader.ts';
import type { Frame, Scope } from '../language/scope.ts';
import { type PropertyPath, propertyPaths } from '../lookup-layout.ts';
import { filterLookupShape, matchLookupShape, orderByShape } from '../shapes.ts';
import { CompiledLookup, type Order } from './compiled-lookup.ts';

const nothingMatches: FilterNode = { kind: 'or', nodes: [] };

/**
 * Compiles either form of `$lookup` (docs/reference/mapping-language.md "Lookups") to a function that returns the matched
 * entities.
 */
export function compileLookup(at: Cursor, context: DefinitionContext): (frame: Frame) => readonly Json[] {
  const isFilter = !at.member('filter').isAbsent;
  if (at.object(isFilter ? filterLookupShape : matchLookupShape) === null) return () => [];
  const values = new QueryValues();
  const condition = isFilter
    ? compileFilter(at.member('filter'), context.scope, values)
    : compileMatch(at, context.scope, values);
  const lookup = new CompiledLookup({
    place: context.placeOf(at),
    digest: createHash('sha256')
      .update(canonicalJson(at.json ?? null))
      .digest('hex')
      .slice(0, 32),
    sourceGroup: readSource(at.member('source')),
    condition,
    written: isFilter ? writtenText(at.member('filter')) : writtenMatch(at),
    order: readOrder(at.member('orderBy')),
    values,
    top: compileTop(at.member('top'), context.scope),
  });
  context.needs.lookupPlans.push(lookup.plan);
  return (frame) => frame.build.lookup(lookup.query(frame)).map(entityValue);
}

function writtenText({ json }: Cursor): string {
  return typeof json === 'string' ? json : JSON.stringify(json ?? null);
}

/** `type eq city and countryId equals {originId}` */
function writtenMatch(at: Cursor): string {
  const [property, operator, value] = ['sourceEntityProperty', 'operator', 'matchValue'].map((name) =>
    writtenText(at.member(name)),
  );
  const type = at.member('sourceEntityType');
  const ofType = type.isAbsent || type.json === '*' ? '' : `type eq ${writtenText(type)} and `;
  return `${ofType}${property} ${operator} ${value}`;
}

function compileFilter(at: Cursor, scope: Scope, values: QueryValues): FilterNode {
  const text = at.text("Write a filter: `type eq 'article' and properties.tag eq {p.tag}`.");
  if (text === null) return nothingMatches;
  const parse = () => {
    rejectLongText(text);
    return new FilterParser(new Reader(text), scope, values).parseWhole();
  };
  return parseAt(at, parse) ?? nothingMatches;
}

function compileMatch(at: Cursor, scope: Scope, values: QueryValues): FilterNode {
  const property = at.member('sourceEntityProperty').text('Name the property that is compared: `category`.');
  const matchValue = compileRequiredField(at.member('matchValue'), scope);
  const operator = readOperator(at.member('operator'));
  const match: FilterNode = {
    kind: 'match',
    operator,
    paths: propertyPaths(property ?? ''),
    operand: values.add(matchValue.value),
  };
  const type = compileType(at.member('sourceEntityType'), scope, values);
  return type === null ? match : { kind: 'and', nodes: [type, match] };
}

function readOperator(at: Cursor): PropertyMatchName {
  if (isOperator(propertyMatches, at.json)) return at.json;
  at.expected('`equals` or `contains`', 'Write one of them, or give the lookup a `filter` instead.');
  return 'equals';
}

function compileType(at: Cursor, scope: Scope, values: QueryValues): FilterNode | null {
  if (at.isAbsent) return null;
  const { constant, text } = compileField(at, scope);
  if (constant === '*') return null;
  if (constant === null) return { kind: 'ofType', operand: values.add(text) };
  const path = { variable: null, steps: ['type'] };
  return { kind: 'compare', path, operator: 'eq', operand: values.addConstant(constant) };
}

function readOrder(at: Cursor): Order | null {
  if (at.isAbsent || at.object(orderByShape) === null) return null;
  const property = at.member('property').text('Name the property to order by: `title`.');
  const sort = at.member('sort');
  if (!sort.isAbsent && sort.json !== 'asc' && sort.json !== 'desc') {
    sort.expected('`asc` or `desc`', 'Write one of them.');
  }
  return { paths: orderPaths(property ?? ''), sort: sort.json === 'desc' ? 'desc' : 'asc' };
}

const holeOfItem = /^\{item\.([^{}]+)\}$/;

/** Accepts `{item.p.date}` for `p.date`, because the items of an array refer to a result as `item`. */
function orderPaths(property: string): readonly PropertyPath[] {
  return propertyPaths(holeOfItem.exec(property)?.[1] ?? property);
}

function readSource(at: Cursor): string | null {
  if (at.isAbsent) return null;
  const text = at.text('Name a source group.');
  if (text === null || !/[{}]/.test(text)) return text;
  at.issue('the source group of a lookup cannot be an expression', 'Write its alias.');
  return null;
}

/** The requested number of results; null means the maximum. */
function compileTop(at: Cursor, scope: Scope): ((frame: Frame) => number | null) | null {
  if (at.isAbsent) return null;
  if (isJsonObject(at.json) && !Object.hasOwn(at.json, '$exp'))
    at.expected('a number or an expression', 'Write 10.');
  const { constant, value } = compileField(at, scope);
  if (constant !== null && readCount(constant) === null) {
    at.expected('a number, 0 or more', 'Write the maximum number of results, such as 10.');
  }
  return (frame) => readCount(value(frame));
}

function readCount(value: Json): number | null {
  const number = typeof value === 'string' ? parseJsonNumber(value) : value;
  if (typeof number !== 'number' || !(number >= 0)) return null;
  return Math.min(Math.floor(number), lookupResultsMax + 1);
}

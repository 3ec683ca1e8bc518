import { createHash } from 'node:crypto';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { quote } from '../../lib/message-text.ts';
import type { LookupRequest } from '../build/code-call.ts';
import { isEntityField } from '../build/entity-value.ts';
import { type FilterNode, QueryValues } from '../filter/node.ts';
import { FilterParser } from '../filter/parser.ts';
import { rejectLongText } from '../language/expression.ts';
import { Reader } from '../language/reader.ts';
import { CompiledLookup, type Order } from '../lookup/compiled-lookup.ts';
import { propertyPaths } from '../lookup-layout.ts';

/** Bounds the cache, because filters contain values of entities. */
const compiledKept = 2_000;

const compiled = new BoundedCache<string, CompiledLookup>({ entriesMax: compiledKept });

/** Identifies a request within a build: equal requests have equal texts. */
export function lookupText(request: LookupRequest): string {
  const { filter, childrenOf, sourceGroup, limit, orderBy } = request;
  return JSON.stringify([filter, childrenOf, sourceGroup, limit, orderBy?.propertyName, orderBy?.direction]);
}

/** Compiles a lookup that code requested like one of a JSON schema. @throws SchemaSyntaxError for its filter */
export function codeLookup(request: LookupRequest): CompiledLookup {
  return compiled.getOrCreate(lookupText(request), () => compile(request));
}

function compile(request: LookupRequest): CompiledLookup {
  const { filter, childrenOf, sourceGroup, limit, orderBy } = request;
  const values = new QueryValues();
  const conditions = [
    ...(childrenOf === null ? [] : [isChildOf(childrenOf, values)]),
    ...(filter === null ? [] : [parseFilter(filter, values)]),
  ];
  const [only, ...others] = conditions;
  return new CompiledLookup({
    place: `lookup(${quote(filter ?? 'children')})`,
    digest: createHash('sha256').update(lookupText(request)).digest('hex').slice(0, 32),
    sourceGroup,
    condition: only !== undefined && others.length === 0 ? only : { kind: 'and', nodes: conditions },
    written: filter ?? `originParentId eq ${quote(childrenOf ?? '')}`,
    order: orderBy === null ? null : orderOf(orderBy),
    values,
    top: limit === null ? null : () => limit,
  });
}

/** @throws SchemaSyntaxError */
export function parseFilter(filter: string, values = new QueryValues()): FilterNode {
  rejectLongText(filter);
  return new FilterParser(new Reader(filter), null, values).parseWhole();
}

function isChildOf(originId: string, values: QueryValues): FilterNode {
  const path = { variable: null, steps: ['originParentId'] };
  return { kind: 'compare', path, operator: 'eq', operand: values.addConstant(originId) };
}

function orderOf({ propertyName, direction }: NonNullable<LookupRequest['orderBy']>): Order {
  const isOwnField = isEntityField(propertyName) || propertyName === 'updatedAt';
  return { paths: isOwnField ? [[propertyName]] : propertyPaths(propertyName), sort: direction };
}

/** The builders that schema code awaits or returns: lookups and references. */
import { lookupsPerBuildMax } from '../../contract/limits.ts';
import type { LookupRequest } from '../../schemas/build/code-call.ts';
import { lookupText, parseFilter } from '../../schemas/code/code-lookup.ts';
import { freezeFunctions } from './intrinsics.ts';
import type { Run } from './run.ts';

type Draft = { -readonly [Key in keyof LookupRequest]: LookupRequest[Key] };

/** A placeholder in a result for something that only the owner process can resolve. */
export type Placeholder =
  | { readonly kind: 'reference'; readonly alias: string; readonly selection: Selection }
  | { readonly kind: 'partial'; readonly alias: string; readonly input: unknown };

export interface Selection {
  readonly request: Draft;
  what:
    | { readonly kind: 'nothing' }
    /** A null id results in null. */
    | { readonly kind: 'one'; readonly originId: string | null }
    | { readonly kind: 'some'; readonly originIds: readonly (string | null)[] }
    | { readonly kind: 'found' };
  isFirst: boolean;
}

const placeholders = new WeakMap<object, Placeholder>();

export function placeholderOf(value: object): Placeholder | undefined {
  return placeholders.get(value);
}

export function placeholder(content: Placeholder, methods: object = {}): object {
  // Frozen, so that code cannot change a result later.
  const made = freezeFunctions(methods);
  placeholders.set(made, content);
  return made;
}

/**
 * The text as UTF-8 preserves it, in which names and ids are stored and requested: code that shortens a text can leave half of
 * a character.
 */
export function storable(text: string): string {
  return text.toWellFormed();
}

/** The origin id in a form that code may use; null if it refers to no entity. */
export function originIdOf(id: unknown, where: string): string | null {
  if (id === null || id === undefined || id === '') return null;
  if (typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint') return storable(String(id));
  throw new TypeError(`${where} takes an originId: a string, a number or null`);
}

function originIdsOf(ids: unknown, where: string): (string | null)[] {
  if (ids === null || ids === undefined) return [];
  if (!Array.isArray(ids)) throw new TypeError(`${where} takes a list of originIds`);
  // Do not call the array's own methods, which code may have replaced.
  return Array.from(ids, (id) => originIdOf(id, where));
}

export function textOf(value: unknown, where: string): string {
  if (typeof value === 'string' && value !== '') return storable(value);
  throw new TypeError(`${where} takes a string`);
}

/** @throws SchemaSyntaxError at the call, so that the message has its line */
function filterOf(filter: unknown, where: string): string {
  const text = textOf(filter, where);
  parseFilter(text);
  return text;
}

const emptyRequest: LookupRequest = {
  filter: null,
  childrenOf: null,
  sourceGroup: null,
  limit: null,
  orderBy: null,
};

/** `limit`, `orderBy` and `sourceGroup`, which restrict a request; each returns `self()`. */
function narrowing(request: Draft, self: () => object): Record<string, (value: unknown) => object> {
  return {
    limit(count) {
      if (typeof count !== 'number' || !(count >= 0)) throw new TypeError('limit takes a number, 0 or more');
      request.limit = Math.min(Math.floor(count), Number.MAX_SAFE_INTEGER);
      return self();
    },
    orderBy(order) {
      const { propertyName, direction } = (order ?? {}) as { propertyName?: unknown; direction?: unknown };
      if (direction !== undefined && direction !== 'asc' && direction !== 'desc') {
        throw new TypeError("orderBy takes { propertyName, direction: 'asc' | 'desc' }");
      }
      const name = textOf(propertyName, 'orderBy({ propertyName })');
      request.orderBy = { propertyName: name, direction: direction ?? 'asc' };
      return self();
    },
    sourceGroup(alias) {
      request.sourceGroup = textOf(alias, 'sourceGroup(alias)');
      return self();
    },
  };
}

/** `context.lookup(filter, options)`. */
export function lookupBuilder(run: Run, filter: unknown, options: unknown): object {
  const request: Draft = { ...emptyRequest, filter: filterOf(filter, 'lookup(filter)') };
  const withoutProperties =
    (options as { excludeProperties?: unknown } | undefined)?.excludeProperties === true;
  const answer = () => answerOf(run, request, withoutProperties);
  const builder: object = freezeFunctions({
    ...narrowing(request, () => builder),
    toPromise: answer,
    // biome-ignore lint/suspicious/noThenProperty: a lookup may be awaited directly.
    then: (onFulfilled: () => unknown, onRejected: () => unknown) => answer().then(onFulfilled, onRejected),
  });
  return builder;
}

/** A promise that never settles if the lookup has no result yet: the build is then repeated with the result. */
function answerOf(run: Run, request: LookupRequest, withoutProperties: boolean): Promise<unknown> {
  const text = lookupText(request);
  const found = run.answers[text];
  if (!Array.isArray(found)) {
    if (run.asks.size + run.answered >= lookupsPerBuildMax) {
      throw new RangeError(`the schema makes more than ${lookupsPerBuildMax} lookups`);
    }
    run.asks.set(text, { ...request });
    return new Promise(() => {});
  }
  const entities = found.map((entity) => {
    const seen: object = { ...(entity as object) };
    if (withoutProperties) delete (seen as { properties?: unknown }).properties;
    run.entities.add(seen);
    return seen;
  });
  return Promise.resolve(entities);
}

/** `context.reference(alias)`. */
export function referenceBuilder(run: Run, alias: unknown): object | null {
  if (alias === null || alias === undefined || alias === '') return null;
  const name = textOf(alias, 'reference(alias)');
  const own = run.entity;
  const selection: Selection = { request: { ...emptyRequest }, what: { kind: 'nothing' }, isFirst: false };
  const { request } = selection;
  const select = (what: Selection['what']) => {
    selection.what = what;
    return builder;
  };
  const builder: object = placeholder(
    { kind: 'reference', alias: name, selection },
    {
      ...narrowing(request, () => builder),
      byOriginId: (id: unknown) => select({ kind: 'one', originId: originIdOf(id, 'byOriginId(id)') }),
      byOriginIds: (ids: unknown) =>
        select({ kind: 'some', originIds: originIdsOf(ids, 'byOriginIds([…])') }),
      children(filter: unknown) {
        request.childrenOf = own?.originId ?? null;
        if (filter !== undefined && filter !== null) request.filter = filterOf(filter, 'children(filter)');
        return select(own === null ? { kind: 'some', originIds: [] } : { kind: 'found' });
      },
      filter(filter: unknown) {
        request.filter = filterOf(filter, 'filter(filter)');
        return select({ kind: 'found' });
      },
      parent: () => select({ kind: 'one', originId: own?.originParentId || null }),
      self: () => select({ kind: 'one', originId: own?.originId ?? null }),
      first() {
        selection.isFirst = true;
        return builder;
      },
    },
  );
  return builder;
}

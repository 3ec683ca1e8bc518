/** The `context` object of each function of a schema (docs/guide/writing-schemas.md). */
import { partialDepthMax } from '../../contract/limits.ts';
import { lookupBuilder, originIdOf, placeholder, referenceBuilder, storable, textOf } from './builders.ts';
import { freezeFunctions } from './intrinsics.ts';
import type { Run } from './run.ts';

type Context = Readonly<Record<string, (...given: unknown[]) => unknown>>;

export function routesContext(run: Run): Context {
  return freezeFunctions({
    url(url?: unknown) {
      const claim = { url: typeof url === 'string' ? storable(url) : '', redirects: null as string[] | null };
      if (claim.url !== '') run.urls.push(claim);
      return freezeFunctions({
        redirects(urls?: unknown) {
          if (urls !== undefined && urls !== null && !Array.isArray(urls)) {
            throw new TypeError('redirects takes a list of URLs');
          }
          const texts = Array.from<unknown>(urls ?? []).filter((text) => typeof text === 'string');
          claim.redirects = texts.map(storable);
        },
      });
    },
    handle(handle?: unknown) {
      if (handle === null || handle === undefined || handle === '') return;
      if (typeof handle !== 'string' && typeof handle !== 'number') {
        throw new TypeError('handle takes a string, a number or null');
      }
      run.handles.push(storable(String(handle)));
    },
    lookup: (filter, options) => lookupBuilder(run, filter, options),
  });
}

/** @param depth number of enclosing partials */
export function propertiesContext(run: Run, depth = 0): Context {
  return freezeFunctions({
    lookup: (filter, options) => lookupBuilder(run, filter, options),
    reference: (alias) => referenceBuilder(run, alias),
    partial: (alias, input) => partial(run, alias, input, depth),
  });
}

function partial(run: Run, alias: unknown, input: unknown, depth: number): unknown {
  if (typeof alias !== 'string' || alias === '') {
    run.report('partialUnknown', 'the alias of a partial is empty');
    return null;
  }
  if (depth >= partialDepthMax) {
    run.report(
      'limitReached',
      `partials are nested more than ${partialDepthMax} levels deep; deeper ones are null`,
    );
    return null;
  }
  const module = run.moduleOf(alias);
  if (module === null) return placeholder({ kind: 'partial', alias, input });
  const { properties } = module;
  if (typeof properties !== 'function')
    throw new TypeError(`the partial ${alias} has no function properties`);
  return Reflect.apply(properties, module, [input, propertiesContext(run, depth + 1)]);
}

export function actionsContext(run: Run): Context {
  return freezeFunctions({
    reprocess(alias?: unknown) {
      const name = textOf(alias, 'reprocess(alias)');
      const action = { alias: name, sourceGroup: null as string | null, originId: null as string | null };
      const builder: object = freezeFunctions({
        byOriginId(id: unknown) {
          action.originId = originIdOf(id, 'byOriginId(id)');
          run.actions.push(action);
          return builder;
        },
        parent() {
          action.originId = run.entity?.originParentId || null;
          run.actions.push(action);
          return builder;
        },
        // No-ops: views that these select are rebuilt automatically if they could differ.
        bySchema: () => builder,
        filter: () => builder,
        limit: () => builder,
        orderBy: () => builder,
        sourceGroup(group: unknown) {
          action.sourceGroup = textOf(group, 'sourceGroup(alias)');
          return builder;
        },
      });
      return builder;
    },
    destination(alias?: unknown) {
      const destination = { alias: textOf(alias, 'destination(alias)'), options: {} as unknown };
      run.destinations.push(destination);
      return freezeFunctions({
        options(options: unknown) {
          destination.options = options ?? {};
        },
      });
    },
  });
}

/** @param add called with each source group and its entity types */
export function triggersContext(add: (sourceGroup: string, types: readonly string[]) => void): Context {
  return freezeFunctions({
    triggers(sourceGroup: unknown, types: unknown) {
      const group = textOf(sourceGroup, 'triggers(sourceGroup, [types])');
      const list = typeof types === 'string' ? [types] : types;
      if (!Array.isArray(list))
        throw new TypeError("triggers takes a source group and a list: triggers('cms', ['page'])");
      add(
        group,
        Array.from(list, (type) => textOf(type, "triggers('cms', ['page'])")),
      );
    },
  });
}

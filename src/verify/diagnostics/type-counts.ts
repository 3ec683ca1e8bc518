/** Counts the entities of each type, to find types without a schema and schemas without entities. */

import { buildersFor } from '../../actors/batch/builder.ts';
import type { Source, Tenant } from '../../config/configuration.ts';
import { parseDocumentPath } from '../../config/document-path.ts';
import { formatEntityId } from '../../contract/ids.ts';
import type { PathObserver, PlaceInFile } from '../../schemas/language/scope.ts';
import { countTypes, listOriginIds } from '../../store/entities/directory.ts';
import type { Store } from '../../store/store.ts';
import type { LocatedDiagnostic } from './located-diagnostic.ts';

interface TypeCount {
  readonly tenant: Tenant;
  readonly source: Source;
  readonly type: string;
  /** Id of the first entity. */
  readonly originId: string;
  count: number;
}

export class TypeCounts {
  readonly #counts = new Map<string, TypeCount>();

  /** The counts of a tenant's types, from the directory. @throws StoreUnavailableError */
  static async read(store: Store, tenant: Tenant): Promise<TypeCounts> {
    const counts = new TypeCounts();
    for (const source of tenant.sources.values()) {
      const scope = { tenant: tenant.alias, sourceId: source.id };
      for (const [type, count] of await countTypes(store, scope)) {
        const [example = ''] = await listOriginIds(store, scope, { type, after: null, limit: 1 });
        counts.add(tenant, source, type, example, count);
      }
    }
    return counts;
  }

  /** @param originId of one of these entities */
  add(tenant: Tenant, source: Source, type: string, originId: string, count = 1): void {
    const key = keyOf(tenant.alias, source.id, type);
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { tenant, source, type, originId, count });
    else known.count += count;
  }

  of(tenant: string, sourceId: string, type: string): number {
    return this.#counts.get(keyOf(tenant, sourceId, type))?.count ?? 0;
  }

  /** Types that trigger no schema and no index, and schemas and indexes that no entity triggers. */
  *findings(tenants: readonly Tenant[]): Iterable<LocatedDiagnostic> {
    for (const { tenant, source, type, originId, count } of this.#counts.values()) {
      if (buildersFor(tenant, source, type).length > 0) continue;
      const where = `${JSON.stringify(type)} of the source group ${JSON.stringify(source.sourceGroup)}`;
      yield {
        kind: 'typeUnused',
        tenant: tenant.alias,
        entityId: formatEntityId({ sourceId: source.id, originId }),
        message: `the type ${where} triggers no schema and no index: only lookups can find its entities`,
        count,
      };
    }
    for (const tenant of tenants) yield* this.#unusedSchemas(tenant);
  }

  *#unusedSchemas(tenant: Tenant): Iterable<LocatedDiagnostic> {
    const kinds = [
      ['schema', tenant.schemas],
      ['index', tenant.indexes],
    ] as const;
    for (const [what, schemas] of kinds) {
      for (const { alias, triggers } of schemas.values()) {
        if (this.#isTriggered(tenant, triggers)) continue;
        yield {
          kind: 'schemaUnused',
          tenant: tenant.alias,
          schema: alias,
          place: '$.triggers',
          message: `no entity triggers the ${what} ${JSON.stringify(alias)}: no entity has one of its types`,
          count: 0,
        };
      }
    }
  }

  #isTriggered(tenant: Tenant, triggers: ReadonlyMap<string, ReadonlySet<string>>): boolean {
    for (const [group, types] of triggers) {
      for (const { id } of tenant.sourceGroups.get(group)?.sources ?? []) {
        for (const type of types) if (this.of(tenant.alias, id, type) > 0) return true;
      }
    }
    return false;
  }
}

function keyOf(tenant: string, sourceId: string, type: string): string {
  return JSON.stringify([tenant, sourceId, type]);
}

interface PathUse {
  readonly at: PlaceInFile;
  readonly path: string;
  readonly sourceId: string;
  readonly type: string;
  /** The first entity that the path was evaluated for. */
  readonly originId: string;
  hasValue: boolean;
}

/**
 * Finds paths in expressions that are null for every entity of a type, because a name is misspelt or no source sends it. Schemas
 * are compiled with `observe`, which then receives every value that they read.
 */
export class NullPaths {
  readonly #uses = new Map<string, PathUse>();

  readonly observe: PathObserver = (at, path, evaluate) => (frame) => {
    const value = evaluate(frame);
    const { sourceId, type, originId } = frame.build.input.entity;
    const key = `${at.file} ${at.path} ${path} ${sourceId} ${type}`;
    const known = this.#uses.get(key);
    if (known === undefined) {
      this.#uses.set(key, { at, path, sourceId, type, originId, hasValue: value !== null });
    } else if (value !== null) known.hasValue = true;
    return value;
  };

  *findings(counts: TypeCounts): Iterable<LocatedDiagnostic> {
    for (const { at, path, sourceId, type, originId, hasValue } of this.#uses.values()) {
      const parsed = parseDocumentPath(at.file);
      if (hasValue || parsed === null || !('alias' in parsed)) continue;
      const { tenant, alias } = parsed;
      const what = JSON.stringify(type);
      yield {
        kind: 'alwaysNull',
        tenant,
        ...(parsed.kind === 'partials' ? {} : { schema: alias }),
        place: parsed.kind === 'partials' ? `partials/${alias} ${at.path}` : at.path,
        entityId: formatEntityId({ sourceId, originId }),
        message: `\`${path}\` is null for every entity of the type ${what}: is the name correct, and does any source send it?`,
        count: counts.of(tenant, sourceId, type),
      };
    }
  }
}

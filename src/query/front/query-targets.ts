/** Resolves the target of a query: checks access, and finds the index and its current fields. */
import type { ClientPrincipal } from '../../config/configuration.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { quote } from '../../lib/message-text.ts';
import type { QueryRules } from '../../search/check/query.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import type { ScopedIndex } from '../../store/derived/items.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import { indexName } from '../../store/keys.ts';
import type { EnvironmentScope } from '../../store/scopes.ts';
import { autoDefinition } from '../known-index-fields.ts';
import type { BadOutcome, QueryTarget } from '../query-service.ts';

/** An index, and the rules for its queries. */
export interface ResolvedTarget extends ScopedIndex, QueryRules {
  /** `AutoFields.decisions`; 0 for an index. */
  readonly decisions: number;
}

export type TargetResolution = { readonly ok: true; readonly target: ResolvedTarget } | BadOutcome;

interface ReadFields {
  readonly commits: readonly number[];
  readonly fields: ReadonlyMap<string, FieldType> | null;
}

const forbidden: BadOutcome = { ok: false, status: 403, errors: ['Forbidden'] };

/** Bounds the cache of fields, because requests may name any type. */
const typesKept = 1000;

export class Targets {
  readonly #read = new BoundedCache<string, ReadFields>({ entriesMax: typesKept });

  constructor(private readonly autoFields: AutoFields) {}

  /**
   * @param commits from `Progress`. While it is the same list object, no item or field has become visible
   * @returns a promise if fields may have to be read; it can reject with StoreUnavailableError
   */
  resolve(
    principal: ClientPrincipal,
    target: QueryTarget,
    commits: readonly number[],
  ): TargetResolution | Promise<TargetResolution> {
    if (!mayAsk(principal, target)) return forbidden;
    const scope = { tenant: principal.tenant.alias, environmentId: principal.environment.id };
    return target.kind === 'index'
      ? resolveIndex(principal, scope, target.alias)
      : this.#resolveAuto(principal, scope, target, commits);
  }

  async #resolveAuto(
    { tenant, environment }: ClientPrincipal,
    scope: EnvironmentScope,
    { sourceGroup, type }: Extract<QueryTarget, { kind: 'auto' }>,
    commits: readonly number[],
  ): Promise<TargetResolution> {
    if (!tenant.sourceGroups.has(sourceGroup)) {
      return unknown(`No source group has the alias ${quote(sourceGroup)}`);
    }
    const definition = autoDefinition(tenant, environment.id, sourceGroup, type);
    if (definition?.kind !== 'auto') {
      return unknown(`The source group ${quote(sourceGroup)} is not auto-indexed in this environment`);
    }
    const fields = await this.#fields(definition.tenant, definition.sourceId, type, commits);
    if (fields === null) {
      return unknown(`The source group ${quote(sourceGroup)} has no entities of the type ${quote(type)}`);
    }
    const decisions = this.autoFields.decisions(definition.tenant, definition.sourceId, type);
    const index = indexName.auto(sourceGroup, type);
    const target = { scope, index, fields, isOpen: true, isSchemaAlias: null, decisions };
    return { ok: true, target };
  }

  async #fields(
    tenant: string,
    sourceId: string,
    type: string,
    commits: readonly number[],
  ): Promise<ReadonlyMap<string, FieldType> | null> {
    const key = `${tenant}:${sourceId}:${type}`;
    const read = this.#read.get(key);
    if (read !== undefined && read.commits === commits) return read.fields;
    const fields = await this.autoFields.read(tenant, sourceId, type);
    this.#read.set(key, { commits, fields });
    return fields;
  }
}

function mayAsk({ indexes }: ClientPrincipal, target: QueryTarget): boolean {
  return target.kind === 'index'
    ? indexes.allowsIndex(target.alias)
    : indexes.allowsType(target.sourceGroup, target.type);
}

function unknown(message: string): BadOutcome {
  return { ok: false, status: 404, errors: [message] };
}

function resolveIndex({ tenant }: ClientPrincipal, scope: EnvironmentScope, alias: string): TargetResolution {
  const schema = tenant.indexes.get(alias);
  if (schema === undefined) return unknown(`No index has the alias ${quote(alias)}`);
  const index = indexName.schema(alias);
  const { fields, collations, texts } = schema;
  const isSchemaAlias = (view: string) => tenant.schemas.has(view);
  return {
    ok: true,
    target: {
      scope,
      index,
      fields,
      isOpen: false,
      collations,
      rules: texts.rules,
      isSchemaAlias,
      decisions: 0,
    },
  };
}

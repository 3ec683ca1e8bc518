import assert from 'node:assert/strict';
import { Cursor, type Findings } from '../../../src/contract/config-cursor.ts';
import type { ConfigIssue, Diagnostic } from '../../../src/contract/diagnostic.ts';
import type { StoredEntity } from '../../../src/contract/entity.ts';
import { formatViewId } from '../../../src/contract/ids.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { finish, runSync } from '../../../src/lib/cooperative-yield.ts';
import { Build } from '../../../src/schemas/build/build.ts';
import type { BuildInput } from '../../../src/schemas/build/build-input.ts';
import type { ReferencePiece, ViewBody } from '../../../src/schemas/build/build-outcome.ts';
import { compileSchemas } from '../../../src/schemas/compile.ts';
import { Frame } from '../../../src/schemas/language/scope.ts';
import {
  entriesOf,
  type LookupCandidate,
  type LookupLayout,
  type LookupQuery,
  layoutOf,
  project,
} from '../../../src/schemas/lookup-layout.ts';
import type { CompiledSchemas, FullSchema } from '../../../src/schemas/schema.ts';

export function entityOf(properties: JsonObject, fields: Partial<StoredEntity> = {}): StoredEntity {
  return {
    sourceId: 'source-1',
    originId: 'origin-1',
    type: 'article',
    url: '/one',
    originParentId: null,
    redirects: [],
    stamp: 1,
    bornStamp: 1,
    urlStamp: 1,
    ...fields,
    properties,
  };
}

export function inputOf(entity: StoredEntity, more: Partial<BuildInput> = {}): BuildInput {
  return {
    entity,
    environmentId: 'environment-1',
    resolveSource: () => null,
    lookup: () => undefined,
    partial: () => undefined,
    code: () => undefined,
    text: (value) => JSON.stringify(value),
    ...more,
  };
}

/** A frame whose `root` is any JSON value, as in a partial. */
export function frameOver(value: Json): Frame {
  return new Frame(new Build(inputOf(entityOf({}))), value);
}

/** A frame of a full schema. */
export function frameOf(entity: StoredEntity): Frame {
  const build = new Build(inputOf(entity));
  return new Frame(build, build.root);
}

export interface SchemaTexts {
  readonly schemas?: Record<string, Json>;
  readonly partials?: Record<string, Json>;
  readonly indexes?: Record<string, Json>;
}

/** Compiles schema files and returns the result and its issues. */
export function compileWithIssues(texts: SchemaTexts): { compiled: CompiledSchemas; issues: ConfigIssue[] } {
  const findings: Findings = { issues: [], warnings: [] };
  const files = (folder: string, given: Record<string, Json> = {}) =>
    new Map(
      Object.entries(given).map(([alias, json]) => [
        alias,
        new Cursor(`${folder}/${alias}.json`, '$', json, findings),
      ]),
    );
  const sources = {
    sourceGroups: ['cms'],
    schemas: files('schemas', texts.schemas),
    partials: files('partials', texts.partials),
    indexes: files('indexes', texts.indexes),
  };
  const compiled = runSync(compileSchemas(sources));
  return { compiled, issues: findings.issues };
}

export function compileValid(texts: SchemaTexts): CompiledSchemas {
  const { compiled, issues } = compileWithIssues(texts);
  assert.deepEqual(issues, []);
  return compiled;
}

/** A full schema with these properties. */
export function schemaOf(properties: Json, more: JsonObject = {}): Json {
  return { triggers: { cms: ['article'] }, ...more, properties };
}

export interface Built {
  readonly text: string;
  readonly view: Json;
  readonly references: readonly ReferencePiece[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface World {
  readonly partials?: Record<string, Json>;
  /** The results of lookups. */
  readonly entities?: readonly StoredEntity[];
  readonly sources?: Record<string, string>;
}

/** Builds the view of `properties` for an entity; lookups are answered through index keys, as a store would. */
export function buildView(properties: Json, entity: StoredEntity, world: World = {}): Built {
  const compiled = compileValid({
    schemas: { view: schemaOf(properties) },
    ...(world.partials === undefined ? {} : { partials: world.partials }),
  });
  const schema = compiled.schemas.get('view');
  assert.ok(schema);
  return buildWith(schema, compiled, entity, world);
}

export function buildWith(
  schema: FullSchema,
  compiled: CompiledSchemas,
  entity: StoredEntity,
  world: World = {},
): Built {
  const { entities = [entity], sources = {} } = world;
  const layout = layoutOf(schema.lookupPlans);
  const known = new Map<string, readonly StoredEntity[]>();
  const input = inputOf(entity, {
    lookup: (query) => known.get(query.id),
    partial: (alias) => compiled.partials.get(alias),
    resolveSource: (group) => sources[group] ?? null,
  });
  for (;;) {
    const { body, pending, diagnostics } = finish(schema.build(input));
    for (const query of pending) known.set(query.id, answer(query, layout, entities));
    if (pending.length > 0) continue;
    const text = textOf(body);
    return { text, view: JSON.parse(text), references: body.references, diagnostics };
  }
}

/** The result of a query through the index. */
export function answer(
  query: LookupQuery,
  layout: LookupLayout,
  entities: readonly StoredEntity[],
): StoredEntity[] {
  const { originIds } = query.select(layout, candidates(query, layout, entities));
  const byId = new Map(entities.map((entity) => [entity.originId, entity]));
  return originIds.flatMap((originId) => byId.get(originId) ?? []);
}

export function candidates(
  query: LookupQuery,
  layout: LookupLayout,
  entities: readonly StoredEntity[],
): LookupCandidate[] {
  const index = new Map<string, StoredEntity[]>();
  for (const entity of entities) {
    for (const key of entriesOf(layout, entity)) index.set(key, [...(index.get(key) ?? []), entity]);
  }
  return query.keys.flatMap((key) =>
    (index.get(key) ?? []).map((entity) => ({ originId: entity.originId, values: project(layout, entity) })),
  );
}

/** The view id of the target, or the fallback. */
export function viewIdOf({ target, viewId }: ReferencePiece): string | null {
  return target === null ? viewId : formatViewId(target);
}

/** A body's JSON, with each reference as its view id in angle brackets. */
export function textOf({ texts, references }: ViewBody): string {
  return texts
    .map((text, index) => {
      const reference = references[index];
      return reference === undefined ? text : text + JSON.stringify(`<${viewIdOf(reference)}>`);
    })
    .join('');
}

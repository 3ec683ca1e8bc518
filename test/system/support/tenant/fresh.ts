/** Views recomputed with the compiled schemas from only the source entities, in one process and in memory. */

import type { Tenant } from '../../../../src/config/configuration.ts';
import type { StoredEntity } from '../../../../src/contract/entity.ts';
import type { ViewRef } from '../../../../src/contract/ids.ts';
import { finish } from '../../../../src/lib/cooperative-yield.ts';
import type { BuildInput } from '../../../../src/schemas/build/build-input.ts';
import type { ViewBody } from '../../../../src/schemas/build/build-outcome.ts';
import { entriesOf, type LookupQuery, project } from '../../../../src/schemas/lookup-layout.ts';
import { storedEntity, type World } from '../data/entities.ts';
import { Reference, type Tree } from './render.ts';

const markName = '\u0000reference';

export class FreshViews {
  readonly #indexes = new Map<string, Map<string, StoredEntity[]>>();
  readonly #trees = new Map<string, Tree | null>();

  constructor(
    private readonly tenant: Tenant,
    private readonly world: World,
  ) {}

  /** Null if the entity has no such view in that environment. */
  treeOf = (target: ViewRef): Tree | null => {
    const key = JSON.stringify([target.environmentId, target.sourceId, target.alias, target.originId]);
    const known = this.#trees.get(key);
    if (known !== undefined) return known;
    const tree = this.#build(target);
    this.#trees.set(key, tree);
    return tree;
  };

  #build({ environmentId, sourceId, originId, alias }: ViewRef): Tree | null {
    const source = this.tenant.sources.get(sourceId);
    const entity = this.world.get(sourceId)?.get(originId);
    const schema = this.tenant.schemas.get(alias);
    if (source === undefined || entity === undefined || schema === undefined) return null;
    if (!source.environments.some(({ id }) => id === environmentId)) return null;
    if (!schema.triggers.get(source.sourceGroup)?.has(entity.type)) return null;
    const known = new Map<string, readonly StoredEntity[]>();
    const input: BuildInput = {
      entity: storedEntity(sourceId, entity),
      environmentId,
      resolveSource: (group) => this.tenant.sourceIn(group, environmentId)?.id ?? null,
      lookup: (query) => known.get(query.id),
      partial: (partial) => this.tenant.partials.get(partial),
      code: () => undefined,
      text: (value) => JSON.stringify(value),
    };
    for (;;) {
      const { body, pending } = finish(schema.build(input));
      if (pending.length === 0) return treeOfBody(body);
      for (const query of pending) {
        known.set(query.id, this.#answer(query, source.sourceGroup, environmentId));
      }
    }
  }

  #answer(query: LookupQuery, ownGroup: string, environmentId: string): StoredEntity[] {
    const source = this.tenant.sourceIn(query.sourceGroup ?? ownGroup, environmentId);
    const layout = source === null ? undefined : this.tenant.lookupLayouts.get(source.id);
    if (source === null || layout === undefined) return [];
    const index = this.#indexOf(source.id);
    const candidates = query.keys
      .flatMap((key) => index.get(key) ?? [])
      .map((entity) => ({ originId: entity.originId, values: project(layout, entity) }));
    const { originIds } = query.select(layout, candidates);
    return originIds.flatMap((originId) => {
      const entity = this.world.get(source.id)?.get(originId);
      return entity === undefined ? [] : [storedEntity(source.id, entity)];
    });
  }

  #indexOf(sourceId: string): Map<string, StoredEntity[]> {
    const known = this.#indexes.get(sourceId);
    if (known !== undefined) return known;
    const index = new Map<string, StoredEntity[]>();
    this.#indexes.set(sourceId, index);
    const layout = this.tenant.lookupLayouts.get(sourceId);
    for (const entity of this.world.get(sourceId)?.values() ?? []) {
      const stored = storedEntity(sourceId, entity);
      for (const key of layout === undefined ? [] : entriesOf(layout, stored)) {
        index.set(key, [...(index.get(key) ?? []), stored]);
      }
    }
    return index;
  }
}

function treeOfBody({ texts, references }: ViewBody): Tree {
  const text = texts
    .map((piece, index) => (index < references.length ? `${piece}{"${markName}":${index}}` : piece))
    .join('');
  return JSON.parse(text.replaceAll(markName, '\\u0000reference'), (_name, value) => {
    const mark = typeof value === 'object' && value !== null ? value[markName] : undefined;
    const target = typeof mark === 'number' ? references[mark]?.target : undefined;
    if (target === null) throw new Error('a reference to what is no view id');
    return target === undefined ? value : new Reference(target);
  });
}

/** The views, items and claims that the random schemas of a tenant produce from entities. */
import type { ViewRef } from '../../../../src/contract/ids.ts';
import type { JsonObject } from '../../../../src/contract/json.ts';
import type { World } from '../data/entities.ts';
import type { Tree } from './render.ts';
import { type Piece, type Placed, property, scalarText } from './scene.ts';

export interface TenantSource {
  readonly id: string;
  readonly group: string;
  readonly environments: readonly string[];
  readonly key: string;
}

export interface RandomSchema {
  readonly triggers: Readonly<Record<string, readonly string[]>>;
  /** `own`: the URL of the entity; `made`: a URL with its originId; null: no URL. */
  readonly url: 'own' | 'made' | null;
  readonly handles: boolean;
  readonly body: Piece & { readonly json: JsonObject };
}

/** A URL or handle that a view claims; `to` is the target of a redirect. */
export interface NaiveClaim {
  readonly at: string;
  readonly to: string | null;
  readonly view: ViewRef;
}

/** Computes what the schemas of a tenant produce from entities. */
export class ExpectedTenant {
  readonly #placed = new Map<string, Placed[]>();

  constructor(
    private readonly sources: readonly TenantSource[],
    private readonly schemas: ReadonlyMap<string, RandomSchema>,
    private readonly partials: ReadonlyMap<string, Piece>,
    private readonly index: RandomSchema | null,
    private readonly world: World,
  ) {
    for (const [sourceId, entities] of world) {
      this.#placed.set(
        sourceId,
        [...entities.values()].map((entity) => ({ sourceId, entity })),
      );
    }
  }

  treeOf(target: ViewRef): Tree | null {
    const schema = this.schemas.get(target.alias);
    const placed = this.#triggering(schema, target);
    return schema === undefined || placed === null
      ? null
      : this.#compute(schema, placed, target.environmentId);
  }

  #triggering(
    schema: RandomSchema | undefined,
    { environmentId, sourceId, originId }: Omit<ViewRef, 'alias'>,
  ): Placed | null {
    const source = this.sources.find(({ id }) => id === sourceId);
    const entity = this.world.get(sourceId)?.get(originId);
    if (schema === undefined || source === undefined || entity === undefined) return null;
    if (!source.environments.includes(environmentId)) return null;
    return schema.triggers[source.group]?.includes(entity.type) ? { sourceId, entity } : null;
  }

  #compute({ body }: RandomSchema, root: Placed, environmentId: string): Tree {
    return body.compute({
      asking: root,
      environmentId,
      root,
      item: null,
      source: (group) => this.#sourceIn(group, environmentId),
      entities: (sourceId) => this.#placed.get(sourceId) ?? [],
      partial: (alias) => this.partials.get(alias) ?? null,
    });
  }

  #sourceIn(group: string, environmentId: string): string {
    const source = this.sources.find(
      (one) => one.group === group && one.environments.includes(environmentId),
    );
    if (source === undefined) throw new Error(`${group} has no source in ${environmentId}`);
    return source.id;
  }

  /** Items by source id and originId. */
  items(environmentId: string): Map<string, Tree> {
    const items = new Map<string, Tree>();
    const { index } = this;
    if (index === null) return items;
    for (const [sourceId, entities] of this.world) {
      for (const originId of entities.keys()) {
        const placed = this.#triggering(index, { environmentId, sourceId, originId });
        if (placed !== null)
          items.set(`${sourceId} ${originId}`, this.#compute(index, placed, environmentId));
      }
    }
    return items;
  }

  /** originIds of the entities of an auto-indexed type. */
  ofType(environmentId: string, group: string, type: string): string[] {
    const sourceId = this.#sourceIn(group, environmentId);
    return (this.#placed.get(sourceId) ?? [])
      .filter(({ entity }) => entity.type === type)
      .map(({ entity }) => entity.originId);
  }

  urlClaims(environmentId: string): NaiveClaim[] {
    return this.#claims(environmentId, (alias, { url }, { entity }) => {
      const page = url === 'made' ? `/${alias}/${entity.originId}` : url === 'own' ? entity.url : null;
      if (page === null) return [];
      const redirects = entity.redirects.filter((redirect) => redirect !== page);
      return [{ at: page, to: null }, ...redirects.map((at) => ({ at, to: page }))];
    });
  }

  handleClaims(environmentId: string): NaiveClaim[] {
    return this.#claims(environmentId, (alias, { handles }, placed) => {
      const name = scalarText(property(placed, 'name'));
      const texts = handles ? [name, `${alias}-${placed.entity.originId}`] : [];
      return texts.flatMap((text) => (text ? [{ at: text, to: null }] : []));
    });
  }

  #claims(
    environmentId: string,
    claimsOf: (alias: string, schema: RandomSchema, placed: Placed) => { at: string; to: string | null }[],
  ): NaiveClaim[] {
    const claims: NaiveClaim[] = [];
    for (const [alias, schema] of this.schemas) {
      for (const [sourceId, entities] of this.world) {
        for (const originId of entities.keys()) {
          const view = { environmentId, sourceId, originId, alias };
          const placed = this.#triggering(schema, view);
          if (placed === null) continue;
          claims.push(...claimsOf(alias, schema, placed).map((claim) => ({ ...claim, view })));
        }
      }
    }
    return claims;
  }
}

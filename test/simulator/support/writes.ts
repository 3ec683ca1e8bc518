/** What clients of the simulated platform write: random changes of few entities that have much to do with each other. */
import assert from 'node:assert/strict';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { StoreUnavailableError } from '../../../src/store/connection.ts';
import { acceptEntities, encodeEntity, removeEntities } from '../../../src/store/entities.ts';
import type { Store } from '../../../src/store/store.ts';
import { type SourceId, World } from '../../actors/support/world.ts';
import type { Dice } from '../../support/dice.ts';
import type { VirtualClock } from './clock.ts';
import { type TenantAlias, tenants } from './site.ts';

const entityCount = 6;
const againMs = 20;

export class Writes {
  /** The entities of each tenant as they were last acknowledged. */
  readonly worlds = new Map<TenantAlias, World>(tenants.map((tenant) => [tenant, new World()]));

  /** Tenants of which that has changed since it was emptied last. */
  readonly changed = new Set<TenantAlias>(tenants);

  constructor(
    private readonly store: Store,
    private readonly clock: VirtualClock,
    private readonly dice: Dice,
    private readonly note: (what: string) => void,
  ) {}

  /** One request, sent until it is acknowledged, as a client does. */
  async change(): Promise<void> {
    const { dice } = this;
    const tenant = dice.of<TenantAlias>(['acme', 'acme', 'acme', 'other']);
    const sourceId = dice.of<SourceId>(['src-cms', 'src-cms', 'src-shop']);
    if (dice.chance(20)) await this.#delete(tenant, sourceId, `e${dice.below(entityCount)}`);
    else await this.#save(tenant, sourceId);
  }

  async #delete(tenant: TenantAlias, sourceId: SourceId, originId: string): Promise<void> {
    this.note(`delete ${originId} of ${tenant} ${sourceId}`);
    const wasThere = this.#of(tenant, sourceId).delete(originId);
    let attempts = 0;
    await this.#insist(async () => {
      attempts += 1;
      const { removed } = await removeEntities(this.store, { tenant, sourceId, originIds: [originId] });
      // Of two attempts the first may have done it.
      if (attempts === 1) assert.deepEqual(removed, [wasThere], `deleting ${originId} tells what was there`);
    });
  }

  async #save(tenant: TenantAlias, sourceId: SourceId): Promise<void> {
    const sent = Array.from({ length: 1 + this.dice.below(3) }, () => this.#randomEntity(sourceId));
    this.note(`save ${sent.map(({ originId }) => originId)} of ${tenant} ${sourceId}`);
    const entities = sent.map(encodeEntity);
    await this.#insist(() => acceptEntities(this.store, { tenant, sourceId, force: true, entities }));
    for (const entity of sent) this.#of(tenant, sourceId).set(entity.originId, entity);
  }

  #of(tenant: TenantAlias, sourceId: SourceId): Map<string, SourceEntity> {
    const world = this.worlds.get(tenant);
    if (world === undefined) throw new Error(`there is no tenant ${tenant}`);
    this.changed.add(tenant);
    return world.of(sourceId);
  }

  async #insist(act: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await act();
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        this.note(`front: ${error}`);
        await this.clock.wait(againMs);
      }
    }
  }

  #randomEntity(sourceId: SourceId): SourceEntity {
    const { dice } = this;
    const id = () => `e${dice.below(entityCount)}`;
    const properties: JsonObject = { title: `T${dice.below(20)}`, rank: dice.below(5) };
    if (dice.chance(50)) properties.slug = `slug-${dice.below(4)}`;
    if (dice.chance(50)) properties.topic = `topic-${dice.below(2)}`;
    if (dice.chance(50)) properties.tags = [`topic-${dice.below(2)}`];
    if (sourceId !== 'src-cms') properties.page = id();
    return {
      originId: id(),
      type: sourceId === 'src-cms' ? dice.of(['page', 'page', 'page', 'note']) : 'product',
      url: dice.chance(70) ? `/u${dice.below(6)}` : null,
      originParentId: dice.chance(70) ? id() : null,
      redirects: dice.chance(30) ? [`/u${dice.below(6)}`, `/r${dice.below(3)}`] : [],
      properties,
    };
  }
}

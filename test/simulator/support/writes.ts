/**
 * The writes of the clients of the simulated platform: random changes of a few entities with many dependencies. The responses
 * must report the expected outcomes.
 */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import type { PublishTimes } from '../../../src/contract/publish-times.ts';
import { type AcceptOutcome, acceptEntities } from '../../../src/store/entities/accept.ts';
import { removeEntities } from '../../../src/store/entities/entities.ts';
import { encodeEntity } from '../../../src/store/entities/entity-record.ts';
import { StoreUnavailableError } from '../../../src/store/redis/redis-errors.ts';
import type { Store } from '../../../src/store/store.ts';
import type { VersionVector } from '../../../src/store/visibility/version.ts';
import { type SourceId, World } from '../../actors/support/world.ts';
import type { Dice } from '../../support/dice.ts';
import { ClaimAges } from './checks/claim-ages.ts';
import type { VirtualClock } from './clock.ts';
import { type TenantAlias, tenants } from './site.ts';

const entityCount = 6;
const againMs = 20;

/** Returns the current last sequences of the streams in Redis. */
export type StreamEnds = () => readonly number[];

interface SaveRequest {
  readonly tenant: TenantAlias;
  readonly sourceId: SourceId;
  readonly force: boolean;
  readonly entities: readonly SourceEntity[];
}

export class Writes {
  /** The entities of each tenant as last acknowledged. */
  readonly worlds = new Map<TenantAlias, World>(
    tenants.map((tenant) => [tenant, new World(() => this.clock.redisMs)]),
  );
  /** Tenants with changes since this was last cleared. */
  readonly changed = new Set<TenantAlias>(tenants);
  /** Since when pages of a tenant have their URLs. */
  readonly ages = new Map<TenantAlias, ClaimAges>(tenants.map((tenant) => [tenant, new ClaimAges()]));

  constructor(
    private readonly store: Store,
    private readonly clock: VirtualClock,
    private readonly dice: Dice,
    private readonly streamEnds: StreamEnds,
    private readonly note: (what: string) => void,
  ) {}

  /** Sends one request until it is acknowledged, like a client. */
  async change(): Promise<void> {
    const { dice } = this;
    const tenant = dice.of<TenantAlias>(['acme', 'acme', 'acme', 'other']);
    const sourceId = dice.of<SourceId>(['src-cms', 'src-cms', 'src-shop']);
    if (dice.chance(20)) await this.#delete(tenant, sourceId, `e${dice.below(entityCount)}`);
    else await this.#save(this.#randomRequest(tenant, sourceId));
  }

  async #delete(tenant: TenantAlias, sourceId: SourceId, originId: string): Promise<void> {
    this.note(`delete ${originId} of ${tenant} ${sourceId}`);
    const wasThere = this.#of(tenant, sourceId).delete(originId);
    await this.#insist(async (attempt) => {
      const before = this.streamEnds();
      const { removed, version } = await removeEntities(this.store, {
        tenant,
        sourceId,
        originIds: [originId],
      });
      // The first of two attempts may have been applied.
      if (attempt === 1) assert.deepEqual(removed, [wasThere], `deleting ${originId} tells what was there`);
      this.#checkVersion(before, version, removed[0] === true ? [originId] : [], sourceId);
    });
  }

  async #save(request: SaveRequest): Promise<void> {
    const { tenant, sourceId, force, entities } = request;
    this.note(`save ${entities.map(({ originId }) => originId)} of ${tenant} ${sourceId}`);
    const encoded = entities.map(encodeEntity);
    const attempts = await this.#insist(async (attempt) => {
      const before = this.streamEnds();
      const { outcomes, version } = await acceptEntities(this.store, {
        tenant,
        sourceId,
        force,
        entities: encoded,
      });
      if (attempt === 1) {
        const expected = this.#expectedOutcomes(request);
        assert.deepEqual(
          withoutRepetitions(request, outcomes, expected),
          expected,
          'outcomes of the sent entities',
        );
      }
      const changed = entities.filter((_, index) => outcomes[index] === 'changed');
      this.#checkVersion(
        before,
        version,
        changed.map(({ originId }) => originId),
        sourceId,
      );
    });
    this.#keep(request, attempts === 1);
  }

  /** @param isExact true if the request was processed in one step, in order */
  #keep({ tenant, sourceId, force, entities }: SaveRequest, isExact: boolean): void {
    const known = this.#of(tenant, sourceId);
    const ages = this.ages.get(tenant);
    ages?.beginRequest(isExact);
    for (const entity of entities) {
      const before = known.get(entity.originId);
      // Saving an unchanged entity has no effect, not even on its scheduled times.
      if (isRefused(before, entity, force) || isDeepStrictEqual(before, entity)) continue;
      if (sourceId === 'src-cms') ages?.save(before, entity);
      // A copy, because a state that is saved again after another one goes through its times again.
      known.set(entity.originId, { ...entity });
    }
  }

  #expectedOutcomes({ tenant, sourceId, force, entities }: SaveRequest): AcceptOutcome[] {
    const known = new Map(this.#of(tenant, sourceId));
    return entities.map((entity) => {
      const { originId } = entity;
      const before = known.get(originId);
      if (isDeepStrictEqual(before, entity)) return 'unchanged';
      if (isRefused(before, entity, force)) return 'typeConflict';
      known.set(originId, entity);
      return 'changed';
    });
  }

  /** A request's position in the streams is after what it announced, and after what existed before. */
  #checkVersion(
    before: readonly number[],
    version: VersionVector,
    changed: readonly string[],
    sourceId: string,
  ): void {
    const announced = new Set(changed.map((originId) => this.store.partitions.ofEntity(sourceId, originId)));
    const after = this.streamEnds();
    for (const [partition, sequence] of version) {
      const [first = 0, last = 0] = [before[partition], after[partition]];
      const least = announced.delete(partition) ? first + 1 : first;
      assert.ok(
        sequence >= least && sequence <= last,
        `version ${sequence} of partition ${partition} is reported, not between ${least} and ${last}`,
      );
    }
    assert.equal(announced.size, 0, 'a partition that accepted something is missing from the version');
  }

  #of(tenant: TenantAlias, sourceId: SourceId): Map<string, SourceEntity> {
    const world = this.worlds.get(tenant);
    if (world === undefined) throw new Error(`there is no tenant ${tenant}`);
    this.changed.add(tenant);
    return world.of(sourceId);
  }

  /** @returns the number of attempts */
  async #insist(act: (attempt: number) => Promise<unknown>): Promise<number> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await act(attempt);
        return attempt;
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        this.note(`front: ${error}`);
        await this.clock.wait(againMs);
      }
    }
  }

  #randomRequest(tenant: TenantAlias, sourceId: SourceId): SaveRequest {
    const { dice } = this;
    const stored = [...this.#of(tenant, sourceId).values()];
    const isRepetition = dice.chance(15);
    const entities = Array.from({ length: 1 + dice.below(3) }, () => {
      const again = stored[dice.below(Math.max(1, stored.length))];
      return again !== undefined && dice.chance(isRepetition ? 90 : 5) ? again : this.#randomEntity(sourceId);
    });
    return { tenant, sourceId, force: dice.chance(70), entities };
  }

  #randomEntity(sourceId: SourceId): SourceEntity {
    const { dice } = this;
    const id = () => `e${dice.below(entityCount)}`;
    const url = () => `${dice.of(['', '', '', 'https://a.example'])}/u${dice.below(5)}`;
    const properties: JsonObject = { title: `T${dice.below(20)}`, rank: dice.below(5) };
    if (dice.chance(50)) properties.slug = `slug-${dice.below(4)}`;
    if (dice.chance(50)) properties.topic = `topic-${dice.below(2)}`;
    if (dice.chance(50)) properties.tags = [`topic-${dice.below(2)}`];
    if (sourceId !== 'src-cms') properties.page = id();
    return {
      originId: id(),
      type: sourceId === 'src-cms' ? dice.of(['page', 'page', 'page', 'note']) : 'product',
      url: dice.chance(70) ? url() : null,
      originParentId: dice.chance(70) ? id() : null,
      redirects: dice.chance(30) ? [url(), `/r${dice.below(3)}`] : [],
      properties,
      ...(dice.chance(40) ? { times: this.#randomTimes() } : {}),
    };
  }

  /** Times that have passed, are near, or are after everything else. */
  #randomTimes(): PublishTimes {
    const { dice } = this;
    const nowMs = Math.floor(this.clock.redisMs);
    const near = () => dice.below(dice.chance(80) ? 200 : 1500);
    const publishAt = dice.chance(80) ? nowMs - 50 + near() : null;
    const unpublishAt = publishAt === null || dice.chance(50) ? (publishAt ?? nowMs - 50) + 1 + near() : null;
    return { publishAt, unpublishAt };
  }
}

/** If a request has several states of an entity and is sent twice, the response does not report which of them changed it. */
function withoutRepetitions(
  { entities }: SaveRequest,
  outcomes: readonly AcceptOutcome[],
  expected: readonly AcceptOutcome[],
): AcceptOutcome[] {
  const isAlone = ({ originId }: SourceEntity) =>
    entities.filter((other) => other.originId === originId).length === 1;
  return outcomes.map((outcome, index) => {
    const entity = entities[index];
    const mayDiffer = entity !== undefined && !isAlone(entity) && expected[index] === 'unchanged';
    return mayDiffer && outcome === 'changed' ? 'unchanged' : outcome;
  });
}

function isRefused(before: SourceEntity | undefined, sent: SourceEntity, force: boolean): boolean {
  return before !== undefined && before.type !== sent.type && !force;
}

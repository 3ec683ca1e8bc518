/**
 * Sends writes and tracks the state of every entity according to the responses. A write without an answer may have been stored
 * or not, so both states are possible until the next write of that entity is answered.
 */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { momentText } from '../../../src/contract/publish-times.ts';
import { until } from '../../support/until.ts';
import { type Answer, type Client, NoResponseError } from './client.ts';

type State = SourceEntity | null;

export interface LedgerOptions {
  readonly key: string;
  readonly sourceId: string;
}

export class Ledger {
  readonly #possible = new Map<string, State[]>();
  /** Version tokens of the answers since the last `takeVersions`. */
  #versions: string[] = [];
  answered = 0;
  unanswered = 0;

  constructor(private readonly options: LedgerOptions) {}

  get sourceId(): string {
    return this.options.sourceId;
  }

  /** Every originId that was ever sent. */
  get originIds(): string[] {
    return [...this.#possible.keys()];
  }

  /** The states that an entity may have; null if it does not exist. */
  possible(originId: string): readonly State[] {
    return this.#possible.get(originId) ?? [null];
  }

  /** The state of every existing entity. @throws Error if an entity may have several states */
  entities(): Map<string, SourceEntity> {
    const entities = new Map<string, SourceEntity>();
    for (const [originId, states] of this.#possible) {
      const [state, ...others] = states;
      assert.equal(others.length, 0, `${originId} may be in several states`);
      if (state) entities.set(originId, state);
    }
    return entities;
  }

  takeVersions(): string[] {
    const versions = this.#versions;
    this.#versions = [];
    return versions;
  }

  /** Saves in bulk, and may change types. @returns whether the answer was 200 */
  async save(client: Client, entities: readonly SourceEntity[]): Promise<boolean> {
    const states = entities.map((entity) => [entity.originId, entity] as const);
    const answer = await this.#ask(states, () =>
      client.post('/ingest/v2', entities.map(bodyOf), {
        key: this.options.key,
        headers: { 'X-Service-Force-Type': 'true' },
      }),
    );
    if (answer === null) return false;
    assert.deepEqual(answer.json.errors, {});
    const listed = [...answer.json.changedSourceEntities, ...answer.json.unchangedSourceEntities].sort();
    assert.deepEqual(listed, [...new Set(entities.map(({ originId }) => originId))].sort());
    for (const entity of entities) this.#acknowledged(entity.originId, entity);
    return true;
  }

  async delete(client: Client, originIds: readonly string[]): Promise<boolean> {
    const before = new Map(originIds.map((originId) => [originId, this.possible(originId)]));
    const states = originIds.map((originId) => [originId, null] as const);
    const answer = await this.#ask(states, () =>
      client.delete('/ingest/v2', { key: this.options.key, body: { originIds: [...originIds] } }),
    );
    if (answer === null) return false;
    for (const originId of originIds) {
      const wasThere: boolean = answer.json.deletedSourceEntities.includes(originId);
      assert.ok(
        before.get(originId)?.some((state) => (state !== null) === wasThere),
        `deleting ${originId} returned ${wasThere}, which is not a possible state`,
      );
      this.#acknowledged(originId, null);
    }
    return true;
  }

  async #ask(
    states: readonly (readonly [originId: string, state: State])[],
    send: () => Promise<Answer>,
  ): Promise<Answer | null> {
    const before = states.map(([originId]) => [originId, this.possible(originId)] as const);
    for (const [originId, state] of states) this.#sent(originId, state);
    try {
      const answer = await send();
      // It may have been accepted although Redis did not reply in time.
      if (answer.status === 503) {
        this.unanswered += 1;
        return null;
      }
      assert.equal(answer.status, 200, answer.text);
      const version = answer.headers['x-service-version'];
      assert.ok(typeof version === 'string' && version !== '', 'a 200 carries a version');
      this.#versions.push(version);
      this.answered += 1;
      return answer;
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error;
      if (!error.mayBeTaken) for (const [originId, known] of before) this.#possible.set(originId, [...known]);
      this.unanswered += 1;
      return null;
    }
  }

  /** Records in which of the possible states an entity was found. */
  found(originId: string, state: State): void {
    this.#acknowledged(originId, state);
  }

  #sent(originId: string, state: State): void {
    const states = this.#possible.get(originId) ?? [null];
    if (states.some((known) => isDeepStrictEqual(known, state))) return;
    this.#possible.set(originId, [...states, state]);
  }

  #acknowledged(originId: string, state: State): void {
    this.#possible.set(originId, [state]);
  }
}

/** An entity as clients send it. */
function bodyOf({ times, ...entity }: SourceEntity): JsonObject {
  const { originId, type, url, originParentId, redirects, properties } = entity;
  const body = { originId, type, url, originParentId, redirects: [...redirects], properties };
  if (times === undefined) return body;
  const { publishAt, unpublishAt } = times;
  return { ...body, publishAt: momentText(publishAt), unpublishAt: momentText(unpublishAt) };
}

/** Waits until a front shows all writes of these versions, like a client that retries after each 503. */
export async function untilVisible(client: Client, key: string, versions: readonly string[]): Promise<void> {
  for (const version of versions) {
    await until('the writes are visible', async () => {
      const { status } = await client.get('/v2?handle=nobody', { key, version });
      assert.ok(status === 200 || status === 503, `${status}`);
      return status === 200;
    });
  }
}

/**
 * Accepts source entities. Entities that come while a call to Redis is under way go with the next call, whatever requests
 * they belong to. So under load a call carries hundreds of entities, and a lone request does not wait.
 * What that is worth: bench/README.md "Fast paths".
 *
 * Sources tend to send everything again. While most of what comes is stored as it is, hashes are compared first, and only
 * what differs is encoded and sent to Redis.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../../lib/assert.ts';
import { groupBy } from '../../lib/lists.ts';
import { keys } from '../keys.ts';
import { type LuaValue, packForLua } from '../redis/lua-list.ts';
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import { surviving } from '../redis/replication.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';
import type { VersionVector } from '../visibility/version.ts';
import type { EncodedEntity } from './entity-record.ts';
import { recordHeadsOf } from './record-heads.ts';

/** Bounds of one call, which Redis does in one go; a request beyond them is a call by itself. */
const callEntitiesMax = 1000;

const callBytesMax = 4 * 1024 * 1024;

/** Requests that may wait with entities that are not encoded; such entities take a multiple of the memory. */
const unencodedMax = 256;

const accept = new Script<[sequences: number[], codes: Buffer]>('entities/accept', 1, ['entity-heads']);

const compare = new Script<[sequences: number[], codes: Buffer]>('entities/compare', 1, ['entity-heads']);

/** Outcomes by the digit with which the script answers. */
const outcomes: readonly AcceptOutcome[] = ['unchanged', 'changed', 'typeConflict'];

const digitZero = 0x30;

const digitOne = 0x31;

/** Bytes that are encoded in one turn of the event loop: this takes a few milliseconds. */
const turnBytes = 256 * 1024;

export type AcceptOutcome = 'changed' | 'unchanged' | 'typeConflict';

export interface AcceptRequest {
  readonly tenant: string;
  readonly sourceId: string;
  /** Lets an entity change its type. */
  readonly force: boolean;
  readonly entities: readonly EncodedEntity[];
}

/**
 * Stores entities in order, those of one partition all or none. When it returns, everything changed is stored and
 * announced. @throws StoreUnavailableError; then some partitions may have taken their part, and the same request can be
 * sent again
 */
export async function acceptEntities(
  store: Store,
  request: AcceptRequest,
): Promise<{ outcomes: AcceptOutcome[]; version: VersionVector }> {
  const { sourceId, entities } = request;
  const groups = groupBy(entities.keys(), (position) =>
    store.partitions.ofEntity(sourceId, entities[position]?.originId ?? ''),
  );
  const heads = recordHeadsOf(entities);
  const result: AcceptOutcome[] = new Array(entities.length).fill('unchanged');
  const version = new Map<number, number>();
  const tags = [...groups.keys()].map((partition) => store.partitions.tag(partition));
  await surviving(store.acknowledgements, tags, async () => {
    const lanes = groupBy(groups, ([partition]) => laneOf(store, partition));
    await Promise.all(
      [...lanes].map(([lane, ofLane]) => lane.accept({ request, heads, groups: ofLane, result, version })),
    );
  });
  return { outcomes: result, version };
}

interface Waiting {
  readonly parcel: Parcel;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const lanesOf = new WeakMap<Store, Map<number, AcceptLane>>();

/** In a cluster a call reaches one slot alone, so there each partition has a lane of its own. */
function laneOf(store: Store, partition: number): AcceptLane {
  const lanes = lanesOf.get(store) ?? new Map<number, AcceptLane>();
  lanesOf.set(store, lanes);
  const number = store.address.kind === 'cluster' ? partition : 0;
  const lane = lanes.get(number) ?? new AcceptLane(store);
  lanes.set(number, lane);
  return lane;
}

/** One call at a time. So two calls with one entity are done in their order, also when the client library repeats them. */
class AcceptLane {
  #waiting: Waiting[] = [];
  #isRunning = false;
  /** Most entities of the last call were stored already as they are. */
  #isRepetition = false;

  constructor(private readonly store: Store) {}

  accept(parcel: Parcel): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ parcel, resolve, reject });
      if (this.#waiting.length > unencodedMax) for (const entity of parcel.request.entities) entity.encode();
      if (this.#isRunning) return;
      this.#isRunning = true;
      // Requests that arrive together are read in one turn of the event loop; the call begins after them.
      setImmediate(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const taken = this.#take();
      try {
        const call = new AcceptCall(
          this.store,
          taken.map(({ parcel }) => parcel),
        );
        if (this.#isRepetition) await call.leaveOutUnchanged();
        await call.run();
        this.#isRepetition = call.isRepetition;
        for (const { resolve } of taken) resolve();
      } catch (error) {
        for (const { reject } of taken) reject(error);
        if (error instanceof StoreUnavailableError) this.#refuseWaiting(error);
      }
    }
    this.#isRunning = false;
  }

  /** Refuses all requests that wait: they have waited long enough, and the next call would get no other answer. */
  #refuseWaiting(error: StoreUnavailableError): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(error);
  }

  /** As many as fit into a call, at least one. No two of them have an entity in common (`scripts/entities/accept.lua`). */
  #take(): Waiting[] {
    const named = new Map<string, Set<string>>();
    let [entities, bytes, count] = [0, 0, 0];
    for (const { parcel } of this.#waiting) {
      const { request, groups } = parcel;
      const source = `${request.tenant}:${request.sourceId}`;
      const names = named.get(source) ?? new Set<string>();
      const own: string[] = [];
      for (const [, positions] of groups) {
        for (const position of positions) {
          const entity = request.entities[position];
          if (entity === undefined) continue;
          own.push(entity.originId);
          bytes += entity.size;
        }
      }
      entities += own.length;
      if (count > 0 && (entities > callEntitiesMax || bytes > callBytesMax)) break;
      if (count > 0 && own.some((originId) => names.has(originId))) break;
      for (const originId of own) names.add(originId);
      named.set(source, names);
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }
}

/** The part of a request that goes with a call. The call fills `result` and `version`. */
interface Parcel {
  readonly request: AcceptRequest;
  readonly heads: readonly Buffer[];
  readonly groups: readonly (readonly [partition: number, positions: readonly number[]])[];
  readonly result: AcceptOutcome[];
  readonly version: Map<number, number>;
}

/** An entity on its way, and where its outcome belongs. */
interface Sent {
  readonly entity: EncodedEntity;
  readonly head: Buffer;
  readonly parcel: Parcel;
  readonly position: number;
}

/** Entities of one source in one partition. */
interface Group {
  readonly partition: number;
  readonly tenant: string;
  readonly sourceId: string;
  readonly sent: Sent[];
  readonly parcels: Set<Parcel>;
}

/** One call to Redis that accepts entities of several requests. Another call before it can leave out what is stored already. */
class AcceptCall {
  readonly #groups = new Map<string, Group>();
  #count = 0;
  #unchanged = 0;

  constructor(
    private readonly store: Store,
    parcels: readonly Parcel[],
  ) {
    for (const parcel of parcels) {
      for (const [partition, positions] of parcel.groups) this.#add(parcel, partition, positions);
    }
  }

  /** Most of its entities were stored already as they are. Known when the call has run. */
  get isRepetition(): boolean {
    return this.#unchanged * 2 > this.#count;
  }

  /**
   * Settles entities that are stored already as they are. A group in which an entity comes several times is left to
   * `run`: the first state of the entity may change what the second is compared with.
   */
  async leaveOutUnchanged(): Promise<void> {
    const named = [...this.#groups].filter(([, { sent }]) => areDistinct(sent));
    const [first] = named;
    if (first === undefined) return;
    const groups = named.map(([, group]) => group);
    const [sequences, codes] = await this.#call(compare, groups, hashesForLua);
    let at = 0;
    named.forEach(([name, group], index) => {
      const changed = group.sent.filter((_, place) => codes[at + place] !== digitOne);
      at += group.sent.length;
      this.#unchanged += group.sent.length - changed.length;
      noteVersion(group, sequences[index] ?? 0);
      if (changed.length === 0) this.#groups.delete(name);
      else this.#groups.set(name, { ...group, sent: changed });
    });
  }

  async run(): Promise<void> {
    const groups = [...this.#groups.values()];
    if (groups.length === 0) return;
    await encode(groups);
    const [sequences, codes] = await this.#call(accept, groups, recordsForLua);
    let at = 0;
    groups.forEach((group, index) => {
      noteVersion(group, sequences[index] ?? 0);
      for (const { parcel, position } of group.sent) {
        const outcome = outcomes[(codes[at] ?? 0) - digitZero];
        assert(outcome !== undefined, 'every entity that was sent has an outcome');
        if (outcome === 'unchanged') this.#unchanged += 1;
        parcel.result[position] = outcome;
        at += 1;
      }
    });
  }

  #add(parcel: Parcel, partition: number, positions: readonly number[]): void {
    const { request, heads } = parcel;
    const group = this.#group(partition, request);
    group.parcels.add(parcel);
    for (const position of positions) {
      const [entity, head] = [request.entities[position], heads[position]];
      if (entity === undefined || head === undefined) continue;
      group.sent.push({ entity, head, parcel, position });
      this.#count += 1;
    }
  }

  #group(partition: number, { tenant, sourceId }: AcceptRequest): Group {
    const name = `${partition}:${tenant}:${sourceId}`;
    const known = this.#groups.get(name);
    if (known !== undefined) return known;
    const group: Group = { partition, tenant, sourceId, sent: [], parcels: new Set() };
    this.#groups.set(name, group);
    return group;
  }

  /** @param listOf gives a group as the script reads it */
  #call(
    script: typeof accept,
    groups: readonly Group[],
    listOf: (group: Group, tag: string) => LuaValue,
  ): Promise<[sequences: number[], codes: Buffer]> {
    const { client, partitions } = this.store;
    const tags = groups.map(({ partition }) => partitions.tag(partition));
    const [first = ''] = tags;
    const list = groups.map((group, index) => listOf(group, tags[index] ?? ''));
    return script.run(client, [keys.clock(first)], [packForLua(list)]);
  }
}

/** Encodes all entities; other requests are answered in between. */
async function encode(groups: readonly Group[]): Promise<void> {
  let bytes = 0;
  for (const { sent } of groups) {
    for (const { entity } of sent) {
      bytes += entity.encode().body.length;
      if (bytes < turnBytes) continue;
      await nextTurn();
      bytes = 0;
    }
  }
}

function noteVersion({ partition, parcels }: Group, sequence: number): void {
  for (const { version } of parcels) version.set(partition, sequence);
}

function areDistinct(sent: readonly Sent[]): boolean {
  return new Set(sent.map(({ entity }) => entity.originId)).size === sent.length;
}

/** As `scripts/entities/compare.lua` reads it. */
function hashesForLua({ tenant, sourceId, sent }: Group, tag: string): LuaValue {
  return [
    keys.clock(tag),
    keys.entities(tag, tenant, sourceId),
    sent.map(({ entity }) => entity.originId),
    sent.map(({ entity }) => entity.contentHash),
  ];
}

/** As `scripts/entities/accept.lua` reads it. */
function recordsForLua({ tenant, sourceId, sent }: Group, tag: string): LuaValue {
  return [
    keys.clock(tag),
    keys.stream(tag),
    keys.entities(tag, tenant, sourceId),
    keys.names(tag, tenant, sourceId),
    tenant,
    sourceId,
    sent.map(({ parcel }) => (parcel.request.force ? '1' : '0')).join(''),
    sent.map(({ entity }) => entity.originId),
    sent.map(({ entity, head }) => Buffer.concat([head, entity.encode().body])),
    namesForLua(sent),
  ];
}

/** Lists of names that the records leave out, each once: digest, text, digest … */
function namesForLua(sent: readonly Sent[]): LuaValue[] {
  const lists = new Set(sent.map(({ entity }) => entity.encode().names).filter((list) => list !== null));
  return [...lists].flatMap(({ digest, text }) => [digest, text]);
}

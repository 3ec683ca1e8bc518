/**
 * Accepts source entities. Entities that arrive during a call to Redis are sent with the next call, even from different
 * requests. So under load a call has hundreds of entities, and a single request does not wait. For measurements, see
 * bench/README.md "Fast paths".
 *
 * Sources tend to send everything again. While most entities are unchanged, hashes are compared first, and only changed
 * entities are encoded and sent to Redis.
 */
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { allSettled } from '../../lib/all-settled.ts';
import { assert } from '../../lib/assert.ts';
import { groupBy } from '../../lib/lists.ts';
import { keys } from '../keys.ts';
import { type LuaValue, packForLua } from '../redis/lua-list.ts';
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import { surviving } from '../redis/replication.ts';
import { Script, TimelyScript } from '../redis/script.ts';
import type { Store } from '../store.ts';
import type { VersionVector } from '../visibility/version.ts';
import { type EncodedEntity, recordHeadsOf } from './entity-record.ts';

/** Limits of one call, because Redis runs it atomically; a larger request is a call by itself. */
const callEntitiesMax = 1000;

const callBytesMax = 4 * 1024 * 1024;

/** Requests that may wait without encoding, because entities take several times the memory before they are encoded. */
const unencodedMax = 256;

type Outcomes = [sequences: number[], codes: Buffer];

const accept = new TimelyScript<Outcomes>('entities/accept', 1, ['entity-heads']);

const compare = new Script<Outcomes>('entities/compare', 1, ['entity-heads']);

/** Outcomes by the digit that the script returns. */
const outcomes: readonly AcceptOutcome[] = ['unchanged', 'changed', 'typeConflict'];

const digitZero = 0x30;

const digitOne = 0x31;

/** Bytes to encode per turn of the event loop: a few milliseconds. */
const turnBytes = 256 * 1024;

export type AcceptOutcome = 'changed' | 'unchanged' | 'typeConflict';

export interface AcceptRequest {
  readonly tenant: string;
  readonly sourceId: string;
  /** Allows entities to change their type. */
  readonly force: boolean;
  readonly entities: readonly EncodedEntity[];
}

/**
 * Stores entities in order, atomically for each partition. When it returns, all changes are stored and announced.
 * @throws StoreUnavailableError; then some partitions may have stored their entities; the same request can be repeated
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
    await allSettled(
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

/** In a cluster a call can only use one slot, so each partition has its own lane. */
function laneOf(store: Store, partition: number): AcceptLane {
  const lanes = lanesOf.get(store) ?? new Map<number, AcceptLane>();
  lanesOf.set(store, lanes);
  const number = store.address.kind === 'cluster' ? partition : 0;
  const lane = lanes.get(number) ?? new AcceptLane(store);
  lanes.set(number, lane);
  return lane;
}

/** One call at a time, so that calls with the same entity keep their order, even if the client library repeats them. */
class AcceptLane {
  #waiting: Waiting[] = [];
  #isRunning = false;
  /** Identifies this lane among those of all fronts. */
  readonly #id = randomBytes(9).toString('base64url');
  #calls = 0;
  /** Most entities of the last call were unchanged. */
  #isRepetition = false;

  constructor(private readonly store: Store) {}

  accept(parcel: Parcel): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ parcel, resolve, reject });
      if (this.#waiting.length > unencodedMax) for (const entity of parcel.request.entities) entity.encode();
      if (this.#isRunning) return;
      this.#isRunning = true;
      // Requests that arrive together are read in one turn of the event loop; start the call after it.
      setImmediate(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const taken = this.#take();
      try {
        const parcels = taken.map(({ parcel }) => parcel);
        this.#calls += 1;
        const call = new AcceptCall(this.store, parcels, { sender: this.#id, number: this.#calls });
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

  /** Rejects all waiting requests: they have waited long enough, and the next call would probably fail too. */
  #refuseWaiting(error: StoreUnavailableError): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(error);
  }

  /**
   * Takes as many requests as fit into a call, at least one. No two of them share an entity (`scripts/entities/accept.lua`).
   */
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

/** The part of a request that is sent with a call. The call fills `result` and `version`. */
interface Parcel {
  readonly request: AcceptRequest;
  readonly heads: readonly Buffer[];
  readonly groups: readonly (readonly [partition: number, positions: readonly number[]])[];
  readonly result: AcceptOutcome[];
  readonly version: Map<number, number>;
}

/** An entity to send, and where to put its outcome. */
interface Sent {
  readonly entity: EncodedEntity;
  readonly head: Buffer;
  readonly parcel: Parcel;
  readonly position: number;
}

/** Entities of a source in one partition. */
interface Group {
  readonly partition: number;
  readonly tenant: string;
  readonly sourceId: string;
  readonly sent: Sent[];
  readonly parcels: Set<Parcel>;
}

/** Redis recognizes a repeated call by it, whatever was saved in between. */
interface CallName {
  readonly sender: string;
  readonly number: number;
}

/** One call to Redis that accepts entities of several requests. A preceding call can leave out unchanged entities. */
class AcceptCall {
  readonly #groups = new Map<string, Group>();
  #count = 0;
  #unchanged = 0;

  constructor(
    private readonly store: Store,
    parcels: readonly Parcel[],
    private readonly name: CallName,
  ) {
    for (const parcel of parcels) {
      for (const [partition, positions] of parcel.groups) this.#add(parcel, partition, positions);
    }
  }

  /** True if most entities were unchanged. Valid after `run`. */
  get isRepetition(): boolean {
    return this.#unchanged * 2 > this.#count;
  }

  /**
   * Handles unchanged entities. Skips groups in which an entity occurs several times: its first state may change what the
   * second must be compared with.
   */
  async leaveOutUnchanged(): Promise<void> {
    const named = [...this.#groups].filter(([, { sent }]) => areDistinct(sent));
    const [first] = named;
    if (first === undefined) return;
    const groups = named.map(([, group]) => group);
    const [sequences, codes] = await compare.run(this.store.client, ...this.#call(groups, hashesForLua));
    let at = 0;
    named.forEach(([name, group], index) => {
      const changed = group.sent.filter((_, place) => codes[at + place] !== digitOne);
      at += group.sent.length;
      this.#unchanged += group.sent.length - changed.length;
      recordVersion(group, sequences[index] ?? 0);
      if (changed.length === 0) this.#groups.delete(name);
      else this.#groups.set(name, { ...group, sent: changed });
    });
  }

  async run(): Promise<void> {
    const groups = [...this.#groups.values()];
    if (groups.length === 0) return;
    await encode(groups);
    const [scriptKeys, list] = this.#call(groups, recordsForLua);
    const { sender, number } = this.name;
    const [sequences, codes] = await accept.run(this.store, scriptKeys, [...list, sender, number]);
    let at = 0;
    groups.forEach((group, index) => {
      recordVersion(group, sequences[index] ?? 0);
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

  /** @param listOf converts a group for the script */
  #call(
    groups: readonly Group[],
    listOf: (group: Group, tag: string) => LuaValue,
  ): [keys: readonly string[], scriptArguments: readonly Buffer[]] {
    const tags = groups.map(({ partition }) => this.store.partitions.tag(partition));
    const [first = ''] = tags;
    const list = groups.map((group, index) => listOf(group, tags[index] ?? ''));
    return [[keys.clock(first)], [packForLua(list)]];
  }
}

/** Encodes all entities and lets other requests run in between. */
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

function recordVersion({ partition, parcels }: Group, sequence: number): void {
  for (const { version } of parcels) version.set(partition, sequence);
}

function areDistinct(sent: readonly Sent[]): boolean {
  return new Set(sent.map(({ entity }) => entity.originId)).size === sent.length;
}

/** The format for `scripts/entities/compare.lua`. */
function hashesForLua({ tenant, sourceId, sent }: Group, tag: string): LuaValue {
  return [
    keys.clock(tag),
    keys.entities(tag, tenant, sourceId),
    sent.map(({ entity }) => entity.originId),
    sent.map(({ entity }) => entity.contentHash),
  ];
}

/** The format for `scripts/entities/accept.lua`. */
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

/** Distinct lists of names that the records leave out: digest, text, digest …… */
function namesForLua(sent: readonly Sent[]): LuaValue[] {
  const lists = new Set(sent.map(({ entity }) => entity.encode().names).filter((list) => list !== null));
  return [...lists].flatMap(({ digest, text }) => [digest, text]);
}

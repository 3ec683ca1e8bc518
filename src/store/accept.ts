/**
 * Accepting source entities. What comes while a call to Redis is under way goes with the next one, whatever requests it
 * belongs to: under load a call carries hundreds of entities, and alone nobody waits.
 *
 * Sources tend to send everything again. While most of what comes is stored as it is, hashes are compared first, and only
 * what differs is encoded and sent to Redis.
 */
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { groupBy } from '../contract/group-by.ts';
import { StoreUnavailableError } from './connection.ts';
import { keys } from './keys.ts';
import { PackWriter } from './pack-writer.ts';
import { surviving } from './replication.ts';
import { Script } from './script.ts';
import type { Store } from './store.ts';
import type { AcceptOutcome, EncodedEntity, VersionVector } from './types.ts';

const accept = new Script<[sequences: number[], codes: Buffer]>('accept', 1);
const compare = new Script<[sequences: number[], codes: Buffer]>('compare', 1);
/** By the digits of the script. */
const outcomes: readonly AcceptOutcome[] = ['unchanged', 'changed', 'typeConflict'];
const digitZero = 0x30;
const digitOne = 0x31;

/** Bounds of one call, which Redis does in one go; a request beyond them is a call by itself. */
const callEntitiesMax = 1000;
const callBytesMax = 4 * 1024 * 1024;
/** What is encoded in one turn of the event loop: a few milliseconds. */
const turnBytes = 256 * 1024;
/** Requests that may wait without being encoded, in which they take a multiple of the memory. */
const unencodedMax = 256;

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
  const heads = headsOf(request);
  const result: AcceptOutcome[] = new Array(entities.length).fill('unchanged');
  const version = new Map<number, number>();
  const tags = [...groups.keys()].map((partition) => store.partitions.tag(partition));
  await surviving(store.replication, tags, async () => {
    const lanes = groupBy(groups, ([partition]) => laneOf(store, partition));
    await Promise.all(
      [...lanes].map(([lane, ofLane]) => lane.accept({ request, heads, groups: ofLane, result, version })),
    );
  });
  return { outcomes: result, version };
}

let lastStamp = 0;

/** Microseconds since 1970, rising with every call, so that of two writes of one front the later has the later stamp. */
function nextStamp(): number {
  lastStamp = Math.max(lastStamp + 1, Date.now() * 1000);
  return lastStamp;
}

const tokenBytes = 8;
const headBytes = 56;
const stampsAt = 32;
const stampBytes = 8;

/**
 * What a compare record of a new entity begins with; see `scripts/accept.lua`. Stamps rise in the order of the request,
 * whatever partitions its entities go to: of two claims in it the later one is the latest.
 */
function headsOf({ entities }: AcceptRequest): Buffer[] {
  const token = randomBytes(tokenBytes);
  const all = Buffer.allocUnsafe(headBytes * entities.length);
  return entities.map(({ contentHash, urlHash }, index) => {
    const head = all.subarray(index * headBytes, (index + 1) * headBytes);
    contentHash.copy(head, 0);
    token.copy(head, 16);
    urlHash.copy(head, 24);
    head.writeDoubleBE(nextStamp(), stampsAt);
    head.copyWithin(stampsAt + stampBytes, stampsAt, stampsAt + stampBytes);
    head.copyWithin(stampsAt + 2 * stampBytes, stampsAt, stampsAt + stampBytes);
    return head;
  });
}

/** What of one request goes through one lane; `result` and `version` are filled by it. */
interface Parcel {
  readonly request: AcceptRequest;
  readonly heads: readonly Buffer[];
  readonly groups: readonly (readonly [partition: number, positions: readonly number[]])[];
  readonly result: AcceptOutcome[];
  readonly version: Map<number, number>;
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

/** One call at a time; so two calls with one entity are done, and repeated by the client library, in their order. */
class AcceptLane {
  #waiting: Waiting[] = [];
  #isRunning = false;
  /** Most of the last call was stored as it is. */
  #isRepetition = false;

  constructor(private readonly store: Store) {}

  accept(parcel: Parcel): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ parcel, resolve, reject });
      if (this.#waiting.length > unencodedMax) for (const entity of parcel.request.entities) entity.encode();
      if (this.#isRunning) return;
      this.#isRunning = true;
      // The requests that arrived together are read in one turn of the event loop; this comes behind them.
      setImmediate(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const taken = this.#take();
      try {
        const call = new AcceptCall(this.store, taken);
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

  /** Who waited for a call that failed has waited long enough: behind it would be no other answer. */
  #refuseWaiting(error: StoreUnavailableError): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(error);
  }

  /** As many as fit into a call, at least one. No two of them have an entity in common (`scripts/accept.lua`). */
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

class AcceptCall {
  readonly #groups = new Map<string, Group>();
  #count = 0;
  #unchanged = 0;

  constructor(
    private readonly store: Store,
    taken: readonly Waiting[],
  ) {
    for (const { parcel } of taken) {
      for (const [partition, positions] of parcel.groups) this.#add(parcel, partition, positions);
    }
  }

  /** Most of its entities were stored as they are. Known when it has run. */
  get isRepetition(): boolean {
    return this.#unchanged * 2 > this.#count;
  }

  /** Settles what is stored as it is. An entity that comes several times may have changed by the time of its second. */
  async leaveOutUnchanged(): Promise<void> {
    const named = [...this.#groups].filter(([, { sent }]) => areDistinct(sent));
    const [first] = named;
    if (first === undefined) return;
    const groups = named.map(([, group]) => group);
    const [sequences, codes] = await this.#ask(compare, groups, writeHashes);
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
    const [sequences, codes] = await this.#ask(accept, groups, writeGroup);
    let at = 0;
    groups.forEach((group, index) => {
      noteVersion(group, sequences[index] ?? 0);
      for (const { parcel, position } of group.sent) {
        const outcome = outcomes[(codes[at] ?? digitZero) - digitZero] ?? 'unchanged';
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

  /** @param write writes a group as the script reads it */
  #ask(
    script: typeof accept,
    groups: readonly Group[],
    write: (group: Group, tag: string) => void,
  ): Promise<[sequences: number[], codes: Buffer]> {
    const { client, partitions } = this.store;
    const tags = groups.map(({ partition }) => partitions.tag(partition));
    const [first = ''] = tags;
    writer.begin();
    writer.list(groups.length);
    for (const [index, group] of groups.entries()) write(group, tags[index] ?? '');
    return script.run(client, [keys.clock(first)], [writer.take()]);
  }
}

/** Other requests are answered in between. */
async function encode(groups: readonly Group[]): Promise<void> {
  let bytes = 0;
  for (const { sent } of groups) {
    for (const { entity } of sent) {
      bytes += entity.encode().length;
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

const writer = new PackWriter();

/** As `scripts/compare.lua` reads it. */
function writeHashes({ tenant, sourceId, sent }: Group, tag: string): void {
  writer.list(4);
  writer.text(keys.clock(tag));
  writer.text(keys.meta(tag, tenant, sourceId));
  writer.list(sent.length);
  for (const { entity } of sent) writer.text(entity.originId);
  writer.list(sent.length);
  for (const { entity } of sent) writer.textBytes(entity.contentHash);
}

/** As `scripts/accept.lua` reads it. */
function writeGroup({ tenant, sourceId, sent }: Group, tag: string): void {
  writer.list(10);
  writer.text(keys.clock(tag));
  writer.text(keys.stream(tag));
  writer.text(keys.meta(tag, tenant, sourceId));
  writer.text(keys.entities(tag, tenant, sourceId));
  writer.text(tenant);
  writer.text(sourceId);
  writer.text(sent.map(({ parcel }) => (parcel.request.force ? '1' : '0')).join(''));
  writer.list(sent.length);
  for (const { entity } of sent) writer.text(entity.originId);
  writer.list(sent.length);
  for (const { entity, head } of sent) {
    const place = writer.beginText();
    writer.raw(head);
    writer.rawText(entity.type);
    writer.endText(place);
  }
  writer.list(sent.length);
  for (const { entity, head } of sent) {
    const place = writer.beginText();
    writer.raw(head.subarray(stampsAt));
    writer.raw(entity.encode());
    writer.endText(place);
  }
}

/**
 * Accepts source entities. Entities that come while a call to Redis is under way go with the next call, whatever requests
 * they belong to. So under load a call carries hundreds of entities, and a lone request does not wait.
 *
 * Sources tend to send everything again. While most of what comes is stored as it is, hashes are compared first, and only
 * what differs is encoded and sent to Redis.
 */
import { groupBy } from '../../lib/group-by.ts';
import { StoreUnavailableError } from '../redis/errors.ts';
import { surviving } from '../redis/replication.ts';
import type { Store } from '../store.ts';
import type { VersionVector } from '../visibility/version.ts';
import { AcceptCall, type Parcel } from './accept-call.ts';
import type { EncodedEntity } from './entity-record.ts';
import { recordHeadsOf } from './record-heads.ts';

/** Bounds of one call, which Redis does in one go; a request beyond them is a call by itself. */
const callEntitiesMax = 1000;

const callBytesMax = 4 * 1024 * 1024;

/** Requests that may wait with entities that are not encoded; such entities take a multiple of the memory. */
const unencodedMax = 256;

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

export type AcceptOutcome = 'changed' | 'unchanged' | 'typeConflict';

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
      // Requests that arrive together are read in one turn of the event loop; the call begins behind them.
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

export interface AcceptRequest {
  readonly tenant: string;
  readonly sourceId: string;
  /** Lets an entity change its type. */
  readonly force: boolean;
  readonly entities: readonly EncodedEntity[];
}

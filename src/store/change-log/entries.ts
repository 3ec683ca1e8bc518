/** Reads the change log of one environment (docs/design/changes.md "Reading"). */

import { sum } from '../../lib/lists.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { Script } from '../redis/script.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import { type LoggedView, logField, loggedView, readLogNames } from './logged-views.ts';

type Reply = [horizon: Buffer, last: Buffer, announced: Buffer, ofLog: Buffer[], ofTraces: Buffer[]];

const readScript = new Script<Reply>('change-log/read', 4);

/** The subject of an entry: a view, or a claim field whose redirects a page on every host hides, or no longer hides. */
export type LogSubject =
  | { readonly kind: 'view'; readonly view: LoggedView }
  | { readonly kind: 'field'; readonly field: string };

export interface LogEntry {
  readonly partition: number;
  readonly sequence: number;
  readonly subject: LogSubject;
}

/** The entries of one partition after a position. */
export interface LogPortion {
  readonly partition: number;
  /** Sequence up to which traces have been removed. */
  readonly horizon: number;
  /** Last sequence of the partition at the time of the read, for all environments. */
  readonly last: number;
  /** Number of the partition's last announcement at the time of the read. */
  readonly announced: number;
  /** Sorted by sequence. */
  readonly entries: readonly LogEntry[];
  /** True if no entries follow. */
  readonly isAll: boolean;
}

export interface LogPosition {
  readonly partition: number;
  /** Entries of `log` after it are read. */
  readonly position: number;
  /** Entries of `traces` after it are read. */
  readonly tracesFrom: number;
  /** The last sequence to read. */
  readonly until: number;
}

const fieldMark = 'f';

export class LogReader {
  /** `logName` by number, for each partition. */
  readonly #names = new Map<number, ReadonlyMap<number, string>>();
  /** The horizon of each partition at the last read. */
  readonly #horizons = new Map<number, number>();

  constructor(
    private readonly store: Store,
    readonly scope: EnvironmentScope,
  ) {}

  /**
   * @param limit maximum number of entries from the log, and from the traces, of each partition
   * @throws StoreUnavailableError
   */
  async read(positions: readonly LogPosition[], limit: number): Promise<LogPortion[]> {
    return await Promise.all(positions.map((position) => this.#readPartition(position, limit)));
  }

  async #readPartition(
    { partition, position, tracesFrom, until }: LogPosition,
    limit: number,
  ): Promise<LogPortion> {
    const { tenant, environmentId } = this.scope;
    const tag = this.store.partitions.tag(partition);
    const [horizon, last, announced, ofLog, ofTraces] = await readScript.run(
      this.store.client,
      [
        keys.log(tag, tenant, environmentId),
        keys.traces(tag, tenant, environmentId),
        keys.logs(tag),
        keys.clock(tag),
      ],
      [position, tracesFrom, limit, logField(this.scope), until],
    );
    this.#recordHorizon(partition, Number(horizon));
    const stored = [...pairsOf(ofLog), ...pairsOf(ofTraces)];
    // Entries after the end of a truncated list are unknown.
    const known = Math.min(endOf(ofLog, limit), endOf(ofTraces, limit));
    const within = stored.filter(({ sequence }) => sequence <= known).sort((a, b) => a.sequence - b.sequence);
    const entries: LogEntry[] = [];
    for (const { member, sequence } of within) {
      const subject = await this.#subjectOf(partition, member);
      if (subject !== null) entries.push({ partition, sequence, subject });
    }
    return {
      partition,
      horizon: Number(horizon),
      last: Number(last),
      announced: Number(announced),
      entries,
      isAll: known === Number.POSITIVE_INFINITY,
    };
  }

  /** Numbers are only reused after the horizon has moved (`change-log/trim.ts`). */
  #recordHorizon(partition: number, horizon: number): void {
    if (this.#horizons.get(partition) !== horizon) this.#names.delete(partition);
    this.#horizons.set(partition, horizon);
  }

  async #subjectOf(partition: number, member: string): Promise<LogSubject | null> {
    if (member.startsWith(fieldMark)) return { kind: 'field', field: member.slice(fieldMark.length) };
    const known = this.#names.get(partition);
    const view = known === undefined ? null : loggedView(member, known);
    if (view !== null) return { kind: 'view', view };
    const read = loggedView(member, await this.#readNames(partition));
    return read === null ? null : { kind: 'view', view: read };
  }

  async #readNames(partition: number): Promise<ReadonlyMap<number, string>> {
    const names = await readLogNames(this.store, this.store.partitions.tag(partition), this.scope);
    this.#names.set(partition, names);
    return names;
  }
}

function pairsOf(list: readonly Buffer[]): { member: string; sequence: number }[] {
  return Array.from({ length: list.length / 2 }, (_, at) => ({
    member: String(list[at * 2]),
    sequence: Number(list[at * 2 + 1]),
  }));
}

/** The last sequence that a list covers: infinite if the list was not truncated. */
function endOf(list: readonly Buffer[], limit: number): number {
  return list.length < limit * 2 ? Number.POSITIVE_INFINITY : Number(list.at(-1));
}

/**
 * Number of entries after a position; a view may have several.
 * @param sequences of all partitions
 * @throws StoreUnavailableError
 */
export async function countChangesAfter(
  store: Store,
  { tenant, environmentId }: EnvironmentScope,
  {
    sequences,
    copyFrom,
  }: { readonly sequences: readonly number[]; readonly copyFrom: readonly number[] | null },
): Promise<number> {
  const counts = await Promise.all(
    sequences.flatMap((sequence, partition) => {
      const tag = store.partitions.tag(partition);
      const tracesFrom = Math.max(sequence, copyFrom?.[partition] ?? 0);
      return [
        answerOf(store.client.zcount(keys.log(tag, tenant, environmentId), `(${sequence}`, '+inf')),
        answerOf(store.client.zcount(keys.traces(tag, tenant, environmentId), `(${tracesFrom}`, '+inf')),
      ];
    }),
  );
  return sum(counts);
}

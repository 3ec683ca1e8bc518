/** Reads the change log after a position, in pages (docs/design/changes.md "Reading"). */

import type { LogEntry, LogPortion, LogReader } from '../store/change-log/entries.ts';
import type { LoggedView } from '../store/change-log/logged-views.ts';
import { readRedirectsOnHosts } from '../store/change-log/served.ts';
import { viewIdentity } from '../store/keys.ts';
import type { Store } from '../store/store.ts';
import type { Position } from './offset.ts';

/** The removals since an offset are no longer in the log. */
export class OffsetGoneError extends Error {
  override readonly name = 'OffsetGoneError';
}

/** A changed view with its position in the log. */
export interface TakenEntry extends Pick<LogEntry, 'partition' | 'sequence'> {
  readonly view: LoggedView;
}

export interface LogPage {
  /** Sorted by sequence, without duplicate views. */
  readonly entries: readonly TakenEntry[];
  /** The position after the page. */
  readonly position: Position;
  /** True if no entries follow. */
  readonly isUpToDate: boolean;
  /** Number of the last announcement of each partition at the time of the read. */
  readonly announced: readonly number[];
}

/** Reads the rest of a partition in portions of at least this many entries. */
const portionMin = 16;

/** The position at which a full copy begins, which includes everything at the time of the call. */
export async function beginning(store: Store, log: LogReader): Promise<Position> {
  const copyFrom = (await end(store, log)).sequences;
  return { sequences: copyFrom.map(() => 0), copyFrom };
}

/** The position after everything at the time of the call. @throws StoreUnavailableError */
export async function end(store: Store, log: LogReader): Promise<Position> {
  const far = store.partitions.tags.map((_, partition) => ({
    partition,
    position: Number.MAX_SAFE_INTEGER,
    tracesFrom: Number.MAX_SAFE_INTEGER,
    until: Number.MAX_SAFE_INTEGER,
  }));
  const portions = await log.read(far, 1);
  return { sequences: portions.map(({ last }) => last), copyFrom: null };
}

export interface LogRange {
  readonly from: Position;
  /** The last position to read; null: the present. */
  readonly until: Position | null;
  /** Maximum number of views. Only a single entry may exceed it: that of a field whose redirects on hosts were hidden. */
  readonly limit: number;
}

/** @throws OffsetGoneError, StoreUnavailableError */
export async function readLogPage(store: Store, log: LogReader, range: LogRange): Promise<LogPage> {
  const { from, limit } = range;
  const cursors = from.sequences.map((_, partition) => new PartitionCursor(partition, range));
  const share = Math.max(portionMin, Math.ceil(limit / cursors.length));
  let isUpToDate = false;
  for (let found = 0; found < limit; ) {
    const open = cursors.filter(({ isAll }) => !isAll);
    if (open.length === 0) {
      isUpToDate = true;
      break;
    }
    const portions = await log.read(
      open.map(({ next }) => next),
      share,
    );
    portions.forEach((portion, at) => {
      check(store, portion, from);
      open[at]?.add(portion);
    });
    found = cursors.reduce((sum, { entries }) => sum + entries.length, 0);
  }
  isUpToDate ||= cursors.every(({ isAll }) => isAll);
  const all = cursors.flatMap(({ entries }) => entries).sort((a, b) => a.sequence - b.sequence);
  const { entries, passed } = await viewsOf(store, log, all, limit);
  isUpToDate &&= passed === all.length;
  return {
    entries,
    position: positionAfter(from, cursors, all.slice(0, passed), isUpToDate),
    isUpToDate,
    announced: cursors.map(({ announced }) => announced),
  };
}

function check(
  store: Store,
  { partition, horizon, last }: LogPortion,
  { sequences, copyFrom }: Position,
): void {
  const position = sequences[partition] ?? 0;
  const knowsRemovalsFrom = Math.max(position, copyFrom?.[partition] ?? 0);
  if (knowsRemovalsFrom < horizon) throw new OffsetGoneError('its removals are no longer known');
  // Redis has restarted without its last writes, so what was reported since then may not exist.
  if (store.mayForget && knowsRemovalsFrom > last)
    throw new OffsetGoneError('the store is in an earlier state');
}

/** The progress of reading a partition for a page. */
class PartitionCursor {
  readonly entries: LogEntry[] = [];
  isAll = false;
  /** The end of its log when all of it had been read, or the limit of the page. */
  last = 0;
  announced = 0;
  #position: number;
  readonly #copyFrom: number;
  readonly #until: number;

  constructor(
    readonly partition: number,
    { from, until }: LogRange,
  ) {
    this.#until = until?.sequences[partition] ?? Number.MAX_SAFE_INTEGER;
    this.#position = from.sequences[partition] ?? 0;
    this.#copyFrom = from.copyFrom?.[partition] ?? 0;
  }

  get next() {
    const position = this.#position;
    const tracesFrom = Math.max(position, this.#copyFrom);
    return { partition: this.partition, position, tracesFrom, until: this.#until };
  }

  add({ entries, isAll, last, announced }: LogPortion): void {
    this.entries.push(...entries);
    this.isAll = isAll;
    this.last = Math.min(last, this.#until);
    this.announced = announced;
    this.#position = entries.at(-1)?.sequence ?? this.#position;
  }
}

function positionAfter(
  from: Position,
  cursors: readonly PartitionCursor[],
  taken: readonly LogEntry[],
  isUpToDate: boolean,
): Position {
  const sequences = [...from.sequences];
  for (const { partition, sequence } of taken) sequences[partition] = sequence;
  if (!isUpToDate) return settled({ sequences, copyFrom: from.copyFrom });
  return {
    sequences: cursors.map(({ last }, partition) => Math.max(last, sequences[partition] ?? 0)),
    copyFrom: null,
  };
}

/** A copy is complete when it has passed its start in every partition. */
export function settled({ sequences, copyFrom }: Position): Position {
  const isOver = copyFrom?.every((start, partition) => (sequences[partition] ?? 0) >= start) ?? true;
  return { sequences, copyFrom: isOver ? null : copyFrom };
}

/**
 * The views of the first entries, each at its first entry. An entry with more views than the limit is returned whole, because
 * no offset can point into it.
 * @returns also the number of these entries
 */
async function viewsOf(
  store: Store,
  log: LogReader,
  all: readonly LogEntry[],
  limit: number,
): Promise<{ entries: TakenEntry[]; passed: number }> {
  const known = new Set<string>();
  const entries: TakenEntry[] = [];
  for (const [passed, { partition, sequence, subject }] of all.entries()) {
    const views =
      subject.kind === 'view' ? [subject.view] : await readRedirectsOnHosts(store, log.scope, subject.field);
    const more = views.filter((view) => !known.has(viewIdentity(view)));
    if (entries.length > 0 && entries.length + more.length > limit) return { entries, passed };
    for (const view of more) {
      if (known.has(viewIdentity(view))) continue;
      known.add(viewIdentity(view));
      entries.push({ partition, sequence, view });
    }
  }
  return { entries, passed: all.length };
}

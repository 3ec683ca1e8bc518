/** Takes what the change log has after a position, in pages (docs/design/changes.md "Reading"). */
import type { LogEntry, LogPortion, LogReader } from '../store/change-log/entries.ts';
import type { LoggedView } from '../store/change-log/logged-views.ts';
import { readRedirectsOnHosts } from '../store/change-log/served.ts';
import type { Store } from '../store/store.ts';
import type { Position } from './offset.ts';
import { viewName } from './view-states.ts';

/** The offset names a state whose removals are no longer known. */
export class OffsetGoneError extends Error {
  override readonly name = 'OffsetGoneError';
}

/** A view that has changed, with its place in the log. */
export interface TakenEntry extends Pick<LogEntry, 'partition' | 'sequence'> {
  readonly view: LoggedView;
}

export interface LogPage {
  /** In the order of sequences, each view once. */
  readonly entries: readonly TakenEntry[];
  /** Where the page ends. */
  readonly position: Position;
  /** Nothing is after it. */
  readonly isUpToDate: boolean;
  /** Number of the last announcement of each partition when it was read. */
  readonly announced: readonly number[];
}

/** Reads the rest of a partition in portions of at least this many entries. */
const portionMin = 16;

/** Everything that was there when this is called, and a copy of it has all. */
export async function beginning(store: Store, log: LogReader): Promise<Position> {
  const copyFrom = (await end(store, log)).sequences;
  return { sequences: copyFrom.map(() => 0), copyFrom };
}

/** After everything that was there when this is called. @throws StoreUnavailableError */
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
  /** Where it ends at the latest; null: at the present. */
  readonly until: Position | null;
  /** The most views, unless one entry alone is about more: that of a field whose redirects on hosts were hidden. */
  readonly limit: number;
}

/** @throws OffsetGoneError, StoreUnavailableError */
export async function readLogPage(store: Store, log: LogReader, range: LogRange): Promise<LogPage> {
  const { from, limit } = range;
  const places = from.sequences.map((_, partition) => new PlaceInLog(partition, range));
  const share = Math.max(portionMin, Math.ceil(limit / places.length));
  let isUpToDate = false;
  for (let found = 0; found < limit; ) {
    const open = places.filter(({ isAll }) => !isAll);
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
    found = places.reduce((sum, { entries }) => sum + entries.length, 0);
  }
  isUpToDate ||= places.every(({ isAll }) => isAll);
  const all = places.flatMap(({ entries }) => entries).sort((a, b) => a.sequence - b.sequence);
  const { entries, passed } = await viewsOf(store, log, all, limit);
  isUpToDate &&= passed === all.length;
  return {
    entries,
    position: positionBehind(from, places, all.slice(0, passed), isUpToDate),
    isUpToDate,
    announced: places.map(({ announced }) => announced),
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
  // A Redis that came back without its last writes: what was reported from there on may never have been.
  if (store.mayForget && knowsRemovalsFrom > last)
    throw new OffsetGoneError('the store is in an earlier state');
}

/** How far one partition has been read for a page. */
class PlaceInLog {
  readonly entries: LogEntry[] = [];
  isAll = false;
  /** Where its log ended when all of it had been read, or where the page ends at the latest. */
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

function positionBehind(
  from: Position,
  places: readonly PlaceInLog[],
  taken: readonly LogEntry[],
  isUpToDate: boolean,
): Position {
  const sequences = [...from.sequences];
  for (const { partition, sequence } of taken) sequences[partition] = sequence;
  if (!isUpToDate) return settled({ sequences, copyFrom: from.copyFrom });
  return {
    sequences: places.map(({ last }, partition) => Math.max(last, sequences[partition] ?? 0)),
    copyFrom: null,
  };
}

/** A copy is over when it has passed its beginning everywhere. */
export function settled({ sequences, copyFrom }: Position): Position {
  const isOver = copyFrom?.every((start, partition) => (sequences[partition] ?? 0) >= start) ?? true;
  return { sequences, copyFrom: isOver ? null : copyFrom };
}

/**
 * The views that the first entries are about, each once, at its first entry. An entry that alone is about more views than
 * the limit comes whole: an offset names no place within it.
 * @returns also how many entries that are
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
    const more = views.filter((view) => !known.has(viewName(view)));
    if (entries.length > 0 && entries.length + more.length > limit) return { entries, passed };
    for (const view of more) {
      if (known.has(viewName(view))) continue;
      known.add(viewName(view));
      entries.push({ partition, sequence, view });
    }
  }
  return { entries, passed: all.length };
}

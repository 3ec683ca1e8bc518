/** The changes of one environment, page by page (docs/reference/http.md "Changes"). */

import type { Configuration } from '../config/configuration.ts';
import { stampText } from '../contract/entity.ts';
import { formatViewId } from '../contract/ids.ts';
import { LogReader } from '../store/change-log/entries.ts';
import type { LoggedView } from '../store/change-log/logged-views.ts';
import type { Destination } from '../store/derived/processed-record.ts';
import { changeTags } from '../store/derived/subjects.ts';
import type { EnvironmentScope } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';
import { formatVersion, readAnnounced } from '../store/visibility/version.ts';
import { beginning, end, readLogPage, settled, type TakenEntry } from './log-page.ts';
import { formatOffset, type Position, parseOffset } from './offset.ts';
import { type FoundPlaces, readShownOn, type ShownOn } from './shown-on.ts';
import { readViewStates, type Served, type ViewState } from './view-states.ts';

/** A view in the feed (docs/reference/http.md "Changes"). */
export interface Change extends Served {
  /** View id. */
  readonly id: string;
  readonly alias: string;
  readonly sourceGroup: string;
  readonly originId: string;
  /** Type of the entity. */
  readonly type: string;
  readonly action: 'set' | 'removed';
  /** Former URLs, handles and redirects, which it lost within the retention. */
  readonly left: Served;
  readonly tags: readonly string[];
  /** Token for `X-Service-Min-Version`. */
  readonly version: string;
  /** ISO 8601. */
  readonly at: string;
}

export interface FeedPage {
  readonly changes: readonly FeedChange[];
  readonly position: Position;
  /** True if there are no further changes at present. */
  readonly isUpToDate: boolean;
}

/** A change, and the position of its reader after it. */
export interface FeedChange {
  readonly change: Change;
  readonly view: LoggedView;
  /** Sequence of its log entry. */
  readonly sequence: number;
  readonly destinations: readonly Destination[];
  readonly position: Position;
}

export interface FeedOptions {
  readonly store: Store;
  readonly configuration: { readonly current: Configuration };
  /** How long removals and former URLs are reported. */
  readonly retentionMs: number;
}

export class Feed {
  readonly #log: LogReader;

  constructor(
    private readonly options: FeedOptions,
    readonly scope: EnvironmentScope,
  ) {
    this.#log = new LogReader(options.store, scope);
  }

  /** The start of a full copy. @throws StoreUnavailableError */
  beginning(): Promise<Position> {
    return beginning(this.options.store, this.#log);
  }

  /** The position after everything reported so far. @throws StoreUnavailableError */
  end(): Promise<Position> {
    return end(this.options.store, this.#log);
  }

  offsetOf(position: Position): string {
    return formatOffset(this.options.store.secret, this.scope, position);
  }

  /** Null if the text is not an offset of this environment. */
  positionOf(offset: string): Position | null {
    const { secret, partitions } = this.options.store;
    return parseOffset(secret, this.scope, partitions.count, offset);
  }

  /** Checks that no removal after a position has been dropped from the log. @throws OffsetGoneError, StoreUnavailableError */
  async check(from: Position): Promise<void> {
    await readLogPage(this.options.store, this.#log, { from, until: from, limit: 1 });
  }

  /** The other places where changed views are delivered. @throws StoreUnavailableError */
  async shownOn(changes: readonly FeedChange[]): Promise<ShownOn[]> {
    const shown: ShownOn[] = [];
    for (const { view } of changes) shown.push((await this.placesOf(view)).places);
    return shown;
  }

  /** The other places where a view is delivered now. @throws StoreUnavailableError */
  placesOf(view: LoggedView): Promise<FoundPlaces> {
    return readShownOn(this.options.store, this.#log, view);
  }

  /**
   * The next changes after a position. An empty page is not necessarily the last.
   * @param until the last position to read, not before `from`; absent: the present
   * @throws OffsetGoneError, StoreUnavailableError
   */
  async page(from: Position, limit: number, until: Position | null = null): Promise<FeedPage> {
    const { store, retentionMs } = this.options;
    const page = await readLogPage(store, this.#log, { from, until, limit });
    const { entries, position, isUpToDate, announced } = page;
    const views = entries.map(({ view }) => view);
    const keptSince = (Date.now() - retentionMs) * 1000;
    const states = await readViewStates(store, this.#log, views, keptSince);
    const { fields, partitions } = store;
    const after = entries.length === 0 ? announced : await readAnnounced(fields, partitions.tags);
    const marks = new Marks(announced, after);
    const positions = positionsAfter(from, entries);
    const changes = entries.flatMap((entry, at) => {
      const state = states[at] ?? null;
      if (state === null || this.#isBeforeCopy(from, entry, state)) return [];
      const change = this.#changeOf(entry, state, marks);
      const { view, sequence } = entry;
      return [{ change, view, sequence, destinations: state.destinations, position: positions[at] ?? from }];
    });
    return { changes, position, isUpToDate };
  }

  /** True for a removal before the start of the copy, because a copy only has existing views. */
  #isBeforeCopy(
    { copyFrom }: Position,
    { partition, sequence }: TakenEntry,
    { isThere }: ViewState,
  ): boolean {
    return !isThere && copyFrom !== null && sequence <= (copyFrom[partition] ?? 0);
  }

  #changeOf({ partition, sequence, view }: TakenEntry, state: ViewState, marks: Marks): Change {
    const { environmentId } = this.scope;
    const { sourceId, originId, alias } = view;
    const { isThere, type, served, left } = state;
    const { partitions } = this.options.store;
    return {
      id: formatViewId({ environmentId, sourceId, originId, alias }),
      alias,
      sourceGroup: this.#sourceGroupOf(sourceId) ?? state.sourceGroup ?? '',
      originId,
      type,
      action: isThere ? 'set' : 'removed',
      ...served,
      left,
      tags: changeTags(this.scope, view, state.fields),
      version: marks.version([partition, partitions.ofEntity(sourceId, originId)]),
      at: stampText(sequence),
    };
  }

  #sourceGroupOf(sourceId: string): string | null {
    const tenant = this.options.configuration.current.tenants.get(this.scope.tenant);
    return tenant?.sources.get(sourceId)?.sourceGroup ?? null;
  }
}

const noWrites = new Map<number, number>();

/** The position of a reader after each entry. Entries with the same sequence are passed together. */
function positionsAfter(from: Position, entries: readonly TakenEntry[]): Position[] {
  const sequences = [...from.sequences];
  return entries.map(({ partition, sequence }, at) => {
    const next = entries[at + 1];
    const isLastOfIts = next?.partition !== partition || next.sequence !== sequence;
    if (isLastOfIts) sequences[partition] = sequence;
    return settled({ sequences: [...sequences], copyFrom: from.copyFrom });
  });
}

/**
 * Announcement numbers, read after the views. A reader that has received them sees the reported state: the numbers of the
 * change's partitions, and those that moved while the views were read.
 */
class Marks {
  readonly #moved: readonly number[];

  constructor(
    before: readonly number[],
    private readonly after: readonly number[],
  ) {
    this.#moved = after.flatMap((number, partition) => (number === before[partition] ? [] : [partition]));
  }

  version(partitions: readonly number[]): string {
    const announced = new Map(
      [...partitions, ...this.#moved].map((partition) => [partition, this.after[partition] ?? 0]),
    );
    return formatVersion(noWrites, announced);
  }
}

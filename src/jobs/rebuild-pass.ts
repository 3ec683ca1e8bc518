/**
 * A pass over a partition: finds the entities that must be rebuilt, in portions, and invalidates them. It continues where an
 * earlier run was interrupted.
 */
import { formatDependent } from '../store/derived/dependents.ts';
import { type ProcessedPortion, processedPortion, readProcessed } from '../store/derived/processed.ts';
import { type OriginIdsPortion, originIdsPortion, readEntities } from '../store/entities/entities.ts';
import { invalidate, outsideCaller } from '../store/partitions/intake.ts';
import { lastSequence } from '../store/partitions/partition-state.ts';
import type { ScanPlace } from '../store/redis/scan.ts';
import type { SourceRef } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';
import type { PartitionJob } from './partition-job.ts';
import type { RebuildProgress, RebuildTask } from './rebuild-job-queue.ts';

export interface PassSource extends SourceRef {
  /** From `sourceField`; sources are scanned in the order of these strings. */
  readonly key: string;
}

export type ProcessedEntity = ProcessedPortion['records'][number];

/** Selects the records whose entities must be rebuilt. */
export type Criterion = (
  source: PassSource,
  records: readonly ProcessedEntity[],
) => readonly ProcessedEntity[] | Promise<readonly ProcessedEntity[]>;

export class RebuildPass {
  constructor(
    private readonly store: Store,
    private readonly job: PartitionJob<RebuildTask, RebuildProgress>,
    private readonly criterion: Criterion,
    private readonly isSuperseded: () => boolean,
    private readonly onInvalidated: (count: number) => void,
  ) {}

  /** @throws AbortError, StoreUnavailableError */
  async run(sources: readonly PassSource[]): Promise<void> {
    const from = this.job.progress.place;
    for (const source of sources) {
      if (from !== null && source.key < from.source) continue;
      const place = from?.source === source.key ? from : null;
      if (place?.scan !== 'entities') await this.#scanRecords(source, place?.at ?? null);
      await this.#scanEntities(source, place?.scan === 'entities' ? place.at : null);
      if (this.isSuperseded()) return;
    }
  }

  async #scanRecords(source: PassSource, from: ScanPlace | null): Promise<void> {
    const { key, tenant, sourceId } = source;
    const { job, store } = this;
    let at = from;
    do {
      const portion: ProcessedPortion = await processedPortion(store, job.tag, tenant, sourceId, at);
      const { records } = portion;
      const outdated = records.length === 0 ? [] : await this.criterion(source, records);
      await this.#invalidate(
        source,
        outdated.map(({ originId }) => originId),
      );
      at = portion.next;
      if (job.progress.pass === 1) this.#countScanned(tenant, records.length);
      await job.reach({ place: { source: key, scan: at === null ? 'entities' : 'records', at } });
    } while (at !== null && !this.isSuperseded());
  }

  #countScanned(tenant: string, count: number): void {
    const { scanned, ofTenants = [] } = this.job.progress;
    this.job.update({
      scanned: scanned + count,
      ofTenants: ofTenants.map((one) => (one[0] === tenant ? [tenant, one[1] + count, one[2]] : one)),
    });
  }

  async #scanEntities(source: PassSource, from: ScanPlace | null): Promise<void> {
    const { key, tenant, sourceId } = source;
    let at = from;
    do {
      const portion: OriginIdsPortion = await originIdsPortion(
        this.store,
        this.job.partition,
        tenant,
        sourceId,
        at,
      );
      await this.#invalidate(source, await this.#unprocessed(source, portion.originIds));
      at = portion.next;
      await this.job.reach({ place: { source: key, scan: 'entities', at } });
    } while (at !== null && !this.isSuperseded());
  }

  /** Entities without a record, although the stream entry that announced them is processed. */
  async #unprocessed(source: PassSource, originIds: readonly string[]): Promise<string[]> {
    const { tenant, sourceId } = source;
    const waiting = await this.#withoutRecord(source, originIds);
    if (waiting.length === 0) return [];
    await this.job.waits.untilCheckpoint(await lastSequence(this.store, this.job.tag));
    const missing = await this.#withoutRecord(source, waiting);
    const refs = missing.map((originId) => ({ sourceId, originId }));
    const entities = await readEntities(this.store, tenant, refs);
    return missing.filter((_, index) => entities[index] !== null);
  }

  async #withoutRecord(
    { tenant, sourceId }: PassSource,
    originIds: readonly string[],
  ): Promise<readonly string[]> {
    if (originIds.length === 0) return [];
    const records = await readProcessed(this.store, this.job.tag, tenant, sourceId, originIds);
    return originIds.filter((_, index) => records[index] === null);
  }

  async #invalidate({ tenant, sourceId }: PassSource, originIds: readonly string[]): Promise<void> {
    const { job, store } = this;
    for (let at = 0; at < originIds.length; ) {
      job.signal.throwIfAborted();
      const count = await job.nextPortion();
      await job.waits.untilRoom(job.progress.lastMarks, count);
      const portion = originIds.slice(at, at + count);
      at += portion.length;
      const dependents = portion.map((originId) =>
        formatDependent({ kind: 'entity', environmentId: '', name: '', sourceId, originId }),
      );
      const sequence = await invalidate(store, outsideCaller, job.partition, tenant, dependents);
      const { marked, markedInPass, lastMarks } = job.progress;
      job.update({
        marked: marked + portion.length,
        markedInPass: markedInPass + portion.length,
        lastMarks: [...new Map(lastMarks).set(tenant, sequence)],
      });
      this.onInvalidated(portion.length);
    }
  }
}

/**
 * The schedule: for each entity whose publish state will change, the time of the next change. An ordered list per source and
 * partition. The commit that stores the outputs of an entity also writes its entry, so every processed entity has one if it
 * needs one.
 */

import { keys } from '../keys.ts';
import { hasListed, listLengths, readListPage, readPageOfAll } from '../redis/ordered-lists.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { type SourceRef, sourceField, sourceOfField } from '../scopes.ts';
import type { Store } from '../store.ts';
import { forgetField } from './forget-field.ts';

/** Enough for the year 9999. All have the same length, so that they sort by time. */
const momentCharacters = 10;
const momentBase = 36;

export interface ScheduledMoment {
  readonly atMs: number;
  readonly originId: string;
}

export function scheduleText({ atMs, originId }: ScheduledMoment): string {
  // No entity is scheduled for before 1970.
  const moment = Math.max(0, atMs).toString(momentBase).padStart(momentCharacters, '0');
  return `${moment}${originId}`;
}

export function parseScheduleText(text: string): ScheduledMoment {
  return {
    atMs: Number.parseInt(text.slice(0, momentCharacters), momentBase),
    originId: text.slice(momentCharacters),
  };
}

/** The sources that may have a schedule in a partition. @throws StoreUnavailableError */
export async function scheduledSources(store: Store, tag: string): Promise<SourceRef[]> {
  return (await answerOf(store.client.hkeys(keys.scheduledSources(tag)))).map(sourceOfField);
}

/** Removes a source if it has no scheduled entities in a partition. @throws StoreUnavailableError */
export async function forgetSchedule(store: Store, tag: string, source: SourceRef): Promise<void> {
  const list = keys.schedule(tag, source.tenant, source.sourceId);
  await forgetField(store, keys.scheduledSources(tag), sourceField(source), list);
}

/** Number of scheduled entities of a source in a partition. @throws StoreUnavailableError */
export async function countScheduled(
  store: Store,
  tag: string,
  { tenant, sourceId }: SourceRef,
): Promise<number> {
  const [count = 0] = await listLengths(store, tag, [keys.schedule(tag, tenant, sourceId)]);
  return count;
}

/** The next scheduled entries of a source in a partition, at most `limit`. @throws StoreUnavailableError */
export async function nextMoments(
  store: Store,
  tag: string,
  { tenant, sourceId }: SourceRef,
  limit: number,
): Promise<ScheduledMoment[]> {
  const list = keys.schedule(tag, tenant, sourceId);
  const texts = await readListPage(store, list, { direction: 'ascending', limit });
  return texts.map((text) => parseScheduleText(String(text)));
}

/** Whether each entry is in the schedule of a partition, in the order given. @throws StoreUnavailableError */
export async function areScheduled(
  store: Store,
  tag: string,
  { tenant, sourceId }: SourceRef,
  moments: readonly ScheduledMoment[],
): Promise<boolean[]> {
  return await hasListed(store, keys.schedule(tag, tenant, sourceId), moments.map(scheduleText));
}

/** A position in the order of `listScheduled`. */
export interface SchedulePlace extends ScheduledMoment {
  readonly sourceId: string;
}

/**
 * The next scheduled entries of several sources of a tenant, sorted by time, then by originId and source.
 * @param after return entries after this position; null: from the beginning
 * @throws StoreUnavailableError
 */
export async function listScheduled(
  store: Store,
  tenant: string,
  sourceIds: readonly string[],
  after: SchedulePlace | null,
  limit: number,
): Promise<SchedulePlace[]> {
  const found = await Promise.all(
    sourceIds.map((sourceId) => momentsAfter(store, { tenant, sourceId }, after, limit)),
  );
  return found.flat().sort(comparePlaces).slice(0, limit);
}

async function momentsAfter(
  store: Store,
  { tenant, sourceId }: SourceRef,
  after: SchedulePlace | null,
  limit: number,
): Promise<SchedulePlace[]> {
  const lists = store.partitions.tags.map((tag) => keys.schedule(tag, tenant, sourceId));
  const text = after === null ? undefined : scheduleText(after);
  const texts = (await readPageOfAll(store, lists, { direction: 'ascending', after: text, limit })).map(
    String,
  );
  if (after !== null && text !== undefined && after.sourceId < sourceId) {
    // Another source may have an entity with the same id and time.
    const tag = store.partitions.tag(store.partitions.ofEntity(sourceId, after.originId));
    const [isThere] = await areScheduled(store, tag, { tenant, sourceId }, [after]);
    if (isThere) texts.unshift(text);
  }
  return texts.map((one) => ({ ...parseScheduleText(one), sourceId }));
}

function comparePlaces(a: SchedulePlace, b: SchedulePlace): number {
  const byText = Buffer.compare(Buffer.from(scheduleText(a)), Buffer.from(scheduleText(b)));
  if (byText !== 0) return byText;
  return a.sourceId < b.sourceId ? -1 : 1;
}

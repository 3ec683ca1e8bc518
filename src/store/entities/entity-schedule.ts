/**
 * The schedule: for each entity that a moment is still to change, that moment. It is an ordered list for each source and
 * partition, written by the commit that stores what was built from the entity, so an entity that was processed has its entry.
 */
import { sourceField } from '../derived/processed.ts';
import { keys } from '../keys.ts';
import { hasListed, listLengths, readListPage, readPageOfAll } from '../redis/ordered-lists.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

/** Enough for the year 9999; all have the same length, so that their order is that of time. */
const momentCharacters = 10;
const momentBase = 36;

export interface ScheduledSource {
  readonly tenant: string;
  readonly sourceId: string;
}

export interface ScheduledMoment {
  readonly atMs: number;
  readonly originId: string;
}

export function scheduleText({ atMs, originId }: ScheduledMoment): string {
  // Nothing waits for a moment before 1970: it is past.
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
export async function scheduledSources(store: Store, tag: string): Promise<ScheduledSource[]> {
  const fields = await answerOf(store.client.hkeys(keys.scheduledSources(tag)));
  return fields.map((field) => {
    const [tenant = '', sourceId = ''] = field.split('|');
    return { tenant, sourceId };
  });
}

/** Removes a source without scheduled entities. @throws StoreUnavailableError */
export async function forgetSchedule(
  store: Store,
  tag: string,
  { tenant, sourceId }: ScheduledSource,
): Promise<void> {
  await answerOf(store.client.hdel(keys.scheduledSources(tag), sourceField(tenant, sourceId)));
}

/** How many entities of a source wait for a moment in a partition. @throws StoreUnavailableError */
export async function countScheduled(
  store: Store,
  tag: string,
  { tenant, sourceId }: ScheduledSource,
): Promise<number> {
  const [count = 0] = await listLengths(store, tag, [keys.schedule(tag, tenant, sourceId)]);
  return count;
}

/** The next moments of a source in a partition, at most `limit`. @throws StoreUnavailableError */
export async function nextMoments(
  store: Store,
  tag: string,
  { tenant, sourceId }: ScheduledSource,
  limit: number,
): Promise<ScheduledMoment[]> {
  const list = keys.schedule(tag, tenant, sourceId);
  const texts = await readListPage(store, list, { direction: 'ascending', limit });
  return texts.map((text) => parseScheduleText(String(text)));
}

/** Which of the moments the schedule of a partition has, in the order given. @throws StoreUnavailableError */
export async function areScheduled(
  store: Store,
  tag: string,
  { tenant, sourceId }: ScheduledSource,
  moments: readonly ScheduledMoment[],
): Promise<boolean[]> {
  return await hasListed(store, keys.schedule(tag, tenant, sourceId), moments.map(scheduleText));
}

/** A place in the order of `listScheduled`. */
export interface SchedulePlace extends ScheduledMoment {
  readonly sourceId: string;
}

/**
 * The next moments of several sources of a tenant, in the order of time, then of originId and source.
 * @param after place after which they begin; null: the beginning. @throws StoreUnavailableError
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
  { tenant, sourceId }: ScheduledSource,
  after: SchedulePlace | null,
  limit: number,
): Promise<SchedulePlace[]> {
  const lists = store.partitions.tags.map((tag) => keys.schedule(tag, tenant, sourceId));
  const text = after === null ? undefined : scheduleText(after);
  const texts = (await readPageOfAll(store, lists, { direction: 'ascending', after: text, limit })).map(
    String,
  );
  if (after !== null && text !== undefined && after.sourceId < sourceId) {
    // Another source may have an entity of the same id that waits for the same moment.
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

/**
 * `GET /management/v1/schedule`: the next entities to be published or unpublished (docs/reference/management.md "The
 * schedule").
 */

import type { Source, Tenant } from '../../config/configuration.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { jsonOf } from '../../contract/json.ts';
import { momentText } from '../../contract/publish-times.ts';
import type { ScheduleAnswer } from '../../contract/shapes-management.ts';
import { readEntities } from '../../store/entities/entities.ts';
import { listScheduled, type SchedulePlace } from '../../store/entities/entity-schedule.ts';
import type { Store } from '../../store/store.ts';
import { jsonAnswer } from '../answer.ts';
import type { Handler } from '../call.ts';
import { requestedPage } from '../request-parameters.ts';
import type { Services } from '../services.ts';

export function managementSchedule({ store }: Services): Handler {
  return async (call) => {
    const { tenant } = call.manager;
    const { first, after } = requestedPage(call);
    const place = after === null ? null : placeOf(after);
    const found = await listScheduled(store, tenant.alias, [...tenant.sources.keys()], place, first + 1);
    const page = found.slice(0, first);
    const last = page.at(-1);
    return jsonAnswer<ScheduleAnswer>(200, {
      scheduled: await entriesOf(store, tenant, page),
      next: found.length > first && last !== undefined ? cursorOf(last) : null,
    });
  };
}

/** Leaves out entries that a later save has changed but no worker has processed yet. */
async function entriesOf(
  store: Store,
  tenant: Tenant,
  page: readonly SchedulePlace[],
): Promise<ScheduleAnswer['scheduled']> {
  const entities = await readEntities(store, tenant.alias, page);
  return page.flatMap(({ sourceId, atMs }, at) => {
    const [entity, source] = [entities[at] ?? null, tenant.sources.get(sourceId)];
    const becomes = entity === null ? null : stateFrom(entity, atMs);
    return entity === null || source === undefined || becomes === null
      ? []
      : [entryOf(source, entity, atMs, becomes)];
  });
}

type Becomes = ScheduleAnswer['scheduled'][number]['becomes'];

function entryOf(
  source: Source,
  { originId, type }: StoredEntity,
  atMs: number,
  becomes: Becomes,
): ScheduleAnswer['scheduled'][number] {
  const environment = source.environments[0]?.alias ?? null;
  return { sourceGroup: source.sourceGroup, environment, originId, type, at: momentText(atMs), becomes };
}

function stateFrom({ times }: StoredEntity, atMs: number): Becomes | null {
  if (times?.publishAt === atMs) return 'published';
  return times?.unpublishAt === atMs ? 'over' : null;
}

function cursorOf({ atMs, sourceId, originId }: SchedulePlace): string {
  return Buffer.from(JSON.stringify([atMs, sourceId, originId])).toString('base64url');
}

/** @throws ProblemError `parameterInvalid` */
function placeOf(cursor: string): SchedulePlace {
  const parts = jsonOf(Buffer.from(cursor, 'base64url').toString());
  const [atMs, sourceId, originId] = Array.isArray(parts) ? parts : [];
  if (typeof atMs === 'number' && typeof sourceId === 'string' && typeof originId === 'string') {
    return { atMs, sourceId, originId };
  }
  throw new ProblemError(
    problems.parameterInvalid('after', 'must be the next of a previous page, or absent'),
  );
}

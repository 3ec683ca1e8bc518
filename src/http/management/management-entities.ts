/** `GET /management/v1/entities`: entities by group and type, in the order of their originIds (docs/reference/management.md). */

import { type StoredEntity, stampText } from '../../contract/entity.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { managementEntitiesReadMax, managementPageMax } from '../../contract/limits.ts';
import { type PublishState, publishStates, stateAt } from '../../contract/publish-times.ts';
import type { EntitiesAnswer } from '../../contract/shapes-management.ts';
import { listOriginIds } from '../../store/entities/directory.ts';
import { readEntities } from '../../store/entities/entities.ts';
import { readOwners } from '../../store/partitions/owners.ts';
import type { Store } from '../../store/store.ts';
import { jsonAnswer } from '../answer.ts';
import type { Call } from '../call.ts';
import type { Handler } from '../handler.ts';
import type { Services } from '../services.ts';
import { askedEnvironment, askedText, requiredText, sourceOf } from './asked.ts';
import { askedPage } from './paging.ts';

export function managementEntities({ store }: Services): Handler {
  return async (call) => {
    const { tenant } = call.manager;
    const source = sourceOf(tenant, requiredText(call, 'sourceGroup'), askedEnvironment(call));
    const { first, after } = askedPage(call);
    const place = { tenant: tenant.alias, sourceId: source.id, type: askedText(call, 'type') };
    const state = askedState(call);
    const { entities, next } =
      state === null
        ? await pageAfter(store, place, after, first)
        : await pageInState(store, place, after, first, state);
    return jsonAnswer<EntitiesAnswer>(200, {
      entities: entities.map(({ originId, type, url, stamp }) => ({
        ...{ originId, type, url },
        updatedAt: stampText(stamp),
      })),
      next,
    });
  };
}

/** @throws ProblemError `parameterInvalid` */
function askedState(call: Call): PublishState | null {
  const text = askedText(call, 'state');
  const state = publishStates.find((one) => one === text);
  if (text === null || state !== undefined) return state ?? null;
  throw new ProblemError(problems.parameterInvalid('state', `must be one of ${publishStates.join(', ')}`));
}

interface Place {
  readonly tenant: string;
  readonly sourceId: string;
  /** Null: all types. */
  readonly type: string | null;
}

interface Page {
  readonly entities: readonly StoredEntity[];
  /** OriginId after which the next page begins; null on the last. */
  readonly next: string | null;
}

async function pageAfter(store: Store, place: Place, after: string | null, first: number): Promise<Page> {
  const { tenant, sourceId, type } = place;
  const originIds = await listOriginIds(store, { tenant, sourceId }, { type, after, limit: first + 1 });
  const page = originIds.slice(0, first);
  const refs = page.map((originId) => ({ sourceId, originId }));
  const entities = await readEntities(store, tenant, refs);
  return {
    // One that was deleted a moment ago is in the directory still.
    entities: entities.filter((entity) => entity !== null),
    next: originIds.length > first ? (page.at(-1) ?? null) : null,
  };
}

/** Goes through the entities up to a bound: a page may have fewer than were asked for, though it is not the last. */
async function pageInState(
  store: Store,
  place: Place,
  after: string | null,
  first: number,
  state: PublishState,
): Promise<Page> {
  const clocks = (await readOwners(store)).map(({ clockMs }) => clockMs);
  const isInState = ({ sourceId, originId, times }: StoredEntity) =>
    stateAt(times, clocks[store.partitions.ofEntity(sourceId, originId)] ?? 0) === state;
  const found: StoredEntity[] = [];
  let next = after;
  for (let read = 0; read < managementEntitiesReadMax; read += managementPageMax) {
    const page = await pageAfter(store, place, next, managementPageMax);
    for (const entity of page.entities) {
      if (!isInState(entity)) continue;
      if (found.length === first) return { entities: found, next: found.at(-1)?.originId ?? null };
      found.push(entity);
    }
    next = page.next;
    if (next === null) break;
  }
  return { entities: found, next };
}

/** `GET /management/v1/entities`: entities by group and type, in the order of their originIds (docs/reference/management.md). */

import { type StoredEntity, stampText } from '../../contract/entity.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { managementEntitiesReadMax, managementPageMax } from '../../contract/limits.ts';
import { type PublishState, publishStates, stateAt } from '../../contract/publish-times.ts';
import type { EntitiesAnswer } from '../../contract/shapes-management.ts';
import { listOriginIds } from '../../store/entities/directory.ts';
import { readEntities } from '../../store/entities/entities.ts';
import { readOwners } from '../../store/ownership/owners.ts';
import type { Store } from '../../store/store.ts';
import { jsonAnswer } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { requestedPage, requestedText } from '../request-parameters.ts';
import type { Services } from '../services.ts';
import { detailsOf } from './entity-details.ts';
import { requestedEnvironment, requestedFlag, requiredText, sourceOf } from './request-values.ts';

type StateOf = (entity: StoredEntity) => PublishState;

export function managementEntities({ store }: Services): Handler {
  return async (call) => {
    const { tenant } = call.manager;
    const environment = requestedEnvironment(call);
    const source = sourceOf(tenant, requiredText(call, 'sourceGroup'), environment);
    const { first, after } = requestedPage(call);
    const before = requestedText(call, 'before');
    const originId = requestedText(call, 'originId');
    const hasDetails = requestedFlag(call, 'details');
    const state = requestedState(call);
    if (before !== null && after !== null) {
      throw new ProblemError(problems.parameterInvalid('before', 'cannot be combined with after'));
    }
    const place: Place = { tenant: tenant.alias, sourceId: source.id, type: requestedText(call, 'type') };
    const stateOf = state !== null || hasDetails ? await readStates(store) : always;
    const wanted = (entity: StoredEntity) => state === null || stateOf(entity) === state;
    const from: Cursor = before === null ? { after } : { after: null, before };
    const { entities, next } =
      originId !== null
        ? await pageOfOne(store, place, originId, wanted)
        : state === null
          ? await pageFrom(store, place, from, first)
          : await pageOfWanted(store, place, from, first, wanted);
    const shown = before === null ? entities : entities.toReversed();
    const details = hasDetails ? await detailsOf(store, tenant, environment, shown, stateOf) : [];
    return jsonAnswer<EntitiesAnswer>(200, {
      entities: shown.map(({ originId: id, type, url, stamp }, at) => ({
        originId: id,
        type,
        url,
        updatedAt: stampText(stamp),
        ...details[at],
      })),
      ...(before === null ? { next } : { next: shown.at(-1)?.originId ?? null, previous: next }),
    });
  };
}

/** @throws ProblemError `parameterInvalid` */
function requestedState(call: Call): PublishState | null {
  const text = requestedText(call, 'state');
  const state = publishStates.find((one) => one === text);
  if (text === null || state !== undefined) return state ?? null;
  throw new ProblemError(problems.parameterInvalid('state', `must be one of ${publishStates.join(', ')}`));
}

const always: StateOf = () => 'published';

/** Publication states at the last known clock of each entity's partition. @throws StoreUnavailableError */
async function readStates(store: Store): Promise<StateOf> {
  const clocks = (await readOwners(store)).map(({ clockMs }) => clockMs);
  return ({ sourceId, originId, times }) =>
    stateAt(times, clocks[store.partitions.ofEntity(sourceId, originId)] ?? 0);
}

interface Place {
  readonly tenant: string;
  readonly sourceId: string;
  /** Null for all types. */
  readonly type: string | null;
}

/** Start of a page; with `before`, the list goes backwards. */
interface Cursor {
  readonly after: string | null;
  readonly before?: string;
}

/** In the direction of the cursor. */
interface Page {
  readonly entities: readonly StoredEntity[];
  /** OriginId at which the next page in the same direction starts; null on the last page. */
  readonly next: string | null;
}

async function pageOfOne(
  store: Store,
  { tenant, sourceId, type }: Place,
  originId: string,
  wanted: (entity: StoredEntity) => boolean,
): Promise<Page> {
  const [entity = null] = await readEntities(store, tenant, [{ sourceId, originId }]);
  const isThere = entity !== null && (type === null || entity.type === type) && wanted(entity);
  return { entities: isThere ? [entity] : [], next: null };
}

async function pageFrom(store: Store, place: Place, from: Cursor, first: number): Promise<Page> {
  const { tenant, sourceId, type } = place;
  const originIds = await listOriginIds(store, { tenant, sourceId }, { type, ...from, limit: first + 1 });
  const page = originIds.slice(0, first);
  const refs = page.map((originId) => ({ sourceId, originId }));
  const entities = await readEntities(store, tenant, refs);
  return {
    // An entity that was just deleted can still be in the directory.
    entities: entities.filter((entity) => entity !== null),
    next: originIds.length > first ? (page.at(-1) ?? null) : null,
  };
}

/** Scans a limited number of entities, so a page that is not the last can have fewer than requested. */
async function pageOfWanted(
  store: Store,
  place: Place,
  from: Cursor,
  first: number,
  wanted: (entity: StoredEntity) => boolean,
): Promise<Page> {
  const found: StoredEntity[] = [];
  let cursor = from;
  for (let read = 0; read < managementEntitiesReadMax; read += managementPageMax) {
    const page = await pageFrom(store, place, cursor, managementPageMax);
    for (const entity of page.entities) {
      if (!wanted(entity)) continue;
      if (found.length === first) return { entities: found, next: found.at(-1)?.originId ?? null };
      found.push(entity);
    }
    if (page.next === null) return { entities: found, next: null };
    cursor = from.before === undefined ? { after: page.next } : { after: null, before: page.next };
  }
  return { entities: found, next: cursor.before ?? cursor.after };
}

/** `GET /management/v1/entities`: entities by group and type, in the order of their originIds (docs/reference/management.md). */

import type { Environment, Tenant } from '../../config/configuration.ts';
import { type StoredEntity, stampText } from '../../contract/entity.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import type { EntityRef } from '../../contract/ids.ts';
import {
  managementEntitiesReadMax,
  managementPageMax,
  namedViewBytesMax,
  namedViewsBytesMax,
} from '../../contract/limits.ts';
import { momentText, type PublishState, publishStates, stateAt } from '../../contract/publish-times.ts';
import type { EntitiesAnswer } from '../../contract/shapes-management.ts';
import { titleOf } from '../../contract/view-title.ts';
import { groupBy, portions } from '../../lib/lists.ts';
import { readProcessed } from '../../store/derived/processed.ts';
import type { ProcessedRecord } from '../../store/derived/processed-record.ts';
import type { StoredBody } from '../../store/derived/stored-body.ts';
import { readView } from '../../store/derived/views.ts';
import { listOriginIds } from '../../store/entities/directory.ts';
import { readEntities } from '../../store/entities/entities.ts';
import { isUrlField } from '../../store/keys.ts';
import { readOwners } from '../../store/ownership/owners.ts';
import type { Store } from '../../store/store.ts';
import { viewJson } from '../../trial/view-json.ts';
import { jsonAnswer } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { requestedPage, requestedText } from '../request-parameters.ts';
import type { Services } from '../services.ts';
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

interface EntityDetails {
  /** Title of the first view that has one, views with a URL first; null if none has. */
  readonly name: string | null;
  readonly publishAt: string | null;
  readonly unpublishAt: string | null;
  readonly state: PublishState;
}

/** Number of entities whose views are read at a time. */
const batchSize = 50;

/** Titles of their views, and whether they are published, in the order of the entities. @throws StoreUnavailableError */
async function detailsOf(
  store: Store,
  tenant: Tenant,
  environment: Environment,
  entities: readonly StoredEntity[],
  stateOf: (entity: StoredEntity) => PublishState,
): Promise<EntityDetails[]> {
  const names: (string | null)[] = [];
  const reader = new NameReader(store, tenant.alias, environment.id);
  for (const portion of portions(entities, batchSize)) names.push(...(await reader.namesOf(portion)));
  return entities.map((entity, at) => ({
    name: names[at] ?? null,
    publishAt: momentText(entity.times?.publishAt),
    unpublishAt: momentText(entity.times?.unpublishAt),
    state: stateOf(entity),
  }));
}

class NameReader {
  /** Bytes of views that may still be read for this list. */
  #room = namedViewsBytesMax;

  constructor(
    private readonly store: Store,
    private readonly tenant: string,
    private readonly environmentId: string,
  ) {}

  async namesOf(entities: readonly StoredEntity[]): Promise<(string | null)[]> {
    const aliases = await this.#viewsOf(entities);
    const names = new Map<StoredEntity, string>();
    // For most entities the first view has a name, so there are few further reads.
    for (let at = 0; aliases.some((ofEntity) => at < ofEntity.length); at += 1) {
      const tried = entities.flatMap((entity, index) => {
        const alias = aliases[index]?.[at];
        return alias === undefined || names.has(entity) ? [] : [{ entity, alias }];
      });
      await Promise.all(
        tried.map(async ({ entity, alias }) => {
          const name = await this.#nameOf(entity, alias);
          if (name !== null) names.set(entity, name);
        }),
      );
    }
    return entities.map((entity) => names.get(entity) ?? null);
  }

  async #nameOf({ sourceId, originId }: EntityRef, alias: string): Promise<string | null> {
    if (this.#room <= 0) return null;
    const scope = { tenant: this.tenant, environmentId: this.environmentId };
    const body = await readView(this.store, scope, { sourceId, originId, alias }, namedViewBytesMax);
    if (body === null) return null;
    this.#room -= bytesOf(body);
    return titleOf(viewJson(body, this.environmentId));
  }

  /** Aliases of the views of each entity, in the order in which they are tried. */
  async #viewsOf(entities: readonly StoredEntity[]): Promise<string[][]> {
    const { partitions } = this.store;
    const found = new Map<StoredEntity, string[]>();
    const groups = groupBy(entities, ({ sourceId, originId }) => partitions.ofEntity(sourceId, originId));
    await Promise.all(
      [...groups].map(async ([partition, group]) => {
        const originIds = group.map(({ originId }) => originId);
        const sourceId = group[0]?.sourceId ?? '';
        const tag = partitions.tag(partition);
        const records = await readProcessed(this.store, tag, this.tenant, sourceId, originIds);
        for (const [at, entity] of group.entries()) found.set(entity, this.#aliasesIn(records[at] ?? null));
      }),
    );
    return entities.map((entity) => found.get(entity) ?? []);
  }

  #aliasesIn(record: ProcessedRecord | null): string[] {
    const views = (record?.outputs ?? []).filter(
      ({ kind, environmentId }) => kind === 'view' && environmentId === this.environmentId,
    );
    const hasUrl = ({ claims }: (typeof views)[number]) => claims.some(({ field }) => isUrlField(field));
    const withUrl = views.filter(hasUrl);
    return [...withUrl, ...views.filter((view) => !withUrl.includes(view))].map(({ name }) => name);
  }
}

function bytesOf({ texts }: StoredBody): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** Explains a view: what it was built from, who shows it, why it was last built (docs/reference/management.md "A view"). */

import { builderOf } from '../../actors/batch/builder.ts';
import { buildOutputs, Output } from '../../actors/batch/output.ts';
import { loadTurns } from '../../actors/batch/turn.ts';
import type { Tenant } from '../../config/configuration.ts';
import { type StoredEntity, stampText } from '../../contract/entity.ts';
import { formatEntityId, formatViewId } from '../../contract/ids.ts';
import { explainedClaimsMax, lookupResultsMax, scheduledExplainedMax } from '../../contract/limits.ts';
import { momentText, type PublishState, stateAt } from '../../contract/publish-times.ts';
import type { ExplainViewAnswer } from '../../contract/shapes-management.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import { readLogMembers } from '../../store/change-log/logged-views.ts';
import { readService } from '../../store/change-log/served.ts';
import type { Claim } from '../../store/claims/claim-records.ts';
import { readClaimFields } from '../../store/claims/claims.ts';
import { readLayouts } from '../../store/configuration/layouts.ts';
import type { ProcessedClaim } from '../../store/derived/processed-record.ts';
import type { StoredBody, ViewTarget } from '../../store/derived/stored-body.ts';
import { readView, viewsAreThere } from '../../store/derived/views.ts';
import { readEntities } from '../../store/entities/entities.ts';
import { indexLabel, isUrlField, keys } from '../../store/keys.ts';
import { readOwner } from '../../store/ownership/owners.ts';
import { wholeTurn } from '../../store/partitions/intake.ts';
import { answerOf } from '../../store/redis/redis-errors.ts';
import type { Store } from '../../store/store.ts';
import { IndexedCandidates, ReadOnlyLookups } from '../../verify/read-only-lookups.ts';
import { referenceId, viewJson } from '../view-json.ts';
import { type Explained, type ExplainRequest, lookedUpBy, shownBy } from './who-depends.ts';

/**
 * See the reference for the members.
 * @returns a string with the reason if there is no view
 * @throws StoreUnavailableError
 */
export async function explainView(
  store: Store,
  request: ExplainRequest,
): Promise<ExplainViewAnswer | string> {
  const { configuration, tenant, environment, view } = request;
  const { sourceId, originId, alias } = view;
  const source = tenant.sources.get(sourceId);
  if (source === undefined) return `The tenant has no source ${sourceId}`;
  const schema = tenant.schemas.get(alias);
  if (schema === undefined) return `There is no schema ${JSON.stringify(alias)}`;
  const layouts = await readLayouts(store);
  const work = wholeTurn({ tenant: tenant.alias, sourceId, originId });
  const partition = store.partitions.ofEntity(sourceId, originId);
  const { clockMs } = await readOwner(store, partition);
  const basis = { configuration, layouts };
  const [turn] = await loadTurns(store, store.partitions.tag(partition), basis, [work], clockMs);
  if (turn === undefined || turn.entity === null) return `There is no entity ${JSON.stringify(originId)}`;
  const { entity, former: record, state } = turn;
  const output = record?.outputs.find(
    ({ kind, name, environmentId }) => kind === 'view' && name === alias && environmentId === environment.id,
  );
  const scope = { tenant: tenant.alias, environmentId: environment.id };
  const body = output === undefined ? null : await readView(store, scope, view);
  if (record === null || output === undefined || body === null) {
    const { type } = entity;
    if (state !== 'published') return unpublishedText(entity, state);
    return tenant.schemasFor(source.sourceGroup, type).some((one) => one.alias === alias)
      ? `The schema ${alias} has not built a view of the entity ${JSON.stringify(originId)} yet`
      : `The schema ${alias} is not triggered by entities of the type ${JSON.stringify(type)}`;
  }
  const sandbox = new Sandbox();
  try {
    const explained: Explained = { ...request, store, entity, record, output, layouts, sandbox };
    const lookups = new ReadOnlyLookups(store, new IndexedCandidates(store, layouts));
    const built = new Output(turn, builderOf(tenant, environment.id, { kind: 'full', schema }));
    await buildOutputs([built], lookups, sandbox);
    const indexItems = record.outputs
      .filter(({ kind, environmentId }) => kind === 'item' && environmentId === environment.id)
      .map(({ name }) => indexLabel(name));
    return {
      id: formatViewId(view),
      alias,
      environment: environment.alias,
      entity: {
        id: formatEntityId({ sourceId, originId }),
        originId,
        type: entity.type,
        updatedAt: stampText(entity.stamp),
      },
      view: viewJson(body, environment.id),
      size: body.texts.reduce((sum, { length }) => sum + length, 0),
      ...(await explainClaims(explained)),
      lookups: built.demands.map((demand) => {
        const matched = lookups.matched(demand);
        return {
          place: demand.query.place,
          sourceGroup: demand.query.sourceGroup ?? demand.sourceGroup,
          condition: demand.query.condition,
          matched,
          taken: lookups.known(demand)?.length ?? 0,
          cut: matched >= lookupResultsMax,
        };
      }),
      shows: await showsOf(explained, body, clockMs),
      shownBy: await shownBy(explained),
      lookedUpBy: await lookedUpBy(explained),
      indexItems,
      ...scheduledOf(entity),
      built: { at: await builtAt(explained), because: becauseOf(explained) },
      ...(output.failure === undefined ? {} : { failure: output.failure }),
    };
  } finally {
    sandbox.close();
  }
}

function unpublishedText({ originId, times }: StoredEntity, state: PublishState): string {
  const name = `The entity ${JSON.stringify(originId)}`;
  return state === 'waiting'
    ? `${name} is waiting to be published at ${momentText(times?.publishAt)}`
    : `${name} was unpublished at ${momentText(times?.unpublishAt)}`;
}

/** The view exists, so its entity is published and can only be waiting to be unpublished. */
function scheduledOf({ times }: StoredEntity): object {
  const at = momentText(times?.unpublishAt);
  return at === null ? {} : { scheduled: { at, becomes: 'over' } };
}

interface Shown {
  readonly viewId: string;
  readonly paths: string[];
  readonly missing: boolean;
  /** When its entity will be published, if it is waiting for that. */
  readonly scheduled?: { readonly at: string; readonly becomes: 'published' };
}

/** The views that it refers to, each once with all its paths. */
async function showsOf(
  { store, tenant, environment }: Explained,
  { references }: StoredBody,
  nowMs: number,
): Promise<readonly Shown[]> {
  const targets = references.flatMap(({ target }) => target ?? []);
  const scope = { tenant: tenant.alias, environmentId: environment.id };
  const areThere = await viewsAreThere(store, scope, targets);
  const there = new Set(targets.filter((_, at) => areThere[at]).map(({ identity }) => identity));
  const waiting = await publishTimesOf(
    store,
    tenant,
    targets.filter((_, at) => !areThere[at]),
    nowMs,
  );
  const shown = new Map<string, Shown>();
  for (const reference of references) {
    const viewId = referenceId(reference, environment.id);
    if (viewId === null) continue;
    const missing = reference.target === null || !there.has(reference.target.identity);
    const at = reference.target === null ? undefined : waiting.get(reference.target.identity);
    const scheduled: Pick<Shown, 'scheduled'> =
      at === undefined ? {} : { scheduled: { at, becomes: 'published' } };
    const known = shown.get(viewId) ?? { viewId, paths: [], missing, ...scheduled };
    shown.set(viewId, known);
    known.paths.push(reference.path.replace(/^\./, ''));
  }
  return [...shown.values()];
}

/** The publication times of waiting entities of missing views, by the view's identity. */
async function publishTimesOf(
  store: Store,
  tenant: Tenant,
  missing: readonly ViewTarget[],
  nowMs: number,
): Promise<ReadonlyMap<string, string>> {
  const targets = missing.slice(0, scheduledExplainedMax);
  const entities = await readEntities(store, tenant.alias, targets);
  const waiting = new Map<string, string>();
  for (const [at, { identity }] of targets.entries()) {
    const times = entities[at]?.times;
    const moment = stateAt(times, nowMs) === 'waiting' ? momentText(times?.publishAt) : null;
    if (moment !== null) waiting.set(identity, moment);
  }
  return waiting;
}

/** The time of the view's last change, from its sequence in the change log. */
async function builtAt({ store, tenant, environment, view, record }: Explained): Promise<string> {
  const tag = store.partitions.tag(store.partitions.ofEntity(view.sourceId, view.originId));
  const scope = { tenant: tenant.alias, environmentId: environment.id };
  const [member = ''] = await readLogMembers(store, tag, scope, [view]);
  const score = await answerOf(store.client.zscore(keys.log(tag, tenant.alias, environment.id), member));
  return stampText(score === null ? record.stamp : Number(score));
}

function becauseOf({ output, view }: Explained): ExplainViewAnswer['built']['because'] {
  const { because } = output;
  if (because === undefined) return { kind: 'ingest', entityId: formatEntityId(view) };
  const { kind, entity } = because;
  return entity === undefined ? { kind } : { kind, entityId: formatEntityId(entity) };
}

/** The URLs and handles that a view claims, and what is served there. */
interface ExplainedClaims {
  readonly urls: ExplainViewAnswer['urls'];
  readonly handles: ExplainViewAnswer['handles'];
}

/** @throws StoreUnavailableError */
async function explainClaims(explained: Explained): Promise<ExplainedClaims> {
  const { store, tenant, environment, view, output } = explained;
  const scope = { tenant: tenant.alias, environmentId: environment.id };
  const claims = output.claims.map((claim) => ({ ...claim, view }));
  const service = await readService(store, scope, claims, 0);
  const beaten = claims.filter((_, at) => service[at] !== 'served');
  const lists = await readClaimFields(
    store,
    scope,
    beaten.map(({ field }) => field),
    explainedClaimsMax,
  );
  const claimsWithFacts = claims.map((claim, at) => {
    const served = service[at] === 'served';
    const winner = served ? null : winnerOver(claim, lists[beaten.indexOf(claim)] ?? []);
    return {
      claim,
      facts: {
        served,
        ...(winner === null
          ? {}
          : { beatenBy: formatViewId({ environmentId: environment.id, ...winner.view }) }),
      },
    };
  });
  const isHandle = ({ field }: ProcessedClaim) => !isUrlField(field);
  return {
    urls: claimsWithFacts
      .filter(({ claim }) => !isHandle(claim))
      .map(({ claim, facts }) => ({ url: claim.display, kind: claim.kind, ...facts })),
    handles: claimsWithFacts
      .filter(({ claim }) => isHandle(claim))
      .map(({ claim, facts }) => ({ handle: claim.display, ...facts })),
  };
}

/** The claim that is served instead of another. @param claims of its field, sorted by rank */
function winnerOver({ host }: ProcessedClaim, claims: readonly Claim[]): Claim | null {
  return claims.find((claim) => claim.host === host || claim.host === null) ?? null;
}

/**
 * Accepts entities that were read, at the pace of the workers. It decides their new fields, then stores them. A large
 * request is stored in portions, because one write of 200 MB would hold up every other request of this front.
 */
import { type AcceptOutcome, type AcceptRequest, acceptEntities } from '../../store/entities/accept.ts';
import type { EncodedEntity } from '../../store/entities/entity-record.ts';
import type { Store } from '../../store/store.ts';
import type { VersionVector } from '../../store/visibility/version.ts';
import type { Call } from '../call.ts';
import type { Services } from '../services.ts';
import type { ReadEntity } from './entity-reading.ts';
import { decideFields } from './field-decisions.ts';
import { forcesType } from './headers.ts';
import type { WriteKind } from './waiting-writes.ts';

/** Encoded entities of one call to the store. All but the largest requests are one portion. */
const portionBytes = 4 * 1024 * 1024;
/** The work of an entity is 1, and 1 more for each so many bytes. */
const bytesOfWork = 4096;

interface Saved {
  /** Outcomes in the order of the entities. */
  readonly outcomes: readonly AcceptOutcome[];
  /** Token of the state that shows the entities. */
  readonly version: VersionVector;
}

/** @throws StoreUnavailableError; ProblemError `ingestBusy` */
export async function saveRead(
  services: Services,
  call: Call,
  kind: WriteKind,
  read: readonly ReadEntity[],
): Promise<Saved> {
  const { tenant, source } = call.source;
  const force = forcesType(call);
  const entities = read.map(({ entity }) => entity);
  const write = { kind, tenant: tenant.alias, work: workOf(entities) };
  const { outcomes, version } = await services.pace.accept(write, async () => {
    await decideFields(services, call.source, read, force);
    const request = { tenant: tenant.alias, sourceId: source.id, force, entities };
    const accepted = await acceptInPortions(services.store, request);
    return { ...accepted, changedShare: changedShareOf(accepted.outcomes) };
  });
  return { outcomes, version: services.progress.noteWritten(tenant.alias, version) };
}

/** Estimates what entities cost the workers, counted in small entities. Any other cost shows in the time that they take. */
function workOf(entities: readonly Pick<EncodedEntity, 'size'>[]): number {
  return entities.reduce((sum, { size }) => sum + 1 + size / bytesOfWork, 0);
}

/** An entity that changes nothing is no work. */
function changedShareOf(outcomes: readonly AcceptOutcome[]): number {
  return outcomes.filter((outcome) => outcome === 'changed').length / Math.max(1, outcomes.length);
}

/** Stores portions one after the other, so entities keep their order. */
async function acceptInPortions(store: Store, request: AcceptRequest): Promise<Saved> {
  const outcomes: AcceptOutcome[] = [];
  const version = new Map<number, number>();
  for (const entities of portionsOf(request.entities)) {
    const accepted = await acceptEntities(store, { ...request, entities });
    outcomes.push(...accepted.outcomes);
    for (const [partition, sequence] of accepted.version) {
      version.set(partition, Math.max(sequence, version.get(partition) ?? 0));
    }
  }
  return { outcomes, version };
}

function portionsOf(entities: readonly EncodedEntity[]): EncodedEntity[][] {
  const portions: EncodedEntity[][] = [];
  let bytes = 0;
  for (const entity of entities) {
    const portion = portions.at(-1);
    bytes += entity.size;
    if (portion !== undefined && bytes <= portionBytes) {
      portion.push(entity);
      continue;
    }
    portions.push([entity]);
    bytes = entity.size;
  }
  return portions;
}

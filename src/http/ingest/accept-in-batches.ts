/** Hands many entities to the store in portions: one write of 200 MB would hold up every other request of this front. */

import type { AcceptOutcome } from '../../store/entities/accept.ts';
import { type AcceptRequest, acceptEntities } from '../../store/entities/accept.ts';
import type { EncodedEntity } from '../../store/entities/entity-record.ts';
import type { Store } from '../../store/store.ts';
import type { VersionVector } from '../../store/visibility/version.ts';

/** Encoded entities of one call to the store. All but the largest requests are one portion. */
const portionBytes = 4 * 1024 * 1024;

/** As `acceptEntities`; portions go one after the other, so entities keep their order. @throws StoreUnavailableError */
export async function acceptInBatches(
  store: Store,
  request: AcceptRequest,
): Promise<{ outcomes: AcceptOutcome[]; version: VersionVector }> {
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

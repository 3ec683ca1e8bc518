/** What an entity costs the workers, about, in small entities: what else it costs shows in how long it takes. */
import type { AcceptOutcome } from '../../store/entities/accept.ts';
import type { EncodedEntity } from '../../store/entities/entity-record.ts';

const bytesOfOne = 4096;

export function workOf(entities: readonly Pick<EncodedEntity, 'size'>[]): number {
  return entities.reduce((sum, { size }) => sum + 1 + size / bytesOfOne, 0);
}

/** What changes nothing is no work. */
export function changedShareOf(outcomes: readonly AcceptOutcome[]): number {
  return outcomes.filter((outcome) => outcome === 'changed').length / Math.max(1, outcomes.length);
}

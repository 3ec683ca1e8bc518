import type { StoredEntity } from '../../contract/entity.ts';
import type { LookupQuery } from '../lookup/query.ts';
import type { PartialSchema } from '../schema.ts';

/** What one build works on. */
export interface BuildInput {
  readonly entity: StoredEntity;
  readonly environmentId: string;
  /** Source that a source group uses in this environment; null when it has none. */
  resolveSource(sourceGroup: string): string | null;
  /** Result of a lookup, or undefined when it is not known yet. */
  lookup(query: LookupQuery): readonly StoredEntity[] | undefined;
  partial(alias: string): PartialSchema | undefined;
}

import type { Scope } from '../language/scope.ts';
import type { Partials } from './definition-digest.ts';

/** What the file of a full schema or of an index is compiled in. */
export interface Surroundings {
  readonly partials: Partials;
  readonly scope: Scope;
  /** Aliases of all source groups of the tenant. */
  readonly sourceGroups: readonly string[];
}

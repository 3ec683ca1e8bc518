import type { StoredEntity } from '../../contract/entity.ts';
import type { Json } from '../../contract/json.ts';
import type { CodeCall, CodeReply } from '../code/code-call.ts';
import type { LookupQuery } from '../lookup/lookup-query.ts';

/** What one build works on. */
export interface BuildInput {
  readonly entity: StoredEntity;
  readonly environmentId: string;
  /** Source that a source group uses in this environment; null when it has none. */
  resolveSource(sourceGroup: string): string | null;
  /** Result of a lookup, or undefined when it is not known yet. */
  lookup(query: LookupQuery): readonly StoredEntity[] | undefined;
  partial(alias: string): PartialSchema | undefined;
  /**
   * Reply of the sandbox to a call, or undefined when it is not known yet.
   * @param key tells the calls of a build apart @param call makes the call, when it has to be made
   */
  code(key: string, call: () => CodeCall): CodeReply | undefined;
  /** JSON text of a list or an object that may be large, or undefined when it is not known yet. */
  text(value: Json): string | undefined;
}

/** Opaque to other rooms. */
export interface PartialSchema {
  readonly alias: string;
  readonly digest: string;
}

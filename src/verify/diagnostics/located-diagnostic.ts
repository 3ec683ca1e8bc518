/** Findings with their positions, and groups of them for people. */

import type { Diagnostic } from '../../contract/diagnostic.ts';
import { formatEntityId, formatViewId } from '../../contract/ids.ts';
import { indexLabel } from '../../store/keys.ts';

export interface LocatedDiagnostic extends Omit<Diagnostic, 'place'> {
  readonly tenant: string;
  /** Alias of the environment. Absent if the finding applies to all of them. */
  readonly environment?: string;
  /** Alias of the schema or of the index; of an auto-indexed type `<group>:<type>`. */
  readonly schema?: string;
  /** JSON path in the schema. */
  readonly place?: string;
  /** An example; there may be other entities. */
  readonly entityId?: string;
  readonly viewId?: string;
  /** Number of entities that have the finding. */
  readonly count: number;
}

/** A finding for people, with the example in the message. */
export function shownDiagnostic({
  example,
  ...diagnostic
}: LocatedDiagnostic): Omit<LocatedDiagnostic, 'example'> {
  if (example === undefined) return diagnostic;
  return { ...diagnostic, message: `${diagnostic.message}, for example ${example}` };
}

/** The view or item that a finding is about. */
export interface DiagnosedOutput {
  readonly tenant: string;
  readonly environment: { readonly id: string; readonly alias: string };
  readonly sourceId: string;
  readonly originId: string;
  readonly kind: 'view' | 'item';
  /** Schema alias, or index name. */
  readonly name: string;
}

/** A finding about one view or item. */
export function locate(
  output: DiagnosedOutput,
  { kind, place, message, example }: Diagnostic,
): LocatedDiagnostic {
  const { tenant, environment, sourceId, originId, name } = output;
  const isView = output.kind === 'view';
  return {
    kind,
    tenant,
    environment: environment.alias,
    schema: isView ? name : indexLabel(name),
    place,
    entityId: formatEntityId({ sourceId, originId }),
    ...(isView && {
      viewId: formatViewId({ environmentId: environment.id, sourceId, originId, alias: name }),
    }),
    message,
    ...(example !== undefined && { example }),
    count: 1,
  };
}

/** Maximum number of groups; further findings are only counted by kind. */
const groupsMax = 10_000;

/** Groups findings with the same kind, position and message, with the first entity as an example. */
export class DiagnosticGroups {
  readonly #groups = new Map<string, LocatedDiagnostic>();

  add(diagnostic: LocatedDiagnostic): void {
    const key = keyOf(diagnostic);
    const known = this.#groups.get(key);
    if (known !== undefined) this.#groups.set(key, { ...known, count: known.count + diagnostic.count });
    else if (this.#groups.size < groupsMax) this.#groups.set(key, diagnostic);
    else this.#addBeyond(diagnostic);
  }

  /** In the order in which they were first found. */
  get all(): readonly LocatedDiagnostic[] {
    return [...this.#groups.values()];
  }

  #addBeyond({ kind, tenant, count }: LocatedDiagnostic): void {
    const key = `beyond ${kind} ${tenant}`;
    const before = this.#groups.get(key)?.count ?? 0;
    const message = `more findings of this kind than the ${groupsMax} that are listed one by one`;
    this.#groups.set(key, { kind, tenant, message, count: before + count });
  }
}

function keyOf({ kind, tenant, environment, schema, place, message }: LocatedDiagnostic): string {
  return JSON.stringify([kind, tenant, environment, schema, place, message]);
}

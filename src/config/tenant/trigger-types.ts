/**
 * Entity types that are hardly meant as they are written. A source group takes any type, so a file alone cannot tell. But a
 * type that only one file names is most likely a slip when it looks like a type that others name.
 */

import { Cursor, type Findings } from '../../contract/config-cursor.ts';
import { groupBy } from '../../lib/group-by.ts';
import { quote } from '../../lib/quote.ts';
import { nearestName } from '../../lib/suggest.ts';
import type { CodeProgram } from '../../schemas/code/program.ts';

interface NamedType {
  /** Null: of any source group. */
  readonly group: string | null;
  readonly type: string;
  readonly at: Cursor;
}

/**
 * @param roots of all schemas and indexes of a tenant in JSON, in the order of their files
 * @param programs of those in JavaScript
 */
export function warnOfLonelyTypes(
  roots: readonly Cursor[],
  programs: readonly CodeProgram[],
  findings: Findings,
): void {
  const named = [...roots.flatMap(typesIn), ...programs.flatMap((program) => typesInCode(program, findings))];
  const groups = new Set(named.map(({ group }) => group));
  for (const group of groups) {
    // A type of any group stands beside those of each, and is lonely only among all.
    warnOfLonelyIn(
      group === null ? named : named.filter((one) => one.group === group || one.group === null),
      group,
    );
  }
}

function warnOfLonelyIn(named: readonly NamedType[], group: string | null): void {
  const uses = groupBy(named, ({ type }) => type);
  const known: string[] = [];
  // Of two types that are alike, the slip is the one that is named less often, or else the later one.
  const byUse = [...uses].sort(([, a], [, b]) => b.length - a.length);
  for (const [type, [first, ...others]] of byUse) {
    const nearest = nearestName(
      type,
      known.filter((other) => !differInNumbersAlone(type, other)),
    );
    known.push(type);
    if (first === undefined || first.group !== group || others.length > 0 || nearest === null) continue;
    const where = group === null ? '' : ` of source group ${quote(group)}`;
    first.at.warning(
      `no other schema${where} names the entity type ${quote(type)}`,
      `Did you mean ${quote(nearest)}? Leave it if both are meant.`,
    );
  }
}

function typesIn(root: Cursor): NamedType[] {
  const triggers = root.member('triggers');
  const ofGroups = triggers.names().flatMap((group) => typesOf(triggers.member(group), group));
  return [...ofGroups, ...typesOf(root.member('sourceEntityTypes'), null)];
}

function typesInCode({ file, triggers }: CodeProgram, findings: Findings): NamedType[] {
  const at = new Cursor(file, '$.triggers', undefined, findings);
  return triggers.flatMap(([group, types]) => types.map((type) => ({ group, type, at })));
}

function typesOf(list: Cursor, group: string | null): NamedType[] {
  if (!Array.isArray(list.json)) return [];
  return list
    .items()
    .flatMap((at) => (typeof at.json === 'string' && at.json !== '' ? [{ group, type: at.json, at }] : []));
}

/** `level1` and `level2` are two types. */
function differInNumbersAlone(a: string, b: string): boolean {
  return a.replace(/[0-9]+/g, '0') === b.replace(/[0-9]+/g, '0');
}

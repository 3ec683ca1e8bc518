/**
 * Finds probable typos in entity types. A source group accepts any type, but a type in a single file is probably a typo if it
 * looks like a type in other files.
 */

import { Cursor, type Findings } from '../../contract/config-cursor.ts';
import { typeComparisonsMax } from '../../contract/limits.ts';
import { groupBy } from '../../lib/lists.ts';
import { quote } from '../../lib/message-text.ts';
import { nearestName } from '../../lib/suggest.ts';
import type { CodeProgram } from '../../schemas/code/program.ts';

interface NamedType {
  /** Null: any source group. */
  readonly group: string | null;
  readonly type: string;
  readonly at: Cursor;
}

/**
 * @param roots all JSON schemas and indexes of a tenant, sorted by file
 * @param programs the JavaScript schemas
 */
export function warnOfRareTypes(
  roots: readonly Cursor[],
  programs: readonly CodeProgram[],
  findings: Findings,
): void {
  const named = [...roots.flatMap(typesIn), ...programs.flatMap((program) => typesInCode(program, findings))];
  const comparisons = new Comparisons();
  const byGroup = groupBy(
    named.map((one, at) => ({ ...one, order: at })),
    ({ group }) => group,
  );
  const ofAny = byGroup.get(null) ?? [];
  for (const [group, own] of byGroup) {
    // A type of any group counts in every group, and is compared with all types.
    if (group === null) warnOfRareIn(named, group, comparisons);
    else if (comparisons.spend(own.length + ofAny.length)) {
      const beside = [...own, ...ofAny].sort((a, b) => a.order - b.order);
      warnOfRareIn(beside, group, comparisons);
    }
  }
}

/** Bounds the number of comparisons, which is quadratic in the number of types. Beyond it, there are no warnings. */
class Comparisons {
  #left = typeComparisonsMax;

  /** Counts comparisons. @returns false if the limit is exceeded */
  spend(count: number): boolean {
    this.#left -= count;
    return this.#left >= 0;
  }
}

function warnOfRareIn(named: readonly NamedType[], group: string | null, comparisons: Comparisons): void {
  const uses = groupBy(named, ({ type }) => type);
  const known: { readonly type: string; readonly numberless: string }[] = [];
  // Of two similar types, the typo is the one that occurs less often, or else the later one.
  const byUse = [...uses].sort(([, a], [, b]) => b.length - a.length);
  for (const [type, [first, ...others]] of byUse) {
    const numberless = withoutNumbers(type);
    const compared = known.length;
    known.push({ type, numberless });
    if (first === undefined || first.group !== group || others.length > 0) continue;
    if (!comparisons.spend(compared)) return;
    const candidates = known.filter((other) => other.numberless !== numberless);
    const nearest = nearestName(
      type,
      candidates.map((other) => other.type),
    );
    if (nearest === null) continue;
    const where = group === null ? '' : ` of source group ${quote(group)}`;
    first.at.warning(
      `no other schema${where} names the entity type ${quote(type)}`,
      `Did you mean ${quote(nearest)}? Ignore this if both exist.`,
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

/** Names that only differ in numbers, such as `level1` and `level2`, are not similar. */
function withoutNumbers(type: string): string {
  return type.replace(/[0-9]+/g, '0');
}

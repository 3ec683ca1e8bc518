import type { Cursor } from '../../contract/config-cursor.ts';

/** The BCP 47 tag of each field that is sorted in the order of a locale. */
export type Collations = ReadonlyMap<string, string>;

const advice = 'Write a BCP 47 tag such as "da" or "de-AT".';

/** `collation` of each field in `index.fields` (docs/reference/indexes-and-queries.md "Sorting"). */
export function readCollations(at: Cursor): Collations {
  const collations = new Map<string, string>();
  const fields = at.member('fields');
  for (const name of fields.names()) {
    const field = fields.member(name);
    const collation = field.member('collation');
    if (collation.isAbsent) continue;
    const { json: type } = field.member('type');
    if (type !== 'text' && type !== 'keyword') {
      collation.issue('collation needs a field of type keyword or text', 'Remove it, or change the type.');
      continue;
    }
    const tag = collation.text(advice);
    if (tag === null) continue;
    if (isKnown(tag)) collations.set(name, tag);
    else collation.issue(`there is no order for the locale ${JSON.stringify(tag)}`, advice);
  }
  return collations;
}

/** An unknown locale would be sorted in the order of the machine's own. */
function isKnown(tag: string): boolean {
  try {
    return Intl.Collator.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

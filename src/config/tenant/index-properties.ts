/** What an index schema says twice, in its fields and in its properties, must agree. */

import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject } from '../../contract/json.ts';
import { quote } from '../../lib/quote.ts';
import { nearestName } from '../../lib/suggest.ts';

/** A property whose members become fields. Only an entity tells which fields these are. */
const anyMembers = '*';

/**
 * A field that no property fills would be absent from every item, and a property without a field would not be in any:
 * both are mistakes. What is not an object is reported elsewhere.
 */
export function checkIndexProperties(root: Cursor): void {
  const fields = root.member('index').member('fields');
  const properties = root.member('properties');
  if (!isJsonObject(fields.json) || !isJsonObject(properties.json)) return;
  const fieldNames = Object.keys(fields.json);
  const propertyNames = Object.keys(properties.json);
  const isField = new Set(fieldNames);
  const isProperty = new Set(propertyNames);
  const unfilled = isProperty.has(anyMembers) ? [] : fieldNames.filter((name) => !isProperty.has(name));
  const unnamed = propertyNames.filter((name) => name !== anyMembers && !isField.has(name));
  for (const name of unfilled) {
    const advice = () => `${guess(name, unnamed)}Add it to properties, or remove this field.`;
    fields.member(name).issue(`no property fills the field ${quote(name)}`, advice);
  }
  for (const name of unnamed) {
    const advice = () =>
      `${guess(name, unfilled)}Add it to index.fields with its type, or remove this property.`;
    properties.member(name).issue(`the property ${quote(name)} has no field`, advice);
  }
}

function guess(name: string, others: readonly string[]): string {
  const nearest = nearestName(name, others);
  return nearest === null ? '' : `Did you mean ${quote(nearest)}? `;
}

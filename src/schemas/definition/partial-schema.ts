import type { Cursor } from '../../contract/config-cursor.ts';
import { quote } from '../../lib/quote.ts';
import type { Scope } from '../language/scope.ts';
import { compileSchemaProperties } from '../property/property.ts';
import { partialSchemaShape } from '../shapes.ts';
import { Needs } from './definition.ts';
import { type PartialDraft, withoutSchemaName } from './definition-digest.ts';

/** `{properties, alias?}` (docs/reference/mapping-language.md "Schema files"). */
export function compilePartialSchema(alias: string, at: Cursor, scope: Scope): PartialDraft {
  at.object(partialSchemaShape);
  checkAlias(at.member('alias'), alias);
  const needs = new Needs();
  const placeOf = (below: Cursor) => `partials/${alias} ${below.path}`;
  const definition = compileSchemaProperties(at.member('properties'), scope, needs, placeOf);
  return { json: withoutSchemaName(at.json ?? null), needs, definition };
}

/** A partial is called by the name of its file; the file may repeat it. */
function checkAlias(at: Cursor, alias: string): void {
  const written = at.isAbsent ? alias : at.filledText();
  if (written === null || written === alias) return;
  at.warning(
    `the partial is called ${quote(alias)} by its file, and ${quote(written)} in it`,
    'The name of the file counts: rename the file, or remove this line.',
  );
}

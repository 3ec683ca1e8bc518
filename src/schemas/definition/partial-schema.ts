import type { Cursor } from '../../contract/config-cursor.ts';
import type { Scope } from '../language/scope.ts';
import { compileSchemaProperties } from '../property/property.ts';
import { Needs } from './definition.ts';
import type { PartialDraft } from './digest.ts';

/** `{properties}` (docs/reference/mapping-language.md "Schema files"). */
export function compilePartialSchema(alias: string, at: Cursor, scope: Scope): PartialDraft {
  at.object(['properties']);
  const needs = new Needs();
  const placeOf = (below: Cursor) => `partials/${alias} ${below.path}`;
  const definition = compileSchemaProperties(at.member('properties'), scope, needs, placeOf);
  return { json: at.json ?? null, needs, definition };
}

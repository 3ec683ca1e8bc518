import type { Cursor } from '../../contract/config-cursor.ts';
import type { Json } from '../../contract/json.ts';
import { urlCodePointsMax } from '../../contract/limits.ts';
import { hasMoreCodePoints } from '../../lib/code-points.ts';
import { compileField } from '../language/expression-field.ts';
import type { Evaluate, EvaluateText, Frame, Scope } from '../language/scope.ts';
import { valueText } from '../language/value-text.ts';
import type { ViewClaims } from '../schema.ts';

/** `route: {url?, handles?}` (docs/reference/mapping-language.md "Route"): what a view is found by. */
export function compileRoute(at: Cursor, scope: Scope): (frame: Frame) => ViewClaims {
  if (at.isAbsent || at.object(['url', 'handles']) === null) return () => ({ url: null, handles: [] });
  const url = at.member('url');
  const urlOf: EvaluateText = url.isAbsent ? () => null : compileField(url, scope).text;
  const handles = compileHandles(at.member('handles'), scope);
  return (frame) => ({ url: usableUrl(urlOf(frame)), handles: usableHandles(handles, frame) });
}

function compileHandles(at: Cursor, scope: Scope): Evaluate[] {
  const items = at.items('a list of expressions', 'Write ["{p.handle}"].');
  return items.map((item) => compileField(item, scope).value);
}

const routable = /^(?:\/|https?:\/\/)/i;

/** A URL that can be asked for; null for anything else. */
export function usableUrl(url: string | null): string | null {
  return url !== null && !hasMoreCodePoints(url, urlCodePointsMax) && routable.test(url) ? url : null;
}

function usableHandles(handles: readonly Evaluate[], frame: Frame): string[] {
  const texts = handles.flatMap((handle) => handleTexts(handle(frame)));
  return [...new Set(texts.filter((text) => text !== null && text !== ''))];
}

/** A hole that gives an array claims each of its items. */
function handleTexts(value: Json): string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.flatMap((item) => valueText(item) ?? []);
}

import type { Json } from './json.ts';

/**
 * JSON text with object members sorted by name at every depth, so that equal values have equal text whatever the
 * order in which they were sent. Recursive: callers bound the depth (`jsonDepthMax`) when they read the value.
 */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  let text = '';
  for (const name of Object.keys(value).sort()) {
    const member = value[name] ?? null;
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/** An entity in a file, for previews on the command line. */
import type { StoredEntity } from '../../contract/entity.ts';
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';

/**
 * The entity of a JSON text, as ingest takes it; null when it is none. What ingest would refuse besides is not looked for.
 * @param originId of an entity that names none
 */
export function entityOfText(text: string, sourceId: string, originId: string): StoredEntity | null {
  const value = parsed(text);
  if (value === undefined || !isJsonObject(value)) return null;
  const textOf = (name: string) => {
    const member = getOwn(value, name);
    return typeof member === 'string' ? member : null;
  };
  const type = textOf('type');
  const properties = getOwn(value, 'properties') ?? {};
  const redirects = getOwn(value, 'redirects');
  if (type === null || !isJsonObject(properties)) return null;
  const stamp = Date.now() * 1000;
  return {
    ...{ sourceId, originId: textOf('originId') ?? originId, type, url: textOf('url') },
    originParentId: textOf('originParentId'),
    redirects: Array.isArray(redirects) ? redirects.filter((one) => typeof one === 'string') : [],
    properties,
    ...{ stamp, bornStamp: stamp, urlStamp: stamp },
  };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { documentPlace } from '../document-path.ts';
import { parseJsonText } from '../json-text.ts';
import { hashedForm } from '../tenant/api-keys.ts';

/**
 * The documents as they are stored and travel: plain API keys are replaced by their hashes, white space is removed.
 * Tenant files are ordered by member name; a schema keeps its order, because its views show it. Documents that are
 * broken, and keys that no client could send, stay as they are: `loadConfiguration` refuses them with their place, so
 * they never travel.
 */
export function hashKeys(documents: ConfigDocuments): ConfigDocuments {
  return new Map([...documents].map(([path, text]) => [path, canonicalText(path, text)]));
}

/** Digest of documents, 64 hex digits; neither the order of files nor white space nor the form of keys matters. */
export function documentsDigest(documents: ConfigDocuments): string {
  return canonicalDigest(hashKeys(documents));
}

/**
 * The documents of each tenant, in the order of their names and paths. What is in no tenant's folder is listed by the name
 * that it has in its place.
 */
export function byTenant(documents: ConfigDocuments): Map<string, Map<string, string>> {
  const tenants = new Map<string, Map<string, string>>();
  for (const [path, text] of [...documents].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const name = path.split('/', 2)[1] ?? '';
    const texts = tenants.get(name);
    if (texts === undefined) tenants.set(name, new Map([[path, text]]));
    else texts.set(path, text);
  }
  return tenants;
}

/** Digest of the documents of one tenant as they are, in the order of their paths. */
export function fingerprintOf(texts: ConfigDocuments): string {
  const hash = createHash('sha256');
  for (const [path, text] of texts) hash.update(`${path}\n${text.length}\n`).update(text);
  return hash.digest('hex');
}

/** Digest of a configuration. @param fingerprints of the documents of each tenant, as they are stored */
export function configurationDigest(fingerprints: Iterable<readonly [tenant: string, string]>): string {
  const sorted = [...fingerprints].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}

/** As `documentsDigest`, of documents that `hashKeys` gave: as they are stored. */
export function canonicalDigest(documents: ConfigDocuments): string {
  const entries = [...documents].sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256').update('[');
  entries.forEach((entry, at) => {
    hash.update(`${at === 0 ? '' : ','}${JSON.stringify(entry)}`);
  });
  return hash.update(']').digest('hex');
}

function canonicalText(path: string, text: string): string {
  if (!path.endsWith('.json')) return text;
  const parsed = parseJsonText(text);
  if (!parsed.ok) return text;
  if (documentPlace(path)?.kind !== 'tenant') return JSON.stringify(parsed.json);
  return JSON.stringify(withSortedMembers(withHashedKeys(parsed.json)));
}

/** Replaces every `apiKeys` list, wherever it is, so that a misplaced key is hidden too. */
function withHashedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(withHashedKeys);
  if (!isJsonObject(value)) return value;
  const copy = {};
  for (const [name, member] of Object.entries(value)) {
    const keys = name === 'apiKeys' && Array.isArray(member);
    setOwn(copy, name, keys ? member.map(hashedItem) : withHashedKeys(member));
  }
  return copy;
}

function hashedItem(item: Json): Json {
  return typeof item === 'string' ? (hashedForm(item) ?? item) : item;
}

/** The same value with the members of every object ordered by name. The value is at most `configDepthMax` deep. */
function withSortedMembers(value: Json): Json {
  if (Array.isArray(value)) return value.map(withSortedMembers);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // fromEntries defines members, so `__proto__` stays a name like any other.
  return Object.fromEntries(entries.map(([name, member]) => [name, withSortedMembers(member)])) as JsonObject;
}

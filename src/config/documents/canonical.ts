import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { parseDocumentPath } from '../document-path.ts';
import { parseJsonText } from '../json-text.ts';
import { hashedForm } from '../tenant/api-keys.ts';

/**
 * Returns the documents as they are stored and sent: plain API keys are hashed and white space is removed. Members of tenant
 * files are sorted by name; a schema keeps its order, because its views have the same order. Malformed documents and invalid
 * keys are left unchanged: `loadConfiguration` rejects them with their position, so they are never sent.
 */
export function hashKeys(documents: ConfigDocuments): ConfigDocuments {
  return new Map([...documents].map(([path, text]) => [path, canonicalText(path, text)]));
}

/**
 * Digest of documents, 64 hex digits. It does not depend on the order of files, on white space, or on whether keys are hashed.
 */
export function documentsDigest(documents: ConfigDocuments): string {
  return canonicalDigest(hashKeys(documents));
}

/**
 * The documents of each tenant, sorted by tenant and path. For a path outside a tenant's folder, the second path segment counts
 * as the tenant.
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

/** Digest of the unchanged documents of one tenant, in the given order. */
export function fingerprintOf(texts: ConfigDocuments): string {
  const hash = createHash('sha256');
  for (const [path, text] of texts) hash.update(`${path}\n${text.length}\n`).update(text);
  return hash.digest('hex');
}

/** Digest of a configuration. @param fingerprints of each tenant's documents as stored */
export function configurationDigest(fingerprints: Iterable<readonly [tenant: string, string]>): string {
  const sorted = [...fingerprints].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}

/** Like `documentsDigest`, for documents that `hashKeys` has already processed. */
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
  if (parseDocumentPath(path)?.kind !== 'tenant') return JSON.stringify(parsed.json);
  return JSON.stringify(withSortedMembers(withHashedKeys(parsed.json)));
}

/** Hashes every `apiKeys` list at any position, so that misplaced keys are hidden too. */
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

/** Sorts the members of every object by name. The value is at most `configDepthMax` levels deep. */
function withSortedMembers(value: Json): Json {
  if (Array.isArray(value)) return value.map(withSortedMembers);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // fromEntries defines members, so `__proto__` is an ordinary name.
  return Object.fromEntries(entries.map(([name, member]) => [name, withSortedMembers(member)])) as JsonObject;
}

/** Write-only values of a tenant file: secrets and header values of webhooks. */
import { getOwn, isJsonObject, type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import { memberPath } from '../../lib/text-position.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { parseDocumentPath } from '../document-path.ts';
import { parseJsonText } from '../json-text.ts';

/** The placeholder for a hidden value. Writing it keeps the previous value. */
export const keptMark = 'kept';

/** All documents, with `kept` in place of each secret. */
export function withoutSecrets(documents: ConfigDocuments): Map<string, string> {
  return new Map([...documents].map(([path, text]) => [path, isTenantFile(path) ? hidden(text) : text]));
}

function isTenantFile(path: string): boolean {
  return parseDocumentPath(path)?.kind === 'tenant';
}

/** The text of a tenant file, with `kept` in place of each secret. */
function hidden(text: string): string {
  return changedWebhooks(text, (webhook) => withSecrets(webhook, () => keptMark));
}

/**
 * The text of a tenant file with each `kept` replaced by the previous secret. A `kept` without a previous secret remains, and the
 * loader reports it. Webhooks are matched by alias, headers by name.
 */
export function withKeptSecrets(text: string, former: string | undefined): string {
  const before = new Map(webhooksOf(former).map((webhook) => [getOwn(webhook, 'alias'), webhook]));
  return changedWebhooks(text, (webhook) => {
    const was = before.get(getOwn(webhook, 'alias'));
    return withSecrets(webhook, (value, place) =>
      value === keptMark && was !== undefined ? (secretAt(was, place) ?? value) : value,
    );
  });
}

/**
 * Paths of kept secrets and headers in webhooks whose URL moves to another origin. Otherwise anyone who may write the file
 * could have secrets sent to themselves that they may not read.
 */
export function keptForOtherOrigins(text: string, former: string | undefined): string[] {
  const before = new Map(webhooksOf(former).map((webhook) => [getOwn(webhook, 'alias'), webhook]));
  return webhooksOf(text).flatMap((webhook, at) => {
    const was = before.get(getOwn(webhook, 'alias'));
    return was === undefined || originOf(webhook) === originOf(was) ? [] : keptIn(webhook, at);
  });
}

/** Documents and paths of all kept secrets and headers: `tenants/one/tenant.json $.webhooks[0].secret`. */
export function keptPlaces(documents: ConfigDocuments): string[] {
  return [...documents].flatMap(([path, text]) =>
    isTenantFile(path)
      ? webhooksOf(text).flatMap((webhook, at) => keptIn(webhook, at).map((place) => `${path} ${place}`))
      : [],
  );
}

function keptIn(webhook: JsonObject, at: number): string[] {
  const places: string[] = [];
  withSecrets(webhook, (value, place) => {
    const member = typeof place === 'number' ? 'secret' : memberPath('headers', place);
    if (value === keptMark) places.push(`$.webhooks[${at}].${member}`);
    return value;
  });
  return places;
}

/** Null if the text is not a URL, which the loader reports. */
function originOf(webhook: JsonObject): string | null {
  const url = getOwn(webhook, 'url');
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : null;
}

/** A header name in lower case, or the index of a secret. */
type Place = string | number;

function withSecrets(webhook: JsonObject, of: (value: Json, place: Place) => Json): JsonObject {
  const copy: JsonObject = { ...webhook };
  const { secret, headers } = webhook;
  if (secret !== undefined) {
    copy.secret = Array.isArray(secret) ? secret.map((item, at) => of(item, at)) : of(secret, 0);
  }
  if (isJsonObject(headers)) {
    const values: JsonObject = {};
    for (const [name, value] of Object.entries(headers)) setOwn(values, name, of(value, name.toLowerCase()));
    copy.headers = values;
  }
  return copy;
}

function secretAt({ secret, headers }: JsonObject, place: Place): Json | undefined {
  if (typeof place === 'number')
    return Array.isArray(secret) ? secret[place] : place === 0 ? secret : undefined;
  if (!isJsonObject(headers)) return undefined;
  return Object.entries(headers).find(([name]) => name.toLowerCase() === place)?.[1];
}

function webhooksOf(text: string | undefined): JsonObject[] {
  const parsed = text === undefined ? null : parseJsonText(text);
  const webhooks = parsed?.ok && isJsonObject(parsed.json) ? getOwn(parsed.json, 'webhooks') : undefined;
  return Array.isArray(webhooks) ? webhooks.filter(isJsonObject) : [];
}

function changedWebhooks(text: string, change: (webhook: JsonObject) => JsonObject): string {
  const parsed = parseJsonText(text);
  if (!parsed.ok || !isJsonObject(parsed.json)) return text;
  const webhooks = getOwn(parsed.json, 'webhooks');
  if (!Array.isArray(webhooks)) return text;
  const changed = webhooks.map((webhook) => (isJsonObject(webhook) ? change(webhook) : webhook));
  return JSON.stringify({ ...parsed.json, webhooks: changed });
}

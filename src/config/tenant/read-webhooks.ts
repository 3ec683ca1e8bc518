/** Reads `webhooks` of a tenant file (docs/reference/webhooks.md). Issues never show secrets or header values. */
import type { Cursor } from '../../contract/config-cursor.ts';
import {
  webhookBatchSizeMax,
  webhookHeadersMax,
  webhooksPerTenantMax,
  webhookUrlCharactersMax,
} from '../../contract/limits.ts';
import { quote } from '../../lib/message-text.ts';
import { adviceForUnknown } from '../../lib/suggest.ts';
import type { Environment, Webhook, WebhookFormat } from '../configuration.ts';
import {
  EntriesByName,
  isHeaderName,
  isHeaderValue,
  readAlias,
  readChoice,
  readNamed,
  readWholeNumber,
} from './common-fields.ts';
import { keptMark } from './kept-secrets.ts';
import type { KnownNames } from './named-things.ts';
import { batchMembers, batchShape, webhookFormats, webhookShape } from './tenant-shapes.ts';

export interface WebhookEntry {
  readonly webhook: Webhook;
  readonly at: Cursor;
}

const defaultBatch = { size: webhookBatchSizeMax, seconds: 1 };

/** @param mayBeKept true if secrets may be missing, as in a backup */
export function readWebhooks(
  list: Cursor,
  environments: EntriesByName<Environment>,
  mayBeKept: boolean,
): WebhookEntry[] {
  const taken = new EntriesByName<true>('webhook');
  const items = list.items();
  if (items.length > webhooksPerTenantMax) {
    list.issue(`has ${items.length} webhooks`, `At most ${webhooksPerTenantMax} are allowed.`);
  }
  return items.flatMap((at) => {
    if (at.object(webhookShape) === null) return [];
    const alias = readAlias(at.member('alias'));
    if (alias !== null) taken.add(alias, true, at.member('alias'));
    const webhook: Webhook = {
      alias: alias ?? '',
      environment: readNamed(at.member('environment'), environments) ?? { id: '', alias: '' },
      url: readUrl(at.member('url')) ?? '',
      secrets: readSecrets(at.member('secret'), mayBeKept),
      schemas: readSchemas(at.member('schemas')),
      isDestination: at.member('destination').optionalBoolean(false),
      isExpanded: readExpand(at.member('expand')),
      batch: readBatch(at.member('batch')),
      headers: readHeaders(at.member('headers'), mayBeKept),
      format: readFormat(at.member('format')),
    };
    return [{ webhook, at }];
  });
}

/** A webhook never receives anything for a schema that does not exist. */
export function warnOfUnknownSchemas(webhooks: readonly WebhookEntry[], { aliases }: KnownNames): void {
  for (const { at } of webhooks) {
    const list = at.member('schemas');
    if (!Array.isArray(list.json)) continue;
    for (const item of list.items()) {
      const alias = item.json;
      if (typeof alias !== 'string' || aliases.schemas.has(alias)) continue;
      item.warning(`there is no schema ${quote(alias)}`, () => adviceForUnknown(alias, aliases.schemas));
    }
  }
}

function readUrl(at: Cursor): string | null {
  const text = at.nonEmptyString();
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  const isValid = isHttp && url.username === '' && url.password === '' && url.hash === '';
  if (url !== null && isValid && text.length <= webhookUrlCharactersMax) return url.href;
  at.issue(
    'not a URL of a receiver',
    `Write https://… or http://… without a user, a password and a fragment; at most ${webhookUrlCharactersMax} characters.`,
  );
  return null;
}

const secretPattern = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const secretAdvice = 'Write "whsec_" and random bytes in base64: `openssl rand -base64 32` creates some.';

function readSecrets(at: Cursor, mayBeKept: boolean): string[] {
  const isList = Array.isArray(at.json);
  const items = isList ? at.items() : [at];
  if (isList && (items.length < 1 || items.length > 2)) {
    at.issue(`has ${items.length} secrets`, 'Write one, or two while you rotate them.');
  }
  return items.flatMap((item) => {
    const text = item.nonEmptyString();
    if (text === null) return [];
    if (text === keptMark) {
      if (!mayBeKept) refuseKept(item);
      return [];
    }
    if (secretPattern.test(text) && text !== 'whsec_') return [text];
    item.issue('not a secret of a webhook', secretAdvice);
    return [];
  });
}

function refuseKept(at: Cursor): void {
  at.issue('there is no stored value to keep', 'Write the value itself.');
}

function readSchemas(list: Cursor): ReadonlySet<string> | null {
  if (list.isAbsent) return null;
  return new Set(list.items().flatMap((at) => at.nonEmptyString() ?? []));
}

function readExpand(at: Cursor): boolean {
  if (at.isAbsent) return false;
  if (at.json === 'shown') return true;
  at.mustBe('"shown"', 'Write "shown", or leave it out.');
  return false;
}

function readBatch(at: Cursor): Webhook['batch'] {
  if (at.isAbsent || at.object(batchShape) === null) return defaultBatch;
  return {
    size: readWholeNumber(at.member('size'), batchMembers.size, defaultBatch.size),
    seconds: readWholeNumber(at.member('seconds'), batchMembers.seconds, defaultBatch.seconds),
  };
}

function readFormat(at: Cursor): WebhookFormat {
  if (at.isAbsent) return 'standard';
  return readChoice(at, 'format of a webhook', webhookFormats) ?? 'standard';
}

/** Headers that the platform sets itself, and connection headers. */
const reservedHeader =
  /^(?:webhook-.*|host|content-.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect)$/;

function readHeaders(at: Cursor, mayBeKept: boolean): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  if (at.isAbsent || at.anyObject('Write {"Authorization": "Bearer …"}.') === null) return headers;
  const names = at.names();
  if (names.length > webhookHeadersMax) {
    at.issue(`has ${names.length} headers`, `At most ${webhookHeadersMax} are allowed.`);
  }
  for (const name of names) {
    const value = readHeader(at.member(name), name, mayBeKept);
    if (value !== null) headers.set(name, value);
  }
  return headers;
}

function readHeader(at: Cursor, name: string, mayBeKept: boolean): string | null {
  if (!isHeaderName(name))
    at.issue(`${quote(name)} is not a header name`, 'Write a name such as "X-Api-Key".');
  if (reservedHeader.test(name.toLowerCase())) {
    at.issue(`the header ${quote(name)} is set by the platform`, 'Remove it.');
  }
  const value = at.nonEmptyString();
  if (value === null) return null;
  if (value === keptMark) {
    if (!mayBeKept) refuseKept(at);
    return null;
  }
  if (isHeaderValue(value)) return value;
  at.issue('not a valid header value', 'Write visible ASCII characters and spaces, in one line.');
  return null;
}

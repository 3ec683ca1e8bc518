import type { Cursor } from '../../contract/config-cursor.ts';
import { quote } from '../../lib/quote.ts';
import type { Domain, Environment, Scope } from '../configuration.ts';
import { Names } from '../documents/names.ts';
import { canonicalHost } from '../urls/host.ts';
import { readAlias, readKeys, readNamed, type WrittenKey } from './fields.ts';

export interface ClientEntry {
  readonly name: string;
  readonly environment: Environment;
  readonly domains: readonly Domain[];
  readonly scopes: ReadonlySet<Scope>;
  readonly keys: readonly WrittenKey[];
  readonly at: Cursor;
}

const scopes: readonly Scope[] = ['delivery', 'routes', 'query', 'source'];
/** A tenant without domains answers as if it had this one: relative URLs and every host. */
const everyHost: Domain = { alias: 'default', hostnames: ['*'] };
/** Stands for an environment that could not be read, so that the rest of its client is checked. */
const unknownEnvironment: Environment = { id: '', alias: '' };

/** Reads `domains` of a tenant file. */
export function readDomains(list: Cursor): Names<Domain> {
  const domains = new Names<Domain>('domain');
  const taken = new Names<true>('hostname');
  for (const at of list.items()) {
    if (at.object(['alias', 'hostnames']) === null) continue;
    const alias = readAlias(at.member('alias'));
    const hostnames = readHostnames(at.member('hostnames'), taken);
    if (alias !== null) domains.add(alias, { alias, hostnames }, at.member('alias'));
  }
  return domains;
}

function readHostnames(list: Cursor, taken: Names<true>): string[] {
  const items = list.items();
  if (items.length === 0) list.issue('names no host', 'Write ["*"] for relative URLs and any host.');
  const hostnames = new Set<string>();
  for (const at of items) {
    const host = readHostname(at);
    if (host === null) continue;
    // Several domains may have `*`, for different clients: `readClient` sees that no client gets two of them.
    if (host !== '*') taken.add(host, true, at);
    hostnames.add(host);
  }
  return [...hostnames];
}

function readHostname(at: Cursor): string | null {
  const text = at.filledText();
  if (text === null || text === '*') return text;
  const host = canonicalHost(text);
  if (host !== null) return host;
  at.issue(
    `${quote(text)} is not a hostname`,
    'Write the name alone, as www.example.com: no scheme, port, path or wildcard.',
  );
  return null;
}

/** Reads one of `environmentClients`; `index` is its place in the list. Null with an issue for what is no object. */
export function readClient(
  at: Cursor,
  index: number,
  environments: Names<Environment>,
  domains: Names<Domain>,
): ClientEntry | null {
  if (at.object(['name', 'environment', 'domains', 'scopes', 'apiKeys']) === null) return null;
  return {
    name: at.member('name').optionalText(`client ${index + 1}`),
    environment: readNamed(at.member('environment'), environments) ?? unknownEnvironment,
    domains: readClientDomains(at.member('domains'), domains),
    scopes: readScopes(at.member('scopes')),
    keys: readKeys(at.member('apiKeys')),
    at,
  };
}

/** A client that names no domain has all of its tenant's. */
function readClientDomains(list: Cursor, domains: Names<Domain>): readonly Domain[] {
  const items = list.items();
  const named = items.flatMap((item) => readNamed(item, domains) ?? []);
  const chosen = [...new Set(items.length > 0 ? named : domains.values())];
  const open = chosen.filter((domain) => domain.hostnames.includes('*'));
  if (open.length > 1) {
    const aliases = open.map((domain) => domain.alias).join(', ');
    list.issue(`several domains with hostname "*": ${aliases}`, 'A client may have one of them: list which.');
  }
  return chosen.length > 0 ? chosen : [everyHost];
}

function readScopes(list: Cursor): ReadonlySet<Scope> {
  if (list.json === undefined) return new Set(scopes);
  const known = new Names<Scope>(
    'scope',
    scopes.map((scope) => [scope, scope]),
  );
  return new Set(list.items().flatMap((item) => readNamed(item, known) ?? []));
}

/** What readers get from the cache across a change of configuration. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { ClientPrincipal, Configuration } from '../../../src/config/configuration.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { AnswerCache } from '../../../src/http/cache/answer-cache.ts';
import { keepPages } from '../../../src/http/cache/kept-pages.ts';
import { FinishedAnswer } from '../../../src/http/delivery/finished-answer.ts';
import { subjectKey } from '../../../src/store/derived/subjects.ts';
import { client, load, site } from '../../config/support/loading.ts';
import { pageSchema } from '../../config/support/site.ts';

const [page, query] = ['url=%2Fa', 'things\n{}'];
const clients = ['website', 'app'].map((name) =>
  client({ name, domains: ['site'], apiKeys: [`${name}-key`] }),
);

function configurationOf(changes: JsonObject = {}, schema: JsonObject = pageSchema): Configuration {
  return load(
    site({ environmentClients: clients, ...changes }, { 'tenants/site/schemas/page.json': schema }),
  );
}

function clientOf(configuration: Configuration, key: string): ClientPrincipal {
  const principal = configuration.authenticate(key);
  assert.ok(principal?.kind === 'client');
  return principal;
}

let cache = new AnswerCache(1 << 20);
const before = configurationOf();
const website = clientOf(before, 'website-key');

function put(principal: ClientPrincipal, asked: string, text: string): void {
  const computation = cache.begin();
  cache.store(computation, principal, asked, new FinishedAnswer(Buffer.from(text)), () => [
    subjectKey('view a'),
  ]);
  cache.end(computation);
}

function found(configuration: Configuration, key: string, asked: string): string | null {
  const answer = cache.find(clientOf(configuration, key), asked);
  return answer === null ? null : Buffer.from(answer.body).toString();
}

function fill(): void {
  cache = new AnswerCache(1 << 20);
  put(website, page, 'of the website');
  put(website, query, 'of a query');
  put(clientOf(before, 'app-key'), page, 'of the app');
}

beforeEach(fill);

test('pages stay with their clients when schemas change, until what they read changes; answers of queries go', () => {
  const after = configurationOf({}, { ...pageSchema, properties: { title: '{p.name}' } });
  keepPages(cache, after);
  assert.equal(found(after, 'website-key', page), 'of the website');
  assert.equal(found(after, 'app-key', page), 'of the app');
  assert.equal(found(after, 'website-key', query), null);
  assert.equal(cache.figures.entries, 2);
  cache.invalidate([subjectKey('view a')]);
  assert.equal(found(after, 'website-key', page), null);
  assert.deepEqual([cache.figures.entries, cache.figures.bytes], [0, 0]);
});

test('a client that gets something else loses its pages, another one keeps them', () => {
  const domains = [
    { alias: 'site', hostnames: ['www.example.com', '*'] },
    { alias: 'app', hostnames: ['app.example.com'] },
  ];
  const [site, app] = clients;
  const after = configurationOf({ domains, environmentClients: [site ?? {}, { ...app, domains: ['app'] }] });
  keepPages(cache, after);
  assert.equal(found(after, 'website-key', page), 'of the website');
  assert.equal(found(after, 'app-key', page), null);
});

test('hostnames, environment and tenant decide what is delivered, too', () => {
  const staging = { id: 'env-2', alias: 'staging' };
  const others = [
    configurationOf({ domains: [{ alias: 'site', hostnames: ['www.example.org', '*'] }] }),
    configurationOf({ environments: [{ id: 'env-3', alias: 'production' }] }),
    configurationOf({
      environments: [{ id: 'env-1', alias: 'production' }, staging],
      environmentClients: clients.map((one) => ({ ...one, environment: 'staging' })),
    }),
  ];
  for (const after of others) {
    fill();
    keepPages(cache, after);
    assert.equal(found(after, 'website-key', page), null);
    assert.deepEqual([cache.figures.entries, cache.figures.bytes], [0, 0]);
  }
});

test('an answer that is computed while the configuration changes is not kept', () => {
  const computation = cache.begin();
  const after = configurationOf({}, { ...pageSchema, properties: {} });
  keepPages(cache, after);
  const answer = new FinishedAnswer(Buffer.from('late'));
  const isCurrent = cache.store(computation, clientOf(after, 'website-key'), 'url=%2Fb', answer, () => [
    subjectKey('view b'),
  ]);
  cache.end(computation);
  assert.equal(isCurrent, false);
  assert.equal(found(after, 'website-key', 'url=%2Fb'), null);
});

test('keys of one client share its pages', () => {
  const both = configurationOf({ environmentClients: [{ ...clients[0], apiKeys: ['one', 'two'] }] });
  put(clientOf(both, 'one'), page, 'asked with one');
  assert.equal(found(both, 'two', page), 'asked with one');
});

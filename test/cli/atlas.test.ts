import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AtlasEntity,
  atlasEntities,
  hasAtlasPackages,
  lastEntity,
} from '../../config/atlas-entities.ts';

const entities: AtlasEntity[] = [];
for await (const entity of atlasEntities()) entities.push(entity);
const byId = new Map(entities.map((entity) => [entity.originId, entity]));

function find(originId: string): AtlasEntity {
  const entity = byId.get(originId);
  assert.ok(entity, originId);
  return entity;
}

test('demo: it is a real site with about 25,000 entities of five types', () => {
  assert.ok(hasAtlasPackages());
  assert.ok(entities.length > 24_000 && entities.length < 26_000, String(entities.length));
  const types = new Set(entities.map((entity) => entity.type));
  assert.deepEqual([...types], ['continent', 'country', 'region', 'city', 'world']);
  assert.equal(entities.at(-1)?.originId, lastEntity.originId);
});

test('demo: origin ids and URLs are unique, and URLs are plain', () => {
  assert.equal(byId.size, entities.length);
  const urls = new Set(entities.flatMap(({ url, redirects }) => [url, ...redirects]));
  const claims = entities.reduce((sum, { redirects }) => sum + 1 + redirects.length, 0);
  assert.equal(urls.size, claims);
  assert.deepEqual(
    entities.map(({ url }) => url).filter((url) => !/^\/$|^(?:\/[a-z0-9]+(?:-[a-z0-9]+)*)+$/.test(url)),
    [],
  );
});

test('demo: every referenced entity exists', () => {
  const referred = entities.flatMap(({ originParentId, properties }) => [
    originParentId,
    ...Object.entries(properties).flatMap(([name, value]) => (/Ids?$/.test(name) ? value : [])),
  ]);
  const missing = referred.filter((id) => id !== null && !byId.has(String(id)));
  assert.deepEqual(missing, []);
});

test('demo: a city has the expected URL', () => {
  const lyon = find('city-2996944');
  assert.equal(lyon.url, '/europe/france/lyon');
  const france = find('country-FR');
  assert.deepEqual(france.redirects, ['/countries/FR']);
  assert.equal(find(String(france.properties.capitalId)).properties.name, 'Paris');
  assert.equal(find(String(lyon.originParentId)).originParentId, 'country-FR');
});

test('demo: of two cities with the same name the larger one has the short URL', () => {
  const springfields = entities.filter(({ url }) =>
    url.startsWith('/north-america/united-states/springfield'),
  );
  const population = (url: string) =>
    Number(springfields.find((city) => city.url === url)?.properties.population);
  const short = population('/north-america/united-states/springfield');
  assert.ok(short > population('/north-america/united-states/springfield-illinois'));
});

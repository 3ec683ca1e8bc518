/** Programs that use the document with `openapi-fetch`. They are strings, because a test generates their types. */

const head = `import createClient from 'openapi-fetch';
import type { paths } from './api.js';
const client = createClient<paths, 'application/json'>({ baseUrl: 'http://127.0.0.1:4000', headers: { 'X-Api-Key': 'k' } });
`;

/** Saves, reads and queries, like a client. */
export const program = `${head}

export async function save(): Promise<string> {
  const { data, error } = await client.POST('/ingest/v2/{originId}', {
    params: { path: { originId: 'city-1' } },
    body: { type: 'city', url: '/x', properties: { title: 'Lyon', tags: ['a'], nested: { a: 1 } } },
  });
  if (error) throw new Error(error.message);
  return data.message;
}
export async function saveRaw() {
  const { data } = await client.POST('/ingest/v2/{originId}', {
    params: { path: { originId: 'city-1' }, header: { 'X-Service-Type': 'city' } },
    body: { title: 'Lyon' },
  });
  return data?.status;
}
export async function saveMany() {
  const { data, error } = await client.POST('/ingest/v2', {
    body: [{ originId: 'a', type: 'city', properties: { title: 'Lyon' } }],
  });
  if (error !== undefined) return 0;
  return Object.entries(data.errors).length + data.changedSourceEntities.length;
}
export async function routeField(): Promise<unknown> {
  const { data, error } = await client.GET('/v2', { params: { query: { url: '/x', handle: ['a', 'b'] } } });
  if (error) throw new Error(error.message);
  const views = Object.values(data.views).map((view) => view.title);
  return [data.route?.title, views, data.meta.redirect];
}
export async function rows(): Promise<string[]> {
  const { data, error } = await client.POST('/v1/{indexAlias}', {
    params: { path: { indexAlias: 'cities' } },
    body: {
      filters: { and: [{ field: 'a', operator: 'equals', value: 1 }, { or: [{ field: 'b', operator: 'in', value: ['x'] }, { field: 'c', operator: 'equals', value: null }] }] },
      facets: [{ field: 'country' }],
      sort: [{ field: 'population', order: 'desc' }],
      pagination: { pageSize: 5 },
      aliases: ['city'],
    },
  });
  if (error) throw new Error('errors' in error ? error.errors.join() : 'refused');
  const found = data.results.map((row) => String(row.title ?? row._originId));
  const views = data.results.map((row) => row._views?.city?.title);
  return [...found, ...data.facets.flatMap(({ groups }) => groups.map(({ value, count }) => \`\${value}:\${count}\`)), String(views)];
}
export async function multi() {
  const { data } = await client.POST('/v1/source', { body: [{ name: 'x', sourceGroupAlias: 'g', sourceEntityType: 't', filters: { or: [{ field: 'a', operator: 'contains', value: '*x*', caseInsensitive: true }] } }] });
  return data?.map((one) => (one.status === 0 ? one.totalResults : one.errors.join()));
}
export async function allRoutes() {
  const { data } = await client.GET('/routes/v2');
  return data?.results.map((route) => route.url);
}
export async function changes() {
  const { data } = await client.GET('/changes/v1');
  return data?.changes.map((change) => change.id);
}
export async function routes() {
  const { data } = await client.GET('/routes/v1', { params: { query: { first: 100 } } });
  return data?.results.map((route) => route.redirect ?? route.url);
}
`;

/** What must not compile; otherwise the types would be too loose. */
export const brokenPrograms: Readonly<Record<string, string>> = {
  unknownOperator: `${head}
await client.POST('/v1/{indexAlias}', {
  params: { path: { indexAlias: 'cities' } },
  body: { filters: { and: [{ field: 'a', operator: 'near', value: 1 }] } },
});
`,
  unknownMember: `${head}
const { data } = await client.GET('/routes/v1', { params: { query: { first: 100 } } });
console.log(data?.results[0]?.link);
`,
};

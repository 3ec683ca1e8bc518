/** Reads of views and routes. */
import type { Connection, ReadOptions, Reply } from './connection.ts';
import type { DeliveredPage, DeliveredViews, MissingReference, Route } from './types.ts';

/** Options of delivery reads. */
export interface DeliveryOptions extends ReadOptions {
  /** References deeper than this are null, 0 to 100; absent: the setting of the environment client. */
  readonly depth?: number;
}

export interface Keys<Handle extends string = string> {
  readonly ids?: readonly string[];
  readonly handles?: readonly Handle[];
}

interface DeliveryAnswer {
  readonly meta: {
    readonly status: 200 | 301 | 404;
    readonly redirect?: string | null;
    readonly missingViewReferences: readonly MissingReference[];
    readonly cutViewReferences?: readonly MissingReference[];
  };
  readonly route?: unknown;
  readonly views: Readonly<Record<string, unknown>>;
}

export async function pageOf<V>(
  connection: Connection,
  url: string,
  { depth, ...read }: DeliveryOptions = {},
): Promise<DeliveredPage<V>> {
  const path = `/v2?url=${encodeURIComponent(url)}${depth === undefined ? '' : `&depth=${depth}`}`;
  const reply = await connection.read<DeliveryAnswer>({ ...read, path });
  const { meta, route = null } = reply.body;
  const { status, redirect = null, missingViewReferences: missing, cutViewReferences: cut } = meta;
  const { tags, etag } = reply;
  return { status, redirect, view: route as V | null, missing, ...(cut && { cut }), tags, etag };
}

/** Maximum number of keys per request (docs/reference/limits.md). */
const keysPerRequest = 1000;

export async function viewsOf<V>(
  connection: Connection,
  { ids = [], handles = [] }: Keys,
  options?: DeliveryOptions,
): Promise<DeliveredViews<V>> {
  const keys = [
    ...[...new Set(ids)].map((key) => ({ name: 'ids', key })),
    ...[...new Set(handles)].map((key) => ({ name: 'handles', key })),
  ];
  const replies: Reply<DeliveryAnswer>[] = [];
  for (let at = 0; at < keys.length; at += keysPerRequest) {
    const asked = keys.slice(at, at + keysPerRequest);
    const keysOf = (name: string) => asked.filter((one) => one.name === name).map(({ key }) => key);
    const body = { ids: keysOf('ids'), handles: keysOf('handles') };
    replies.push(await viewsReply(connection, body, options));
  }
  const cuts = replies.flatMap(({ body }) => body.meta.cutViewReferences ?? []);
  const hasDepth = replies.some(({ body }) => body.meta.cutViewReferences !== undefined);
  return {
    // `fromEntries` keeps the key `__proto__`, which an assignment would lose.
    views: Object.fromEntries(replies.flatMap(({ body }) => Object.entries(body.views))) as Record<string, V>,
    missing: replies.flatMap(({ body }) => body.meta.missingViewReferences),
    ...(hasDepth && { cut: cuts }),
    tags: [...new Set(replies.flatMap(({ tags }) => tags))],
    etag: replies.length === 1 ? (replies[0]?.etag ?? null) : null,
  };
}

async function viewsReply(
  connection: Connection,
  keys: { readonly ids: readonly string[]; readonly handles: readonly string[] },
  { depth, ...read }: DeliveryOptions = {},
): Promise<Reply<DeliveryAnswer>> {
  const body = { ...keys, ...(depth !== undefined && { depth }) };
  // If two handles name the same view, return it under both.
  const path = '/v2?includeDuplicateViews=true';
  return await connection.read<DeliveryAnswer>({ ...read, method: 'POST', path, body });
}

/** @returns null if there is no view for the key */
export async function viewOf<V>(
  connection: Connection,
  keys: Keys,
  options?: DeliveryOptions,
): Promise<V | null> {
  const { views } = await viewsOf<V>(connection, keys, options);
  const [key = ''] = keys.ids ?? keys.handles ?? [];
  // A key may be the name of an inherited member, such as `constructor`.
  return Object.hasOwn(views, key) ? (views[key] ?? null) : null;
}

export async function* routesOf(connection: Connection, read?: ReadOptions): AsyncGenerator<Route> {
  for (let token: string | null = ''; token !== null; ) {
    const path: string =
      token === '' ? '/routes/v2' : `/routes/v2?continuationToken=${encodeURIComponent(token)}`;
    const { body }: { body: { continuationToken: string | null; results: readonly Route[] } } =
      await connection.read({ ...read, path });
    yield* body.results;
    token = body.continuationToken;
  }
}

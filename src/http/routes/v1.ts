/** `GET /routes/v1`: all routes, paged by cursors (docs/reference/http.md "Listing routes"). */
import { ProblemError, problems } from '../../contract/errors.ts';
import { routesPageMax, routesPageMin } from '../../contract/limits.ts';
import { listRoutes, type RoutePage, type RouteScope } from '../../store/claims/routes.ts';
import type { ListPage } from '../../store/redis/ordered-lists.ts';
import type { Store } from '../../store/store.ts';
import { jsonAnswer } from '../answer.ts';
import type { Handler } from '../call.ts';
import { QueryParameters, waitForRequestedVersion } from '../request-parameters.ts';
import type { Services } from '../services.ts';
import { routeResult, routesOf, sealUrl, unsealUrl } from './route-parts.ts';

type Direction = ListPage['direction'];

/** The requested page. `direction` is the direction of the listing, with `after` as well as with `before`. */
interface PageRequest {
  readonly direction: Direction;
  readonly limit: number;
  /** Only the page after this URL in the listing. */
  readonly after: string | null;
  /** Only the page before this URL in the listing. */
  readonly before: string | null;
}

export function listRoutesV1(services: Services): Handler {
  return async (call) => {
    const scope = routesOf(services, call.client);
    const list = `routes/v1:${scope.tenant}:${scope.environmentId}`;
    const { store } = services;
    const request = pageRequest(call.query, (token) => unsealUrl(store.secret, list, token));
    await waitForRequestedVersion(services, call, scope.tenant);
    const page = await readPage(store, scope, request);
    const cursor = (url: string | undefined) => (url === undefined ? null : sealUrl(store.secret, list, url));
    return jsonAnswer(200, {
      total: page.total,
      pageInfo: {
        hasNextPage: page.hasNext,
        hasPreviousPage: page.hasPrevious,
        startCursor: cursor(page.entries.at(0)?.url),
        endCursor: cursor(page.entries.at(-1)?.url),
      },
      results: page.entries.map(routeResult),
    });
  };
}

/** Digits only, because `Number` also accepts `1e2` and `0x64`. */
const wholeNumber = /^\d+$/;

/** @throws ProblemError 422 */
function pageRequest(query: string, unseal: (token: string) => string | null): PageRequest {
  const parameters = new QueryParameters(query);
  const [first, last] = [parameters.one('first'), parameters.one('last')];
  const written = first ?? last ?? '';
  const limit = wholeNumber.test(written) ? Number(written) : 0;
  const isValid = limit >= routesPageMin && limit <= routesPageMax;
  if ((first === null) === (last === null) || !isValid) throw new ProblemError(problems.pageSizeInvalid);
  const cursorOf = (name: string): string | null => {
    const token = parameters.one(name);
    const url = token === null ? null : unseal(token);
    if (token !== null && url === null) throw new ProblemError(problems.cursorInvalid(name));
    return url;
  };
  const [after, before] = [cursorOf('after'), cursorOf('before')];
  if (after !== null && before !== null) throw new ProblemError(problems.severalCursors);
  return { direction: first === null ? 'descending' : 'ascending', limit, after, before };
}

interface ListingPage {
  readonly entries: RoutePage['entries'];
  readonly total: number;
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
}

async function readPage(store: Store, scope: RouteScope, request: PageRequest): Promise<ListingPage> {
  const { direction, limit, after, before } = request;
  if (before === null) {
    const page = await listRoutes(store, scope, { ...beyond(direction, after), limit });
    const start = page.entries.at(0)?.url ?? after;
    const hasPrevious = after !== null && (await anyBeyond(store, scope, opposite(direction), start));
    return { entries: page.entries, total: page.total, hasNext: page.hasMore, hasPrevious };
  }
  const page = await listRoutes(store, scope, { ...beyond(opposite(direction), before), limit });
  const entries = [...page.entries].reverse();
  const end = entries.at(-1)?.url ?? before;
  const hasNext = await anyBeyond(store, scope, direction, end);
  return { entries, total: page.total, hasNext, hasPrevious: page.hasMore };
}

/** The range after a URL in a direction; everything if there is no URL. */
function beyond(direction: Direction, url: string | null): Pick<ListPage, 'direction' | 'after' | 'before'> {
  if (url === null) return { direction };
  return direction === 'ascending' ? { direction, after: url } : { direction, before: url };
}

async function anyBeyond(
  store: Store,
  scope: RouteScope,
  direction: Direction,
  url: string | null,
): Promise<boolean> {
  const { entries } = await listRoutes(store, scope, { ...beyond(direction, url), limit: 1 });
  return entries.length > 0;
}

function opposite(direction: Direction): Direction {
  return direction === 'ascending' ? 'descending' : 'ascending';
}

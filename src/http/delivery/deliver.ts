/** Builds the answer to a delivery request from the store (docs/reference/http.md "Delivery"), independently of HTTP. */
import { parseViewId } from '../../contract/ids.ts';
import { type ServedClaims, unpackServed } from '../../store/claims/claim-records.ts';
import type { ViewTarget } from '../../store/derived/stored-body.ts';
import { answerTags } from '../../store/derived/subjects.ts';
import { viewTarget } from '../../store/derived/views.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import type { EnvironmentScope } from '../../store/scopes.ts';
import type { Store } from '../../store/store.ts';
import type { DeliveryRequest } from './delivery-request.ts';
import { type ListedReference, type LoadedView, type ReferenceStyle, Rendering } from './render.ts';
import { type ClaimsToRead, claimOnUrl } from './served-claim.ts';
import { LoadedViews, type ViewSources } from './view-loading.ts';

/** An answer and what it was built from. A class, because closures would be allocated for each answer. */
export class Delivered {
  /** @param body JSON text in UTF-8 */
  constructor(
    readonly body: Buffer,
    readonly status: DeliveryStatus,
    private readonly missing: readonly ListedReference[],
    private readonly toRead: ClaimsToRead,
    readonly views: LoadedViews,
  ) {}

  /**
   * Keys of everything that was read, found or missing, as in the changes streams. The answer is valid until one of them
   * changes.
   */
  reads(): readonly string[] {
    return [...this.toRead.claimKeys(), ...this.views.visited.map(({ subject }) => subject)];
  }

  /** Cache tags of everything that the answer was built from. */
  tags(): readonly string[] {
    const { scope, request, claimFields } = this.toRead;
    const viewIds = [...request.ids, ...this.missing.map(({ viewId }) => viewId)];
    return answerTags(scope, { views: this.views.visited.map(({ target }) => target), viewIds, claimFields });
  }

  /** The hash fields that were read. */
  places(): readonly HashField[] {
    return [...this.toRead.places, ...this.views.places()];
  }
}

/** `meta.status` of an answer. */
export type DeliveryStatus = 200 | 301 | 404;

/** The format of an endpoint's answers. */
export interface DeliveryForm {
  /** True for GET: the answer has a `route`. */
  readonly withRoute: boolean;
  readonly references: ReferenceStyle;
}

/** A requested view, and its key in `views`. */
interface RequestedView {
  readonly key: string;
  readonly target: ViewTarget;
}

/** @throws StoreUnavailableError; ProblemError 422 beyond a limit */
export async function deliver(
  sources: ViewSources,
  toRead: ClaimsToRead,
  form: DeliveryForm,
): Promise<Delivered> {
  const { principal, request, scope, url } = toRead;
  const { store, onRead } = sources;
  const stored = await readPlaces(store, toRead, onRead);
  const depth = request.depth ?? principal.depth;
  const views = new LoadedViews(sources, { principal, scope, depth });
  try {
    const served = toRead.claimFields.map((field, at) => unpackServed(field, stored[at]));
    const ofUrl = served.splice(0, toRead.urlFields.length);
    const found =
      url === null
        ? null
        : claimOnUrl({ store, scope, url, domains: principal.domains }, toRead.urlFields, ofUrl);
    const claim = found instanceof Promise ? await found : found;
    // This read uses another connection, on which the request for the latest change could overtake it. So `onRead` is called
    // after the read and not with it.
    if (found instanceof Promise) onRead();
    const requested = requestedViews(request, scope, served);
    const routeTarget = claim?.kind === 'page' ? viewTarget(claim.view) : null;
    const targets = routeTarget === null ? [] : [routeTarget];
    for (const { target } of requested) targets.push(target);
    await views.load(targets);
    const routeView = routeTarget === null ? null : views.get(routeTarget);
    const redirect = claim?.kind === 'redirect' ? claim.redirect : null;
    const status = request.url === null || routeView !== null ? 200 : redirect === null ? 404 : 301;
    const parts = { request, scope, form, status, redirect, routeView, requested, views, depth } as const;
    const { body, missing } = bodyOf(parts);
    return new Delivered(body, status, missing, toRead, views);
  } finally {
    views.release();
  }
}

/**
 * While claims move from an old form to a new one, the old form is read first, so a claim that moves meanwhile is not missed.
 */
async function readPlaces(store: Store, toRead: ClaimsToRead, onRead: () => void) {
  const first = toRead.placesToReadFirst;
  if (first.length === 0) return await readNoting(store, toRead.places, onRead);
  const before = await readNoting(store, first, onRead);
  return [...before, ...(await readNoting(store, toRead.places.slice(first.length), onRead))];
}

function readNoting(store: Store, places: readonly HashField[], onRead: () => void) {
  const reading = store.fields.read(places);
  onRead();
  return reading;
}

/** Ids before handles, in the order of the request. Malformed ids and ids of another environment are skipped. */
function requestedViews(
  { ids, handles }: DeliveryRequest,
  { environmentId }: EnvironmentScope,
  servedOfHandles: readonly ServedClaims[],
): RequestedView[] {
  const requested: RequestedView[] = [];
  if (ids.length === 0 && servedOfHandles.length === 0) return requested;
  for (const id of new Set(ids)) {
    const target = parseViewId(id);
    if (target !== null && target.environmentId === environmentId)
      requested.push({ key: id, target: viewTarget(target) });
  }
  handles.forEach((handle, index) => {
    const claim = servedOfHandles[index]?.claims[0];
    if (claim !== undefined) requested.push({ key: handle, target: viewTarget(claim.view) });
  });
  return requested;
}

interface AnswerParts {
  readonly request: DeliveryRequest;
  readonly scope: EnvironmentScope;
  readonly form: DeliveryForm;
  readonly status: DeliveryStatus;
  readonly redirect: string | null;
  readonly routeView: LoadedView | null;
  readonly requested: readonly RequestedView[];
  readonly views: LoadedViews;
  readonly depth: number | null;
}

const routeStart = Buffer.from(',"route":');
const noRoute = Buffer.from('null');
const viewsStart = Buffer.from(',"views":{');
const end = Buffer.from('}}');
/** Nearly every answer begins with this. */
const plainMeta = Buffer.from(metaText(200, null, [], null));

interface WrittenAnswer {
  readonly body: Buffer;
  readonly missing: readonly ListedReference[];
}

function bodyOf(parts: AnswerParts): WrittenAnswer {
  const { request, scope, form, status, redirect, routeView, requested, views, depth } = parts;
  const rendering = new Rendering(scope.environmentId, (target) => views.get(target), form.references, depth);
  if (form.withRoute) {
    rendering.write(routeStart);
    if (routeView === null) rendering.write(noRoute);
    else rendering.view(routeView, 'route');
  }
  rendering.write(viewsStart);
  if (requested.length > 0) writeViews(rendering, request.includeDuplicateViews, requested, views);
  rendering.write(end);
  const { missing, cut, pieces } = rendering;
  const isPlain = status === 200 && missing.length === 0 && cut === null;
  const meta = isPlain ? plainMeta : Buffer.from(metaText(status, redirect, missing, cut));
  return { body: Buffer.concat([meta, ...pieces]), missing };
}

function metaText(
  status: DeliveryStatus,
  redirect: string | null,
  missingViewReferences: readonly ListedReference[],
  cutViewReferences: readonly ListedReference[] | null,
): string {
  const meta = { status, redirect, missingViewReferences, ...(cutViewReferences && { cutViewReferences }) };
  return `{"meta":${JSON.stringify(meta)}`;
}

function writeViews(
  rendering: Rendering,
  includeDuplicates: boolean,
  requested: readonly RequestedView[],
  views: LoadedViews,
): void {
  const delivered = new Set<string>();
  const keys = new Set<string>();
  for (const { key, target } of requested) {
    const view = views.get(target);
    if (view === null || keys.has(key) || (!includeDuplicates && delivered.has(target.identity))) continue;
    rendering.write(Buffer.from(`${keys.size === 0 ? '' : ','}${JSON.stringify(key)}:`));
    rendering.view(view, `views['${key.replaceAll(/[\\']/g, '\\$&')}']`);
    keys.add(key);
    delivered.add(target.identity);
  }
}

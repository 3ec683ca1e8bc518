/** Builds the answer of a delivery request from the store (contract section 5). Knows nothing of HTTP. */
import type { ClientPrincipal } from '../config/types.ts';
import { normalizeUrl } from '../config/url.ts';
import { parseViewId } from '../contract/ids.ts';
import { readClaims } from '../store/claims.ts';
import { claimField } from '../store/keys.ts';
import type { Store } from '../store/store.ts';
import { claimSubject, viewSubject } from '../store/subjects.ts';
import type { Claim, EnvironmentScope } from '../store/types.ts';
import { servedClaim } from './claim-choice.ts';
import type { DeliveryRequest } from './delivery-request.ts';
import { type LoadedView, Rendering } from './render.ts';
import { LoadedViews, type ViewTarget, viewKey } from './view-loading.ts';

export interface Delivered {
  /** JSON text in UTF-8. */
  readonly body: Buffer;
  /**
   * Subjects of everything that was read, found or missing, as the changes streams announce them: the answer stays
   * true until one of them changes (design promise 10).
   */
  readonly reads: readonly string[];
}

/** What a key of `views` stands for. */
interface AskedView {
  readonly key: string;
  readonly target: ViewTarget;
}

/** @param withRoute a GET, whose answer has a `route`. @throws StoreUnavailableError; ProblemError 422 beyond a limit */
export async function deliver(
  store: Store,
  principal: ClientPrincipal,
  request: DeliveryRequest,
  withRoute: boolean,
): Promise<Delivered> {
  const scope = { tenant: principal.tenant.alias, environmentId: principal.environment.id };
  const normal = request.url === null ? null : normalizeUrl(request.url);
  const paths = normal === null ? [] : [normal.path];
  const claims =
    paths.length + request.handles.length === 0
      ? { paths: [], handles: [] }
      : await readClaims(store, scope, { paths, handles: request.handles });
  const claim = servedClaim(claims.paths[0] ?? [], normal?.host ?? null, principal.domains);
  const asked = askedViews(request, scope, claims.handles);
  const views = new LoadedViews();
  const routeTarget = claim?.kind === 'page' ? claim.view : null;
  await views.load(store, scope, [
    ...(routeTarget === null ? [] : [routeTarget]),
    ...asked.map(({ target }) => target),
  ]);
  const routeView = routeTarget === null ? null : views.get(routeTarget);
  const fields = [...paths.map(claimField.url), ...request.handles.map(claimField.handle)];
  return {
    body: bodyOf({ request, withRoute, claim, routeView, asked, views }),
    reads: [
      ...fields.map((field) => claimSubject(scope, field)),
      ...views.targets.map((target) => viewSubject(scope, target)),
    ],
  };
}

/** Ids before handles, in the order asked; ids of other environments and garbage name no view. */
function askedViews(
  { ids, handles }: DeliveryRequest,
  { environmentId }: EnvironmentScope,
  claimsOfHandles: readonly (readonly Claim[])[],
): AskedView[] {
  const asked: AskedView[] = [];
  for (const id of new Set(ids)) {
    const target = parseViewId(id);
    if (target !== null && target.environmentId === environmentId) asked.push({ key: id, target });
  }
  handles.forEach((handle, index) => {
    const [claim] = claimsOfHandles[index] ?? [];
    if (claim !== undefined) asked.push({ key: handle, target: claim.view });
  });
  return asked;
}

interface AnswerParts {
  readonly request: DeliveryRequest;
  readonly withRoute: boolean;
  readonly claim: Claim | null;
  readonly routeView: LoadedView | null;
  readonly asked: readonly AskedView[];
  readonly views: LoadedViews;
}

function bodyOf({ request, withRoute, claim, routeView, asked, views }: AnswerParts): Buffer {
  const rendering = new Rendering((target) => views.get(target));
  if (withRoute) {
    rendering.write(Buffer.from(',"route":'));
    if (routeView === null) rendering.write(Buffer.from('null'));
    else rendering.view(routeView, 'route');
  }
  rendering.write(Buffer.from(',"views":{'));
  writeViews(rendering, request.includeDuplicateViews, asked, views);
  rendering.write(Buffer.from('}}'));
  const redirect = claim?.kind === 'redirect' ? claim.redirect : null;
  const status = request.url === null || routeView !== null ? 200 : redirect === null ? 404 : 301;
  const meta = { status, redirect, missingViewReferences: rendering.missing };
  return Buffer.concat([Buffer.from(`{"meta":${JSON.stringify(meta)}`), ...rendering.pieces]);
}

function writeViews(
  rendering: Rendering,
  includeDuplicates: boolean,
  asked: readonly AskedView[],
  views: LoadedViews,
): void {
  const delivered = new Set<string>();
  const keys = new Set<string>();
  for (const { key, target } of asked) {
    const view = views.get(target);
    const name = viewKey(target);
    if (view === null || keys.has(key) || (!includeDuplicates && delivered.has(name))) continue;
    rendering.write(Buffer.from(`${keys.size === 0 ? '' : ','}${JSON.stringify(key)}:`));
    rendering.view(view, `views['${key.replaceAll(/[\\']/g, '\\$&')}']`);
    keys.add(key);
    delivered.add(name);
  }
}

/**
 * Delivery requests made ready: what is the same however often one is asked, and which views its last answer was made
 * of. Those are read together with the claims, so that a page with its references usually costs one round trip instead
 * of one for each step from URL to last reference. A memory of where to look, not of what is there: everything that goes
 * into an answer was read for it, and what was foreseen wrongly is just not used. What names views, a claim and the head
 * of a body, is remembered with what it was decoded to: the same bytes say the same.
 */
import type { ClientPrincipal } from '../../config/configuration.ts';
import { type NormalUrl, normalizeUrl } from '../../config/urls/url.ts';
import { type ServedClaims, unpackServed } from '../../store/claims/claim-records.ts';
import { placeOfClaims } from '../../store/claims/read-claims.ts';
import { type BodyHead, headOf } from '../../store/derived/stored-body.ts';
import { claimSubject, subjectKey, viewSubject } from '../../store/derived/subjects.ts';
import { placeOfView } from '../../store/derived/views.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import { claimField } from '../../store/keys.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import type { Store } from '../../store/store.ts';
import { type DeliveryRequest, requestOfQuery } from './request.ts';
import type { ForeseenView, KnownView } from './view-loading.ts';

/** Longer lists take more memory than a round trip is worth. */
const foreseenMax = 24;
/** Larger records are decoded each time. */
const rememberedBytesMax = 2048;
/** Of the plans that are remembered, claims counted, twice over at most: most pages have one, and take about 4 kB. */
const plansWeightMax = 8192;
/** A longer query is rarely asked twice. */
const queryCharactersMax = 1024;

export class DeliveryPlan {
  readonly scope: EnvironmentScope;
  readonly url: NormalUrl | null;
  /** Of the URL and of the handles, in this order. */
  readonly claimFields: readonly string[];
  /** Views that the answer will probably be made of. */
  foreseen: readonly ForeseenView[] = [];
  /** Of the claim fields, then of the foreseen views. */
  places: readonly HashField[];
  #claimKeys: readonly string[] | null = null;
  /** By claim field. */
  readonly #served: { readonly bytes: Buffer; readonly served: ServedClaims }[] = [];

  constructor(
    private readonly store: Store,
    readonly principal: ClientPrincipal,
    readonly request: DeliveryRequest,
  ) {
    const { tenant, environment } = principal;
    const scope = { tenant: tenant.alias, environmentId: environment.id };
    this.scope = scope;
    this.url = request.url === null ? null : normalizeUrl(request.url);
    const paths = this.url === null ? [] : [this.url.path];
    this.claimFields = [...paths.map(claimField.url), ...request.handles.map(claimField.handle)];
    this.places = this.claimFields.map((field) => placeOfClaims(store, scope, field));
  }

  /** Keys of the subjects that the claim fields are. */
  get claimKeys(): readonly string[] {
    this.#claimKeys ??= this.claimFields.map((field) => subjectKey(claimSubject(this.scope, field)));
    return this.#claimKeys;
  }

  /** What is served on a claim field. @param stored as it was read */
  servedIn(at: number, stored: Buffer | null | undefined): ServedClaims {
    const known = this.#served[at];
    if (stored && known?.bytes.equals(stored)) return known.served;
    const served = unpackServed(stored);
    if (stored && stored.length <= rememberedBytesMax)
      this.#served[at] = { bytes: Buffer.from(stored), served };
    return served;
  }

  /** Notes what the answer was made of. */
  foresee(views: readonly KnownView[]): void {
    if (views.length > foreseenMax || this.#isForeseen(views)) return;
    this.foreseen = views.map((view) => ({
      target: view.target,
      head: headToRemember(view),
      key: keyOfView(this.scope, view),
    }));
    this.places = [
      ...this.places.slice(0, this.claimFields.length),
      ...views.map(({ target }) => placeOfView(this.store, this.scope, target)),
    ];
  }

  #isForeseen(views: readonly KnownView[]): boolean {
    if (views.length !== this.foreseen.length) return false;
    for (let index = 0; index < views.length; index += 1) {
      const [view, foreseen] = [views[index], this.foreseen[index]];
      if (view === undefined || view.target.field !== foreseen?.target.field) return false;
      if (foreseen.head !== null && view.loaded?.body.references !== foreseen.head.references) return false;
    }
    return true;
  }
}

/** Key of the subject that a view is. */
export function keyOfView(scope: EnvironmentScope, { target, key }: KnownView): string {
  return key ?? subjectKey(viewSubject(scope, target));
}

function headToRemember({ stored, loaded }: KnownView): BodyHead | null {
  if (!stored || loaded === null || loaded.body.references.length === 0) return null;
  const head = headOf(stored, loaded.body);
  return head.bytes.length <= rememberedBytesMax ? head : null;
}

/** The plan of a request by query string. */
export class QueryPlan extends DeliveryPlan {
  /** @throws ProblemError 422 */
  constructor(
    store: Store,
    principal: ClientPrincipal,
    readonly query: string,
  ) {
    super(store, principal, requestOfQuery(query));
  }
}

/** The plans of the latest requests. */
export class QueryPlans {
  /** By client, then by query. The older half goes as a whole when the younger one is full. */
  #young = new Map<ClientPrincipal, Map<string, QueryPlan>>();
  #old = new Map<ClientPrincipal, Map<string, QueryPlan>>();
  #youngWeight = 0;

  constructor(private readonly store: Store) {}

  /** @throws ProblemError 422 */
  of(principal: ClientPrincipal, query: string): QueryPlan {
    const young = this.#young.get(principal)?.get(query);
    if (young !== undefined) return young;
    const plan = this.#old.get(principal)?.get(query) ?? new QueryPlan(this.store, principal, query);
    if (query.length <= queryCharactersMax) this.#remember(plan);
    return plan;
  }

  #remember(plan: QueryPlan): void {
    this.#youngWeight += 1 + plan.claimFields.length;
    if (this.#youngWeight > plansWeightMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngWeight = 1 + plan.claimFields.length;
    }
    const ofClient = this.#young.get(plan.principal);
    if (ofClient === undefined) this.#young.set(plan.principal, new Map([[plan.query, plan]]));
    else ofClient.set(plan.query, plan);
  }
}

/**
 * Delivery requests made ready: what is the same however often one is asked, and which views its last answer was made
 * of. Those are read together with the claims, so that a page with its references usually costs one round trip instead
 * of one for each step from URL to last reference. A memory of where to look, not of what is there: everything that goes
 * into an answer was read for it, and what was foreseen wrongly is just not used.
 */
import type { ClientPrincipal } from '../config/types.ts';
import { type NormalUrl, normalizeUrl } from '../config/url.ts';
import { placeOfClaims } from '../store/claims.ts';
import type { HashField } from '../store/field-reader.ts';
import { claimField } from '../store/keys.ts';
import type { Store } from '../store/store.ts';
import type { EnvironmentScope, ViewTarget } from '../store/types.ts';
import { placeOfView } from '../store/views.ts';
import { type DeliveryRequest, requestOfQuery } from './delivery-request.ts';
import type { Shared } from './shared-answers.ts';

/** Longer lists take more memory than a round trip is worth. */
const foreseenMax = 24;
/** Of the plans that are remembered, claims counted, twice over at most: most pages have one, and take about 3 kB. */
const plansWeightMax = 8192;
/** A longer query is rarely asked twice. */
const queryCharactersMax = 1024;

export class DeliveryPlan {
  readonly scope: EnvironmentScope;
  readonly url: NormalUrl | null;
  /** Of the URL and of the handles, in this order. */
  readonly claimFields: readonly string[];
  /** Views that the answer will probably be made of. */
  foreseen: readonly ViewTarget[] = [];
  /** Of the claim fields, then of the foreseen views. */
  places: readonly HashField[];

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

  /** Notes what the answer was made of. */
  foresee(targets: readonly ViewTarget[]): void {
    if (targets.length > foreseenMax || this.#isForeseen(targets)) return;
    this.foreseen = targets;
    this.places = [
      ...this.places.slice(0, this.claimFields.length),
      ...targets.map((target) => placeOfView(this.store, this.scope, target)),
    ];
  }

  #isForeseen(targets: readonly ViewTarget[]): boolean {
    if (targets.length !== this.foreseen.length) return false;
    return targets.every((target, index) => target.field === this.foreseen[index]?.field);
  }
}

/** The plan of a request by query string, with the answer that is under way. */
export class QueryPlan extends DeliveryPlan implements Shared {
  flight: Shared['flight'] = null;

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
  /** By client and query. The older half goes as a whole when the younger one is full. */
  #young = new Map<string, QueryPlan>();
  #old = new Map<string, QueryPlan>();
  #youngWeight = 0;

  constructor(private readonly store: Store) {}

  /** @throws ProblemError 422 */
  of(principal: ClientPrincipal, query: string): QueryPlan {
    const name = `${principal.tenant.alias}:${principal.name}:${query}`;
    const young = this.#young.get(name);
    // Another configuration has other principals.
    if (young?.principal === principal) return young;
    const old = this.#old.get(name);
    const plan = old?.principal === principal ? old : new QueryPlan(this.store, principal, query);
    if (query.length <= queryCharactersMax) this.#remember(name, plan);
    return plan;
  }

  #remember(name: string, plan: QueryPlan): void {
    this.#youngWeight += 1 + plan.claimFields.length;
    if (this.#youngWeight > plansWeightMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngWeight = 1 + plan.claimFields.length;
    }
    this.#young.set(name, plan);
  }
}

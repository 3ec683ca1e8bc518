/** The first reads of a delivery request: the claims on its URL and its handles. */
import type { ClientPrincipal } from '../../config/configuration.ts';
import { type NormalUrl, normalizeUrl } from '../../config/urls/url.ts';
import { placeOfClaims } from '../../store/claims/read-claims.ts';
import { claimSubject, subjectKey } from '../../store/derived/subjects.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import { claimField } from '../../store/keys.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import type { Store } from '../../store/store.ts';
import type { DeliveryRequest } from './request.ts';

export class DeliveryPlan {
  readonly scope: EnvironmentScope;
  readonly url: NormalUrl | null;
  /** First that of the URL, then those of the handles. */
  readonly #claimFields: readonly string[];
  /** Where the claims lie, in the order of the claim fields. */
  readonly places: readonly HashField[];

  constructor(
    store: Store,
    readonly principal: ClientPrincipal,
    readonly request: DeliveryRequest,
  ) {
    const { tenant, environment } = principal;
    const scope = { tenant: tenant.alias, environmentId: environment.id };
    this.scope = scope;
    this.url = request.url === null ? null : normalizeUrl(request.url);
    const paths = this.url === null ? [] : [this.url.path];
    this.#claimFields = [...paths.map(claimField.url), ...request.handles.map(claimField.handle)];
    this.places = this.#claimFields.map((field) => placeOfClaims(store, scope, field));
  }

  /** Keys of the claims as subjects of changes. */
  claimKeys(): string[] {
    return this.#claimFields.map((field) => subjectKey(claimSubject(this.scope, field)));
  }
}

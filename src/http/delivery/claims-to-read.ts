/** What a delivery request reads first: the claims on its URL and its handles. */
import type { ClientPrincipal } from '../../config/configuration.ts';
import { answeringPaths, type NormalUrl, normalizeUrl, type UrlForm } from '../../config/urls/url.ts';
import { placeOfClaims } from '../../store/claims/read-claims.ts';
import { claimSubject, subjectKey } from '../../store/derived/subjects.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import { claimField } from '../../store/keys.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import type { Store } from '../../store/store.ts';
import type { DeliveryRequest } from './delivery-request.ts';

export class ClaimsToRead {
  readonly scope: EnvironmentScope;
  readonly url: NormalUrl | null;
  /** Of the URL: for each form that claims may have, in the order in which they must be read, one for each answering path. */
  readonly urlFields: readonly string[];
  readonly #pathCount: number;
  /** First those of the URL, then those of the handles. */
  readonly claimFields: readonly string[];
  /** Where the claims lie, in the order of the claim fields. */
  readonly places: readonly HashField[];

  constructor(
    store: Store,
    readonly principal: ClientPrincipal,
    readonly request: DeliveryRequest,
    urlForms: readonly UrlForm[],
  ) {
    const { tenant, environment } = principal;
    const scope = { tenant: tenant.alias, environmentId: environment.id };
    this.scope = scope;
    this.url = request.url === null ? null : normalizeUrl(request.url);
    const paths = this.url === null ? [] : answeringPaths(this.url.path);
    this.#pathCount = paths.length;
    this.urlFields = urlForms.flatMap((form) => paths.map((path) => claimField.url(path, form)));
    this.claimFields = [...this.urlFields, ...request.handles.map(claimField.handle)];
    this.places = this.claimFields.map((field) => placeOfClaims(store, scope, field));
  }

  /** The places whose reads must be over before the others begin: claims are leaving them. */
  get placesToReadFirst(): readonly HashField[] {
    return this.places.slice(0, this.urlFields.length - this.#pathCount);
  }

  /** Keys of the claims as subjects of changes. */
  claimKeys(): string[] {
    return this.claimFields.map((field) => subjectKey(claimSubject(this.scope, field)));
  }
}

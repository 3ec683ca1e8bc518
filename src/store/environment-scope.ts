/** An environment of a tenant: what views, claims and items belong to. */
/** An environment's data belong to one tenant; two tenants may use the same environment id. */
export interface EnvironmentScope {
  readonly tenant: string;
  readonly environmentId: string;
}

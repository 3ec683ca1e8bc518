/** An environment of a tenant, which views, claims and items belong to. */
/** The data of an environment belong to one tenant; two tenants may use the same environment id. */
export interface EnvironmentScope {
  readonly tenant: string;
  readonly environmentId: string;
}

export function isSameScope(a: EnvironmentScope, b: EnvironmentScope): boolean {
  return a.tenant === b.tenant && a.environmentId === b.environmentId;
}

/** What stored data belong to: an environment or a source of a tenant. */

/** Views, claims and items belong to it. Two tenants may use the same environment id. */
export interface EnvironmentScope {
  readonly tenant: string;
  readonly environmentId: string;
}

export function isSameScope(a: EnvironmentScope, b: EnvironmentScope): boolean {
  return a.tenant === b.tenant && a.environmentId === b.environmentId;
}

/** Entities belong to it. */
export interface SourceRef {
  readonly tenant: string;
  readonly sourceId: string;
}

/** Identifies an entity in a store. */
export interface EntityName extends SourceRef {
  readonly originId: string;
}

/** The name of a source in fields of `keys.sources`, `keys.scheduledSources`, `keys.layouts` and `keys.purge`. */
export function sourceField({ tenant, sourceId }: SourceRef): string {
  return `${tenant}|${sourceId}`;
}

/** The source with a name from `sourceField`. */
export function sourceOfField(field: string): SourceRef {
  const [tenant = '', sourceId = ''] = field.split('|');
  return { tenant, sourceId };
}

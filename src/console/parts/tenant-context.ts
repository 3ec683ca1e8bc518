/** The context of all pages: the tenant of the key, and the selected environment. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Tenant } from '../api/answers.ts';
import { entityHref, entityParts, viewParts } from './addresses.ts';

export interface TenantInView {
  readonly tenant: Tenant;
  /** Alias. */
  readonly environment: string;
  setEnvironment(alias: string): void;
}

export const TenantContext = createContext<TenantInView | null>(null);

export function useTenant(): TenantInView {
  const value = useContext(TenantContext);
  if (value === null) throw new Error('a page is shown without its tenant');
  return value;
}

/** Alias of the source group of a source; null if the source no longer exists. */
export function groupOf(tenant: Tenant, sourceId: string): string | null {
  return tenant.sourceGroups.find(({ sources }) => sources.some(({ id }) => id === sourceId))?.alias ?? null;
}

/** Aliases of the source groups that have a source in an environment. */
export function groupsIn({ sourceGroups }: Tenant, environment: string): string[] {
  return sourceGroups
    .filter(({ sources }) => sources.some(({ environments }) => environments.includes(environment)))
    .map(({ alias }) => alias);
}

/** The address of an entity, from its id or a view id; null if its source no longer exists. */
export function entityHrefOf(tenant: Tenant, id: string): string | null {
  const parts = viewParts(id) ?? entityParts(id);
  const group = parts === null ? null : groupOf(tenant, parts.sourceId);
  return parts === null || group === null ? null : entityHref(group, parts.originId);
}

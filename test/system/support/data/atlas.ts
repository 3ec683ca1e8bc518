/** The demo's own configuration, and those of its places that the README requests. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AtlasEntity, atlasEntities } from '../../../../config/atlas-entities.ts';
import type { ConfigFiles } from '../processes/system.ts';

const configFolder = fileURLToPath(new URL('../../../../config/', import.meta.url));

/**
 * @param addTo changes `tenant.json` before it is used
 * @param tenant replaces the demo's own name
 */
export function atlasFiles(addTo: (tenant: TenantFile) => void = () => {}, tenant = 'atlas'): ConfigFiles {
  const names = readdirSync(configFolder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^tenants\/.*\.(?:json|ts)$/.test(name),
  );
  const textOf = (name: string) => readFileSync(path.join(configFolder, name), 'utf8');
  // Schemas in TypeScript are strings.
  const files = Object.fromEntries(
    names.map((name) => [name, name.endsWith('.json') ? JSON.parse(textOf(name)) : textOf(name)]),
  );
  addTo(files['tenants/atlas/tenant.json']);
  const ofTenant = (name: string) => name.replace('tenants/atlas/', `tenants/${tenant}/`);
  return Object.fromEntries(Object.entries(files).map(([name, json]) => [ofTenant(name), json]));
}

interface TenantFile {
  readonly environments: object[];
  readonly environmentClients: object[];
  webhooks?: object[];
}

export async function someAtlasPlaces(): Promise<AtlasEntity[]> {
  const wanted: AtlasEntity[] = [];
  for await (const entity of atlasEntities()) {
    const { type, url, properties } = entity;
    const isIstanbul = type === 'city' && properties.name === 'Istanbul';
    const isFrench = url === '/europe/france' || url === '/europe/france/lyon';
    if (type === 'continent' || type === 'world' || isIstanbul || isFrench) wanted.push(entity);
  }
  return wanted;
}

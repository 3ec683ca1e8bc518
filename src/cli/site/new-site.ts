/** The files of a new site: those of `template`, with random keys and ids. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { jsonSchemas } from '../../config/json-schemas.ts';

const template = fileURLToPath(new URL('./template', import.meta.url));

/** Path in the site -> content. @param tenant name of its tenant */
export function newSite(tenant: string): Map<string, string> {
  const words: Readonly<Record<string, string>> = {
    tenant,
    environmentId: randomUUID(),
    sourceId: randomUUID(),
    sourceKey: newKey('source'),
    environmentKey: newKey('environment'),
    managementKey: newKey('management'),
  };
  const files = readdirSync(template, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map([
    ...files.map(({ parentPath, name }): [string, string] => {
      const file = path.join(parentPath, name);
      const text = readFileSync(file, 'utf8').replaceAll(/\{\{(\w+)\}\}/g, (all, word) => words[word] ?? all);
      return [pathInSite(path.relative(template, file), tenant), text];
    }),
    ...Object.entries(jsonSchemas).map(([name, schema]): [string, string] => [
      `config/json-schemas/${name}.json`,
      `${JSON.stringify(schema, null, 2)}\n`,
    ]),
  ]);
}

/** Renames `gitignore`, because npm does not include files named `.gitignore` in packages. */
function pathInSite(file: string, tenant: string): string {
  const inSite = file.split(path.sep).join('/').replace('tenants/tenant/', `tenants/${tenant}/`);
  return inSite === 'gitignore' ? '.gitignore' : inSite;
}

const keyBytes = 24;

function newKey(kind: string): string {
  return `${kind}-${randomBytes(keyBytes).toString('base64url')}`;
}

/**
 * `npm run preview`: shows the output of a schema for an entity without storing it (docs/reference/management.md "Preview").
 */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Environment, Source, Tenant } from '../config/configuration.ts';
import { issueText } from '../config/documents/issue-text.ts';
import type { StoredEntity } from '../contract/entity.ts';
import { getOwn, isJsonObject, type Json, jsonOf, textIn } from '../contract/json.ts';
import { closing } from '../lib/closing.ts';
import { counted, reasonOf } from '../lib/message-text.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { readPublished } from '../store/configuration/published-configuration.ts';
import { readEntities } from '../store/entities/entities.ts';
import type { Store } from '../store/store.ts';
import { ScanTooLongError } from '../trial/planned-candidates.ts';
import { type Preview, preview } from '../trial/preview/preview.ts';
import {
  type PreviewedTenant,
  type SchemaText,
  SchemaTextError,
  storedSchema,
  withSchemaText,
} from '../trial/preview/previewed-schema.ts';
import { activeConfiguration, oneTenant, withCommandStore } from './platform/open-store.ts';
import { CommandStop, readArguments, runCommand } from './terminal/command-line.ts';

function jsonText(value: Json | Preview | undefined): string {
  return JSON.stringify(value, null, 2);
}

/** Formats a preview for a terminal. */
function previewText(result: Preview): string {
  const { item, view, urls, handles, lookups, missing, diagnostics, milliseconds } = result;
  return [
    jsonText(item ?? view),
    '',
    ...listed('URLs', urls),
    ...listed('Handles', handles),
    ...listed(
      'Lookups',
      lookups.map(
        ({ place, matched, cut }) =>
          `${place}: ${counted(matched, 'match', 'matches')}${cut ? ', truncated' : ''}`,
      ),
    ),
    ...listed(
      'Missing views',
      missing.map(({ path, viewId }) => `${path}: ${viewId}`),
    ),
    ...listed(
      'Diagnostics',
      diagnostics.map(({ kind, place, message }) => `${place ?? ''}: ${message} (${kind})`),
    ),
    ...listed('Console', result.console ?? []),
    `Built in ${milliseconds} ms; nothing was stored.`,
  ].join('\n');
}

function listed(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}

interface Arguments {
  readonly schema: string;
  readonly entity: string;
  readonly tenant: string | null;
  readonly environment: string | null;
  readonly group: string | null;
}

async function main(): Promise<number> {
  const { values, positionals } = readArguments('preview');
  const [schema, entity] = positionals;
  if (schema === undefined || entity === undefined) {
    throw new CommandStop('Missing SCHEMA, or ORIGIN_ID or FILE. Example: npm run preview -- page home');
  }
  const request = {
    schema,
    entity,
    tenant: values.tenant ?? null,
    environment: values.environment ?? null,
    group: values.group ?? null,
  };
  const result = await withCommandStore((store) => previewIn(store, request));
  console.log(values.json === true ? jsonText(result) : previewText(result));
  return 0;
}

async function previewIn(store: Store, request: Arguments): Promise<Preview> {
  const tenant = await tenantOf(store, request.tenant);
  const planned = await schemaOf(store, tenant, request.schema);
  const environment = environmentOf(planned.tenant, request.environment);
  const { source, entity } = await entityOf(store, planned, environment, request);
  try {
    return await closing(new Sandbox(), (sandbox) =>
      preview(store, { ...planned, environment, source, entity }, sandbox),
    );
  } catch (error) {
    if (error instanceof ScanTooLongError) throw new CommandStop(`Preview failed: ${error.message}.`);
    throw error;
  }
}

async function tenantOf(store: Store, name: string | null): Promise<Tenant> {
  const { configuration } = await activeConfiguration(store, name);
  return oneTenant(configuration, name);
}

const schemaFile = /^(?<alias>.+?)(?:\.(?<kind>full|index))?\.(?<language>json|js|ts)$/;

/** A schema of the tenant, or one in a file. */
async function schemaOf(store: Store, tenant: Tenant, name: string): Promise<PreviewedTenant> {
  const previewed = storedSchema(tenant, name);
  if (previewed !== null) return { tenant, previewed };
  const { alias, kind, language } = schemaFile.exec(path.basename(name))?.groups ?? {};
  if (alias === undefined || !isFile(name)) {
    const known = [...tenant.schemas.keys(), ...[...tenant.indexes.keys()].map((one) => `index:${one}`)];
    throw new CommandStop(
      `No schema or file is named ${JSON.stringify(name)}. Schemas: ${known.join(', ')}.`,
    );
  }
  const isIndex = kind === 'index' || path.basename(path.dirname(name)) === 'indexes';
  const text: SchemaText = {
    kind: isIndex ? 'index' : 'full',
    language: language === 'js' || language === 'ts' ? language : 'json',
    text: readText(name),
    alias,
  };
  const published = await readPublished(store);
  try {
    return await withSchemaText(published?.documents ?? new Map(), tenant.alias, text);
  } catch (error) {
    if (error instanceof SchemaTextError) throw new CommandStop(issueText(error.issues));
    throw error;
  }
}

function environmentOf({ environments }: Tenant, name: string | null): Environment {
  const found = environments.find(({ alias, id }) => name === null || alias === name || id === name);
  if (found !== undefined && (name !== null || environments.length === 1)) return found;
  const problem =
    name === null ? 'There are several environments' : `There is no environment ${JSON.stringify(name)}`;
  const known = environments.map(({ alias }) => alias).join(', ');
  throw new CommandStop(`${problem}. Choose one with --environment: ${known}.`);
}

/** True unless it is a folder, which can have the name of an entity. */
function isFile(name: string): boolean {
  return statSync(name, { throwIfNoEntry: false })?.isDirectory() === false;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandStop(`${file} cannot be read: ${reasonOf(error)}`);
  }
}

interface FoundEntity {
  readonly source: Source;
  readonly entity: StoredEntity;
}

/** The entity in a file, or a stored one of a group that triggers the schema. */
async function entityOf(
  store: Store,
  { tenant, previewed }: PreviewedTenant,
  environment: Environment,
  { entity: name, group }: Arguments,
): Promise<FoundEntity> {
  const triggered =
    previewed.kind === 'auto' ? [previewed.sourceGroup] : [...previewed.schema.triggers.keys()];
  const groups =
    group !== null ? [group] : triggered.length > 0 ? triggered : [...tenant.sourceGroups.keys()];
  const sources = groups.flatMap((one) => tenant.sourceIn(one, environment.id) ?? []);
  const [source] = sources;
  if (source === undefined) {
    throw new CommandStop(
      `The environment ${environment.alias} has no source of the group ${groups.join(', ')}.`,
    );
  }
  if (isFile(name)) {
    const entity = entityOfText(readText(name), source.id, path.parse(name).name);
    if (entity !== null) return { source, entity };
    throw new CommandStop(
      `${name} is not an entity. It must be JSON: {"type": string, "url"?: string, "properties": {…}}.`,
    );
  }
  const refs = sources.map(({ id: sourceId }) => ({ sourceId, originId: name }));
  const entities = await readEntities(store, tenant.alias, refs);
  for (const [at, entity] of entities.entries()) {
    const found = sources[at];
    if (entity !== null && found !== undefined) return { source: found, entity };
  }
  throw new CommandStop(`No entity in ${groups.join(', ')} and no file is named ${JSON.stringify(name)}.`);
}

/**
 * Parses an entity; null if it is not one. It does not check everything that ingest checks.
 * @param originId for an entity without one
 */
function entityOfText(text: string, sourceId: string, originId: string): StoredEntity | null {
  const value = jsonOf(text);
  if (!isJsonObject(value)) return null;
  const type = textIn(value, 'type');
  const properties = getOwn(value, 'properties') ?? {};
  const redirects = getOwn(value, 'redirects');
  if (type === null || !isJsonObject(properties)) return null;
  const stamp = Date.now() * 1000;
  return {
    sourceId,
    originId: textIn(value, 'originId') ?? originId,
    type,
    url: textIn(value, 'url'),
    originParentId: textIn(value, 'originParentId'),
    redirects: Array.isArray(redirects) ? redirects.filter((one) => typeof one === 'string') : [],
    properties,
    stamp,
    bornStamp: stamp,
    urlStamp: stamp,
  };
}

await runCommand(main);

/** Loads the configuration of a small site with changes. */
import assert from 'node:assert/strict';
import type { Configuration } from '../../../src/config/configuration.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import type { ConfigIssue } from '../../../src/contract/diagnostic.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { documentsOf, siteTenant } from './site.ts';

export type Files = Record<string, Json | string>;

export function load(files: Files): Configuration {
  const outcome = loadConfiguration(documentsOf(files));
  assert.ok(outcome.ok, JSON.stringify(outcome));
  return outcome.configuration;
}

export function issuesOf(files: Files): readonly ConfigIssue[] {
  const outcome = loadConfiguration(documentsOf(files));
  return outcome.ok ? [] : outcome.issues;
}

export function warningsOf(files: Files): readonly ConfigIssue[] {
  const outcome = loadConfiguration(documentsOf(files));
  assert.ok(outcome.ok, JSON.stringify(outcome));
  return outcome.warnings;
}

export function site(changes: JsonObject, others: Files = {}): Files {
  return { 'tenants/site/tenant.json': siteTenant(changes), ...others };
}

export function source(changes: JsonObject): JsonObject {
  return { id: 'src-1', environments: ['production'], ...changes };
}

export function client(changes: JsonObject): JsonObject {
  return { environment: 'production', ...changes };
}

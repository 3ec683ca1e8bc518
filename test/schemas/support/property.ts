import assert from 'node:assert/strict';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { buildView, compileWithIssues, entityOf, schemaOf } from './fixtures.ts';

/** A property definition, the entity's properties, and the expected result. */
export type Case = readonly [definition: Json, properties: JsonObject, wanted: Json];

/** The result of one property definition for an entity with these properties. */
export function resultOf(definition: Json, properties: JsonObject): Json {
  const text = buildView({ x: definition }, entityOf(properties)).text;
  const view: { x: Json } = JSON.parse(text);
  return view.x;
}

export function assertCases(cases: readonly Case[]): void {
  for (const [definition, properties, wanted] of cases) {
    assert.deepEqual(
      resultOf(definition, properties),
      wanted,
      `${JSON.stringify(definition)} ${JSON.stringify(properties)}`,
    );
  }
}

/** The kinds of diagnostics while the property is built, each at the property's own path or below it. */
export function diagnosedKinds(definition: Json, properties: JsonObject): string[] {
  const { diagnostics } = buildView({ x: definition }, entityOf(properties));
  for (const { place } of diagnostics) assert.ok(place.startsWith('$.properties.x'), place);
  return diagnostics.map(({ kind }) => kind);
}

/** The paths of the errors in a property definition, relative to the definition. */
export function issuesIn(definition: Json): string[] {
  const { issues } = compileWithIssues({ schemas: { view: schemaOf({ x: definition }) } });
  return issues.map(({ path }) => {
    assert.ok(path.startsWith('$.properties.x'), path);
    return path.slice('$.properties.x'.length);
  });
}

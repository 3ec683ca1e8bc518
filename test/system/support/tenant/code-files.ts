/** Random schemas as JavaScript and TypeScript files. */
import type { RandomSchema } from './expected.ts';
import type { Piece } from './scene.ts';

export type Language = 'json' | 'js' | 'ts';

/** Path of `valuesModule` in the tenant's folder. */
export const valuesFile = 'lib/values.ts';

/** Functions for the pieces that the mapping language has built in. @param groupsOfSources source groups by source id */
export function valuesModule(groupsOfSources: Readonly<Record<string, string>>): string {
  return `type Value = unknown;
const groups: Record<string, string> = ${JSON.stringify(groupsOfSources)};

export const groupOf = (entity: { sourceId: string }): string => groups[entity.sourceId.split('/').at(-1)!]!;

export function text(value: Value): string | null {
  return value === null || value === undefined || typeof value === 'object' ? null : String(value);
}

export function listOf(value: Value): Value[] {
  return value === null || value === undefined ? [] : [value].flat();
}

export function whole(value: Value, fallback: number | null): number | null {
  const isText = typeof value === 'string' && /^-?\\d+(\\.\\d+)?$/.test(value.trim());
  if (typeof value !== 'number' && !isText) return fallback;
  const number = Number(value);
  const below = Math.floor(number);
  if (number - below !== 0.5) return Math.round(number);
  return below % 2 === 0 ? below : below + 1;
}

export function literal(value: Value): string {
  return typeof value === 'string' ? \`'\${encodeURIComponent(value)}'\` : String(value ?? null);
}

export function literals(value: Value): string {
  return [value].flat().map(literal).join(', ');
}

function valuesOf(written: string): Value[] {
  const isScalar = written === 'true' || written === 'false' || String(Number(written)) === written;
  return isScalar ? [written, JSON.parse(written)] : [written];
}

export const equalTo = (path: string, written: string): string =>
  '(' + valuesOf(written).map((value) => \`\${path} eq \${literal(value)}\`).join(' or ') + ')';

export const containing = (path: string, written: string): string =>
  '(' + valuesOf(written).map((value) => \`contains(\${path}, \${literal(value)})\`).join(' or ') + ')';

export const unforeseen = (filter: string): string => filter;

export function limited<Builder extends { limit(count: number): Builder }>(builder: Builder, count: Value): Builder {
  const number = Number(count ?? Number.NaN);
  return number >= 0 ? builder.limit(Math.floor(number)) : builder;
}
`;
}

const importLine =
  "import { containing, equalTo, groupOf, limited, listOf, literal, literals, text, unforeseen, whole } from '../lib/values.js';";

/** @param routes lines of the body of `routes` */
export function fullSchemaText(schema: RandomSchema, routes: readonly string[], language: Language): string {
  return moduleOf(
    'FullSchema',
    [
      triggersText(schema),
      `routes(entity, context) {\n${routes.join('\n')}\n  }`,
      propertiesText(schema.body),
    ],
    language,
  );
}

export function partialText(body: Piece, language: Language): string {
  return moduleOf('PartialSchema', [propertiesText(body)], language);
}

export function indexText(
  schema: RandomSchema,
  fields: Readonly<Record<string, { type: string }>>,
  language: Language,
): string {
  const index = `index: { fields: ${JSON.stringify(fields)} }`;
  return moduleOf('IndexSchema', [triggersText(schema), index, propertiesText(schema.body)], language);
}

function moduleOf(type: string, members: readonly string[], language: Language): string {
  const text = `export default {\n  ${members.join(',\n  ')},\n}`;
  if (language === 'js') return `${importLine}\n${text};\n`;
  return `import type { ${type} } from 'millrace/schema';\n${importLine}\n${text} satisfies ${type};\n`;
}

function triggersText({ triggers }: RandomSchema): string {
  const calls = Object.entries(triggers).map(
    ([group, types]) => `context.triggers('${group}', ${JSON.stringify(types)});`,
  );
  return `triggers(context) { ${calls.join(' ')} }`;
}

function propertiesText({ code }: Piece): string {
  return `async properties(entity, context) {\n    return ${code};\n  }`;
}

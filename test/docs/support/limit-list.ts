import * as limits from '../../../src/contract/limits.ts';

/** A limit in the reference. */
export interface ListedLimit {
  readonly name: string;
  readonly value: number;
  /** Unit of the value; empty if the meaning names it. */
  readonly unit: string;
  readonly meaning: string;
}

/** A declaration of `src/contract/limits.ts`; a meaning of several lines is joined. */
const declaration = /^\/\*\* ((?:(?!\*\/)[\s\S])*?) \*\/\nexport const (\w+) = [^;]+;$/gm;

/** The first pattern that matches a name determines the unit. */
const units: readonly (readonly [RegExp, string])[] = [
  [/Mebibytes/, 'MiB'],
  [/Bytes/, 'bytes'],
  [/Ms(?:Min|Max)?$/, 'ms'],
  [/[sS]econds(?:Min|Max)?$/, 's'],
  [/Characters|Units/, 'UTF-16 units'],
  [/CodePoints/, 'code points'],
];

/**
 * The limits in the order of their file. The comment above a limit is its meaning.
 * @param source text of `src/contract/limits.ts`
 */
export function listLimits(source: string): ListedLimit[] {
  const values: Readonly<Record<string, number>> = limits;
  return [...source.matchAll(declaration)].flatMap(([, comment = '', name = '']) => {
    const value = values[name];
    if (value === undefined) return [];
    const unit = units.find(([pattern]) => pattern.test(name))?.[1] ?? '';
    return [{ name, value, unit, meaning: comment.replace(/\n \* ?/g, ' ').trim() }];
  });
}

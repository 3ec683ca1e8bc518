/**
 * Rewrites code so that SES accepts it. SES rejects four character sequences (ses, "source-parser"): `<!--`, `-->`, `import(`
 * and `eval(`. It does not parse the code, so it also rejects them in strings and names. This module escapes them there; as
 * code, `analysis.ts` has already rejected them.
 */
import { decodedMap, encodedMappings, TraceMap } from '@jridgewell/trace-mapping';
import {
  type Comment,
  type Program,
  parse,
  type TaggedTemplateExpression,
  type TemplateElement,
  type Token,
  tokTypes,
} from 'acorn';
import { full } from 'acorn-walk';
import { lineStartsOf } from '../../../lib/text-position.ts';
import type { CodeProgram } from '../../../schemas/code/program.ts';

/** A text that SES rejects; escaping its last character avoids that. */
const refused = /<!--|-->|\bimport(?=\s*(?:\(|\/[/*]))|\beval(?=\s*\()/g;

/** A range of the code and its replacement. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** @param bundled code that parses, without `eval(…)` and `import(…)` */
export function escapeForSandbox({
  code,
  map,
}: Pick<CodeProgram, 'code' | 'map'>): Pick<CodeProgram, 'code' | 'map'> {
  const found = lastCharacters(code);
  if (found.length === 0) return { code, map };
  const tokens: (Token | Comment)[] = [];
  const tree = parse(code, {
    ecmaVersion: 2022,
    sourceType: 'module',
    allowReturnOutsideFunction: true,
    onToken: (token) => tokens.push(token),
    onComment: tokens as Comment[],
  });
  const templates = taggedTemplates(tree, code);
  const edits = [
    ...templates.edits,
    ...escapesOf(found, tokens, code).filter(({ start }) => !templates.hold(start)),
  ];
  edits.sort((a, b) => a.start - b.start || a.end - b.end);
  return edited(code, map, edits);
}

/** Offsets of the last characters of all rejected texts. */
function lastCharacters(code: string): number[] {
  return Array.from(code.matchAll(refused), ({ index, 0: text }) => index + text.length - 1);
}

/** Uses `\x` escapes in strings, regular expressions and templates, and `\u` escapes in names. */
function escapesOf(found: readonly number[], tokens: readonly (Token | Comment)[], code: string): Edit[] {
  const edits: Edit[] = [];
  const inOrder = tokens.toSorted((a, b) => a.start - b.start);
  let next = 0;
  for (const start of found) {
    while ((inOrder[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next += 1;
    const token = inOrder[next];
    if (token === undefined || token.start > start) continue;
    edits.push({ start, end: start + 1, text: escapedIn(token, code[start] ?? '') });
  }
  return edits;
}

function escapedIn({ type }: Token | Comment, character: string): string {
  if (typeof type === 'string') return '_';
  if (type === tokTypes.string || type === tokTypes.regexp || type === tokTypes.template) {
    return byCode(character);
  }
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function byCode(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

interface TaggedTemplates {
  readonly edits: readonly Edit[];
  /** True for an offset within one of the templates. */
  hold(offset: number): boolean;
}

/**
 * The tag function of a template sees the raw text, so the text cannot be escaped. The template becomes a plain call instead:
 * f`a${b}c` becomes f(texts, b).
 */
function taggedTemplates(tree: Program, code: string): TaggedTemplates {
  const edits: Edit[] = [];
  full(tree, (node) => {
    if (node.type !== 'TaggedTemplateExpression') return;
    const { quasi, start, end } = node as TaggedTemplateExpression;
    if (!quasi.quasis.some((text) => lastCharacters(code.slice(text.start, text.end)).length > 0)) return;
    edits.push({ start, end: start, text: '(' });
    quasi.quasis.forEach((text, index) => {
      const isFirst = index === 0;
      const isLast = index === quasi.quasis.length - 1;
      const before = isFirst ? `(${textsOf(quasi.quasis)}` : ')';
      // Keeps the line numbers.
      const lines = '\n'.repeat(code.slice(text.start, text.end).split('\n').length - 1);
      edits.push({
        start: isFirst ? quasi.start : text.start - 1,
        end: isLast ? quasi.end : text.end + 2,
        text: `${before}${lines}${isLast ? ')' : ', ('}`,
      });
    });
    edits.push({ start: end, end, text: ')' });
  });
  return { edits, hold: (offset) => edits.some(({ start, end }) => start <= offset && offset < end) };
}

/** The first argument of a tag function: the strings, with `raw`. */
function textsOf(quasis: readonly TemplateElement[]): string {
  const cooked = quasis.map(({ value }) => (value.cooked == null ? 'void 0' : stringText(value.cooked)));
  const raw = quasis.map(({ value }) => stringText(value.raw));
  return `Object.freeze(Object.defineProperty([${cooked}],"raw",{value:Object.freeze([${raw}])}))`;
}

function stringText(text: string): string {
  return JSON.stringify(text).replace(refused, (found) => found.slice(0, -1) + byCode(found.slice(-1)));
}

/** @param edits sorted and not nested; each has as many lines as the text that it replaces */
function edited(code: string, map: string, edits: readonly Edit[]): Pick<CodeProgram, 'code' | 'map'> {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, text } of edits) {
    pieces.push(code.slice(from, start), text);
    from = end;
  }
  const newCode = [...pieces, code.slice(from)].join('');
  return { code: newCode, map: movedMap(map, lineStartsOf(code), lineStartsOf(newCode), edits) };
}

function movedMap(
  map: string,
  former: readonly number[],
  now: readonly number[],
  edits: readonly Edit[],
): string {
  const { mappings, sources, names } = decodedMap(new TraceMap(map));
  let next = 0;
  let shift = 0;
  const moved = mappings.map((segments, line) =>
    segments.flatMap((segment) => {
      const offset = (former[line] ?? 0) + segment[0];
      for (let edit = edits[next]; edit !== undefined && edit.end <= offset; edit = edits[next]) {
        shift += edit.text.length - (edit.end - edit.start);
        next += 1;
      }
      // Drop segments inside replaced ranges.
      if ((edits[next]?.start ?? Number.POSITIVE_INFINITY) < offset) return [];
      segment[0] = offset + shift - (now[line] ?? 0);
      return [segment];
    }),
  );
  const decoded = { version: 3 as const, sources, names, mappings: moved };
  return JSON.stringify({ version: 3, sources, names, mappings: encodedMappings(new TraceMap(decoded)) });
}

/**
 * `indexes` of an environment client (docs/reference/configuration.md "tenant.json"): the indexes and the entity types of
 * source groups that it may query.
 */
import type { Cursor } from '../../contract/config-cursor.ts';
import { quote } from '../../lib/message-text.ts';
import { compilePattern } from '../../search/columns/pattern.ts';

type Matches = (text: string) => boolean;

interface TypePattern {
  readonly group: Matches;
  readonly type: Matches;
}

export class IndexPatterns {
  /** A kind without patterns is not restricted. */
  constructor(
    private readonly aliases: readonly Matches[],
    private readonly types: readonly TypePattern[],
  ) {}

  allowsIndex(alias: string): boolean {
    return this.aliases.length === 0 || this.aliases.some((matches) => matches(alias));
  }

  allowsType(sourceGroup: string, type: string): boolean {
    if (this.types.length === 0) return true;
    return this.types.some((pattern) => pattern.group(sourceGroup) && pattern.type(type));
  }
}

export const everyIndex = new IndexPatterns([], []);

const aliasPattern = /^[\w*-]+$/;
const advice =
  'Write the alias of an index, such as blog*, or group:type, such as cms:*; * matches any characters.';

/** Reads the list of patterns. Absent or empty: all indexes. Reports an issue for each invalid pattern. */
export function readIndexPatterns(list: Cursor): IndexPatterns {
  const aliases: Matches[] = [];
  const types: TypePattern[] = [];
  for (const at of list.items()) {
    const text = at.nonEmptyString();
    if (text === null) continue;
    const colon = text.indexOf(':');
    const alias = colon < 0 ? text : text.slice(0, colon);
    if (!aliasPattern.test(alias) || colon === text.length - 1) {
      at.issue(`${quote(text)} is not an index pattern`, advice);
    } else if (colon < 0) aliases.push(compilePattern(alias));
    else types.push({ group: compilePattern(alias), type: compilePattern(text.slice(colon + 1)) });
  }
  return new IndexPatterns(aliases, types);
}

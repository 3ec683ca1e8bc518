/** Tokens for syntax highlighting of JSON, JavaScript and TypeScript. */

export type TokenKind = 'plain' | 'name' | 'string' | 'number' | 'keyword' | 'comment';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

export type Language = 'json' | 'code' | 'plain';

/** Longer texts are not highlighted, so that typing stays fast. */
const charactersMax = 100_000;

export function languageOf(path: string): Language {
  if (path.endsWith('.json')) return 'json';
  return /\.[cm]?[jt]s$/.test(path) ? 'code' : 'plain';
}

/** The tokens of a text. Concatenated, they are the text. */
export function tokensOf(text: string, language: Language): Token[] {
  if (language === 'plain' || text.length > charactersMax) return [{ kind: 'plain', text }];
  const tokens: Token[] = [];
  let at = 0;
  const addPlain = (end: number) => {
    if (end > at) tokens.push({ kind: 'plain', text: text.slice(at, end) });
  };
  for (const { 0: part, index, groups = {} } of text.matchAll(patterns[language])) {
    const kind = kinds.find((one) => groups[one] !== undefined);
    if (kind === undefined) continue;
    addPlain(index);
    tokens.push({ kind, text: part });
    at = index + part.length;
  }
  addPlain(text.length);
  return tokens;
}

/** The tokens of each line, without the line breaks. */
export function tokenLines(text: string, language: Language): Token[][] {
  const lines: Token[][] = [];
  let line: Token[] = [];
  for (const { kind, text: part } of tokensOf(text, language)) {
    for (const [at, piece] of part.split('\n').entries()) {
      if (at > 0) {
        lines.push(line);
        line = [];
      }
      if (piece !== '') line.push({ kind, text: piece });
    }
  }
  return [...lines, line];
}

const kinds = ['name', 'string', 'number', 'keyword', 'comment'] as const;

const doubleQuoted = /"(?:[^"\\\n]|\\.)*"?/;
const singleQuoted = /'(?:[^'\\\n]|\\.)*'?/;
const template = /`(?:[^`\\]|\\[\s\S])*`?/;
/** A slash only begins a regular expression where a value may begin. */
const regularExpression =
  /(?<=(?:^|[=(,:[!&|?{};]|=>|\breturn)\s*)\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/;
const keywords =
  /as|async|await|break|case|catch|class|const|continue|default|delete|do|else|enum|export|extends|false|finally|for|from|function|if|implements|import|in|instanceof|interface|let|new|null|of|readonly|return|satisfies|static|super|switch|this|throw|true|try|type|typeof|undefined|var|void|while|yield/;

const sources = {
  json: [
    /(?<name>"(?:[^"\\\n]|\\.)*"(?=\s*:))/.source,
    `(?<string>${doubleQuoted.source})`,
    /(?<number>-?\d[\d.eE+-]*)/.source,
    /(?<keyword>\b(?:true|false|null)\b)/.source,
  ],
  code: [
    /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))/.source,
    `(?<string>${[doubleQuoted, singleQuoted, template, regularExpression].map(({ source }) => source).join('|')})`,
    /(?<name>(?<![\w$.])[A-Za-z_$][\w$]*(?=\s*:))/.source,
    `(?<keyword>(?<![\\w$.])(?:${keywords.source})(?![\\w$]))`,
    /(?<number>(?<![\w$])\d[\w.]*)/.source,
  ],
};

/** While a text is being typed, closing marks may be missing: then a string ends with its line, a comment with the text. */
const patterns = {
  json: new RegExp(sources.json.join('|'), 'g'),
  code: new RegExp(sources.code.join('|'), 'g'),
};

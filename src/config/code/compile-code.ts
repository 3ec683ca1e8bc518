/**
 * Compiles the schemas in JavaScript and TypeScript among documents: each becomes a program, which lies among the
 * documents beside its sources. `triggers` is run for it, in the sandbox; nothing else is.
 */

import { Cursor, type Findings } from '../../contract/config-cursor.ts';
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { codeProgramsCharactersMax } from '../../contract/limits.ts';
import { quote } from '../../lib/quote.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import { type ProgramKind, programName } from '../../schemas/code/call.ts';
import { type CodeProgram, sourcePlace } from '../../schemas/code/program.ts';
import { readIndexFields } from '../../schemas/definition/index-fields.ts';
import { readIndexTexts } from '../../schemas/definition/index-texts.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { documentPlace, programPath, type SchemaPlace } from '../documents/document-path.ts';
import { type Analysis, analyse } from './analysis.ts';
import { type Bundle, bundle, type ReadModule } from './bundle.ts';

export interface CompiledDocuments {
  /** The documents, with those that were imported besides and the programs. */
  readonly documents: ConfigDocuments;
  readonly issues: readonly ConfigIssue[];
}

const kinds: Readonly<Record<SchemaPlace['kind'], ProgramKind>> = {
  schemas: 'full',
  partials: 'partial',
  indexes: 'index',
};

const sizeAdvice =
  'Each schema has all that it imports for itself: import less, keep large tables in entities, or share code as a partial.';

/**
 * Never throws for what the documents hold. Programs that the documents have are thrown away.
 * @param readFile reads files that are imported and are no documents yet; absent: all files are documents
 */
export async function compileCode(
  documents: ConfigDocuments,
  readFile: ReadModule = async () => null,
): Promise<CompiledDocuments> {
  const sources = new Map([...documents].filter(([path]) => documentPlace(path)?.kind !== 'program'));
  const places = [...sources.keys()].flatMap((file) => {
    const place = documentPlace(file);
    return place !== null && 'language' in place && place.language === 'code' ? [{ file, place }] : [];
  });
  if (places.length === 0) return { documents: sources, issues: [] };
  const issues: ConfigIssue[] = [];
  const compiler = new Compiler(sources, readFile, issues);
  try {
    const programs: [string, string][] = [];
    for (const { file, place } of places) {
      const program = await compiler.compile(file, place);
      if (program === null) continue;
      programs.push([
        programPath(place.tenant, programName(program.kind, program.alias)),
        JSON.stringify(program),
      ]);
    }
    return { documents: new Map([...sources, ...programs]), issues };
  } finally {
    compiler.close();
  }
}

class Compiler {
  readonly #sandbox = new Sandbox();
  /** Of the programs of each tenant until now. */
  readonly #characters = new Map<string, number>();

  /** @param sources takes in what is imported */
  constructor(
    private readonly sources: Map<string, string>,
    private readonly readFile: ReadModule,
    private readonly issues: ConfigIssue[],
  ) {}

  close(): void {
    this.#sandbox.close();
  }

  async compile(file: string, { tenant, kind: folder, alias }: SchemaPlace): Promise<CodeProgram | null> {
    // It was told already. A small file may import large ones, so to make the others could take any memory.
    if (this.#hasTooMany(tenant)) return null;
    const kind = kinds[folder];
    const bundled = await bundle(file, (path) => this.#read(path), this.issues);
    if (bundled === null) return null;
    this.#characters.set(tenant, (this.#characters.get(tenant) ?? 0) + bundled.code.length);
    if (this.#hasTooMany(tenant)) {
      const message = `with it the programs of tenant ${quote(tenant)} have more than ${codeProgramsCharactersMax} characters`;
      this.issues.push({ file, path: '$', message, advice: sizeAdvice });
      return null;
    }
    const analysis = analyse(bundled.tree);
    const draft: CodeProgram = {
      ...{ kind, alias, file, files: bundled.files, code: bundled.code, map: bundled.map },
      ...{ members: [], triggers: [], index: null },
      partials: analysis.partials,
      lookups: withoutRepetition(analysis.lookups),
      names: [],
    };
    this.#tellSlips(draft, bundled, analysis);
    const described = await this.#describe(draft, tenant);
    if (described === null) return null;
    return { ...described, names: namesOf(draft, bundled, analysis) };
  }

  #hasTooMany(tenant: string): boolean {
    return (this.#characters.get(tenant) ?? 0) > codeProgramsCharactersMax;
  }

  async #read(path: string): Promise<string | null> {
    const known = this.sources.get(path);
    if (known !== undefined) return known;
    const text = await this.readFile(path);
    if (text !== null) this.sources.set(path, text);
    return text;
  }

  #tellSlips(program: CodeProgram, { code }: Bundle, { slips }: Analysis): void {
    for (const { message, advice, at } of slips) {
      this.#issue(program, placeAt(code, at), message, advice);
    }
  }

  async #describe(program: CodeProgram, owner: string): Promise<CodeProgram | null> {
    const { kind, alias, code, file } = program;
    const name = programName(kind, alias);
    const set = { id: file, owner, programs: new Map([[name, code]]) };
    const reply = await this.#sandbox.describe(set, kind, alias);
    if (reply.kind === 'failed') {
      const { line, column, message } = reply.failure;
      this.#issue(program, { line, column }, message, 'Correct it: the file is run when it is checked.');
      return null;
    }
    const { members, triggers, index } = reply.description;
    const isSound = this.#checkMembers(program, members, index);
    return isSound ? { ...program, members, triggers, index: kind === 'index' ? index : null } : null;
  }

  #checkMembers(
    { kind, file }: CodeProgram,
    members: readonly string[],
    index: CodeProgram['index'],
  ): boolean {
    const findings: Findings = { mistakes: [], warnings: [] };
    const root = new Cursor(file, '$', null, findings);
    if (kind !== 'full' && !members.includes('properties')) {
      root.issue('there is no function properties', 'Add properties(entity, context) { return { … }; }.');
    }
    if (kind === 'index') {
      const at = new Cursor(file, '$.index', index ?? undefined, findings);
      readIndexFields(at);
      readIndexTexts(at);
    }
    this.issues.push(...findings.mistakes);
    return findings.mistakes.length === 0;
  }

  #issue(program: CodeProgram, { line, column }: Place, message: string, advice: string): void {
    const place = sourcePlace(program, line, column);
    const path = place === null ? '$' : `${place.line}:${place.column}`;
    this.issues.push({ file: place?.file ?? program.file, path, message, advice });
  }
}

interface Place {
  readonly line: number;
  readonly column: number;
}

function placeAt(code: string, offset: number): Place {
  const before = code.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function namesOf(program: CodeProgram, { code }: Bundle, { names }: Analysis): CodeProgram['names'] {
  return names.map(({ kind, name, at }) => {
    const { line, column } = placeAt(code, at);
    const place = sourcePlace(program, line, column);
    return {
      kind,
      name,
      file: place?.file ?? program.file,
      line: place?.line ?? 0,
      column: place?.column ?? 0,
    };
  });
}

function withoutRepetition(lookups: Analysis['lookups']): Analysis['lookups'] {
  return [...new Map(lookups.map((lookup) => [JSON.stringify(lookup), lookup])).values()];
}

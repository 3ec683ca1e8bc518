/**
 * Compiles the JavaScript and TypeScript schemas of a configuration. Each becomes a program, which is added to the documents
 * next to its sources. Only `triggers` runs meanwhile, in the sandbox.
 */

import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Cursor, type Findings } from '../../contract/config-cursor.ts';
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import {
  codeProgramsCharactersMax,
  compileConfigurationCpuMs,
  compilePreviewCpuMs,
} from '../../contract/limits.ts';
import { groupBy } from '../../lib/lists.ts';
import { quote } from '../../lib/message-text.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import { type ProgramKind, programName } from '../../schemas/build/code-call.ts';
import { type CodeProgram, sourcePosition } from '../../schemas/code/program.ts';
import { readCollations, readIndexFields } from '../../schemas/definition/index-fields.ts';
import { readIndexTexts } from '../../schemas/definition/index-texts.ts';
import type { ConfigDocuments } from '../configuration.ts';
import {
  moduleCandidates,
  parseDocumentPath,
  programPath,
  type SchemaPath,
  schemaFolders,
  tenantFilePath,
} from '../document-path.ts';
import { schemaFilesMax, tooMany } from '../tenant/sizes.ts';
import { Compiler } from './compiler.ts';
import { holdsSecrets, ModuleRefused, type ReadModule } from './compiler-protocol.ts';

export interface CompiledDocuments {
  /** The documents, with imported files and programs added. */
  readonly documents: ConfigDocuments;
  readonly issues: readonly ConfigIssue[];
}

/** What the programs are for. A preview has less time and does not wait for configurations. */
export type CompilePurpose = 'preview' | 'configuration';

interface Tools {
  readonly compiler: Compiler;
  readonly cpuMs: number;
  /** Runs the `describe` step of programs; null: every compilation starts its own and stops it. */
  readonly sandbox: Sandbox | null;
}

const tools: Record<CompilePurpose, Tools> = {
  preview: { compiler: new Compiler(), cpuMs: compilePreviewCpuMs, sandbox: null },
  configuration: { compiler: new Compiler(), cpuMs: compileConfigurationCpuMs, sandbox: null },
};

const keepAliveMs = 24 * 60 * 60 * 1_000;

/**
 * Keeps the compiler and the sandbox running, for a process that compiles whenever a file is saved: starting them takes several
 * times as long as compiling a few files.
 */
export function keepCompiler(): void {
  const { cpuMs } = tools.configuration;
  tools.configuration = { compiler: new Compiler(keepAliveMs), cpuMs, sandbox: new Sandbox(keepAliveMs) };
}

const kinds: Readonly<Record<SchemaPath['kind'], ProgramKind>> = {
  schemas: 'full',
  partials: 'partial',
  indexes: 'index',
};

const importedFile = /\bfrom\s*['"](\.\.?\/[^'"\n]+)['"]/g;

const sizeAdvice =
  'Each schema contains everything that it imports: import less, keep large tables in entities, or share code as a partial.';

const timeAdvice = 'Make the files, what they import, or what their triggers do smaller or simpler.';

/**
 * Never throws because of document contents. Drops the programs that are already in the documents. Programs with errors are
 * included as far as they compiled, so that the names in them can be checked; they must not become active.
 * @param readFile reads imported files that are not documents yet; absent: all files are documents
 */
export async function compileCode(
  documents: ConfigDocuments,
  purpose: CompilePurpose,
  readFile: ReadModule = async () => null,
): Promise<CompiledDocuments> {
  const sources = new Map([...documents].filter(([path]) => parseDocumentPath(path)?.kind !== 'program'));
  const schemas = [...sources.keys()].flatMap((file) => {
    const parsed = parseDocumentPath(file);
    return parsed !== null && 'language' in parsed ? [{ file, parsed }] : [];
  });
  const issues = tooManyFiles(schemas.map(({ parsed }) => parsed));
  const refused = new Set(issues.map(({ file }) => file));
  const toCompile = schemas.filter(
    ({ parsed }) => parsed.language === 'code' && !refused.has(tenantFilePath(parsed.tenant)),
  );
  if (toCompile.length === 0) return { documents: sources, issues };
  const compilation = new Compilation(sources, purpose, readFile, issues);
  try {
    const programs: [string, string][] = [];
    for (const { file, parsed } of toCompile) {
      const program = await compilation.compile(file, parsed);
      if (program === null) continue;
      programs.push([
        programPath(parsed.tenant, programName(program.kind, program.alias)),
        JSON.stringify(program),
      ]);
    }
    return { documents: new Map([...sources, ...programs]), issues };
  } finally {
    compilation.close();
  }
}

/** One error for each tenant with more schemas than the maximum; none of its schemas is compiled. */
function tooManyFiles(schemas: readonly SchemaPath[]): ConfigIssue[] {
  return [...groupBy(schemas, ({ tenant }) => tenant)].flatMap(([tenant, own]) =>
    schemaFolders.flatMap((folder) => {
      const count = own.filter(({ kind }) => kind === folder).length;
      const max = schemaFilesMax[folder];
      return count <= max
        ? []
        : [{ file: tenantFilePath(tenant), path: '$', ...tooMany(folder, count, max) }];
    }),
  );
}

class Compilation {
  readonly #tools: Tools;
  readonly #sandbox: Sandbox;
  /** Total length of each tenant's programs so far. */
  readonly #characters = new Map<string, number>();
  /** Processor time of compiling and describing so far, by tenant. */
  readonly #cpuMs = new Map<string, number>();
  /** Tenants whose time ran out in the sandbox; this is reported with their next file. */
  readonly #outOfTime = new Set<string>();

  /** @param sources receives the imported files */
  constructor(
    private readonly sources: Map<string, string>,
    purpose: CompilePurpose,
    private readonly readFile: ReadModule,
    private readonly issues: ConfigIssue[],
  ) {
    this.#tools = tools[purpose];
    this.#sandbox = this.#tools.sandbox ?? new Sandbox();
  }

  close(): void {
    if (this.#tools.sandbox === null) this.#sandbox.close();
  }

  async compile(file: string, { tenant, kind: folder, alias }: SchemaPath): Promise<CodeProgram | null> {
    const { compiler, cpuMs: cpuMsMax } = this.#tools;
    const cpuMsLeft = cpuMsMax - (this.#cpuMs.get(tenant) ?? 0);
    if (this.#outOfTime.delete(tenant)) {
      const message = `the schemas before it took more than ${cpuMsMax / 1000} s of processor time to compile and check`;
      this.issues.push({ file, path: '$', message, advice: timeAdvice });
    }
    // The limit was already reported. A small file may import large ones, so compiling the rest could take unlimited memory or
    // time.
    if (cpuMsLeft <= 0 || this.#hasTooMany(tenant)) return null;
    const read = (path: string) => this.#read(path);
    const { draft, issues, cpuMs } = await compiler.compile({
      file,
      tenant,
      read,
      cpuMs: { left: cpuMsLeft, max: cpuMsMax },
    });
    this.#cpuMs.set(tenant, cpuMsMax - cpuMsLeft + cpuMs);
    this.issues.push(...issues);
    if (draft === null) return null;
    this.#characters.set(tenant, (this.#characters.get(tenant) ?? 0) + draft.code.length);
    if (this.#hasTooMany(tenant)) {
      const message = `with it the programs of tenant ${quote(tenant)} have more than ${codeProgramsCharactersMax} characters`;
      this.issues.push({ file, path: '$', message, advice: sizeAdvice });
      return null;
    }
    const files = await this.#withTypes(draft.files, tenant);
    return await this.#describe(
      { ...draft, files, kind: kinds[folder], alias, members: [], triggers: [], index: null },
      tenant,
    );
  }

  /** Adds files that are imported only for their types: bundles omit them, but generated types need them. */
  async #withTypes(files: readonly string[], tenant: string): Promise<readonly string[]> {
    const all = new Set(files);
    // The loop also visits files added meanwhile.
    for (const file of all) {
      for (const [, from = ''] of (this.sources.get(file) ?? '').matchAll(importedFile)) {
        const target = posix.join(posix.dirname(file), from);
        if (!target.startsWith(`tenants/${tenant}/`)) continue;
        const found = await this.#firstOf(moduleCandidates(target));
        if (found !== null) all.add(found);
      }
    }
    return [...all];
  }

  /** Also null for a file that must not be read, because only its types would be used. */
  async #firstOf(files: readonly string[]): Promise<string | null> {
    for (const file of files) {
      const text = await this.#read(file).catch(() => null);
      if (text !== null) return file;
    }
    return null;
  }

  #hasTooMany(tenant: string): boolean {
    return (this.#characters.get(tenant) ?? 0) > codeProgramsCharactersMax;
  }

  async #read(path: string): Promise<string | null> {
    if (parseDocumentPath(path)?.kind === 'tenant') throw new ModuleRefused(holdsSecrets);
    const known = this.sources.get(path);
    if (known !== undefined) return known;
    const text = await this.readFile(path);
    if (text !== null) this.sources.set(path, text);
    return text;
  }

  async #describe(program: CodeProgram, owner: string): Promise<CodeProgram> {
    const { kind, alias, code, file } = program;
    const name = programName(kind, alias);
    const id = `${file} ${createHash('sha256').update(code).digest('hex')}`;
    const set = { id, owner, programs: new Map([[name, code]]) };
    const startedMs = performance.now();
    const reply = await this.#sandbox.describe(set, kind, alias);
    // A failure is charged by the clock, because restarting a killed process takes time too. Since the program is rejected
    // anyway, a slow machine causes no further rejections.
    this.#charge(owner, reply.kind === 'failed' ? performance.now() - startedMs : reply.cpuMs);
    if (reply.kind === 'failed') {
      const { line, column, message } = reply.failure;
      this.#issue(program, { line, column }, message, 'Correct it: the file is run when it is checked.');
      return program;
    }
    const { members, triggers, index } = reply.description;
    this.#checkMembers(program, members, index);
    return { ...program, members, triggers, index: kind === 'index' ? index : null };
  }

  /** Charges a program's time in the sandbox to its tenant. */
  #charge(tenant: string, cpuMs: number): void {
    const spentMs = (this.#cpuMs.get(tenant) ?? 0) + cpuMs;
    this.#cpuMs.set(tenant, spentMs);
    if (spentMs >= this.#tools.cpuMs) this.#outOfTime.add(tenant);
  }

  #checkMembers({ kind, file }: CodeProgram, members: readonly string[], index: CodeProgram['index']): void {
    const findings: Findings = { issues: [], warnings: [] };
    const root = new Cursor(file, '$', null, findings);
    if (kind !== 'full' && !members.includes('properties')) {
      root.issue('the function properties is missing', 'Add properties(entity, context) { return { … }; }.');
    }
    if (kind === 'index') {
      const at = new Cursor(file, '$.index', index ?? undefined, findings);
      readIndexFields(at);
      readIndexTexts(at);
      readCollations(at);
    }
    this.issues.push(...findings.issues);
  }

  #issue(
    program: CodeProgram,
    { line, column }: { readonly line: number; readonly column: number },
    message: string,
    advice: string,
  ): void {
    const position = sourcePosition(program, line, column);
    const path = position === null ? '$' : `${position.line}:${position.column}`;
    this.issues.push({ file: position?.file ?? program.file, path, message, advice });
  }
}

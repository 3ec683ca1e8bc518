/**
 * The compiler process for JavaScript and TypeScript of tenants. It never runs their code. Its owner watches its time and
 * memory, and kills it if needed.
 */

import type { ConfigIssue } from '../../../contract/diagnostic.ts';
import { lineAt, lineStartsOf } from '../../../lib/text-position.ts';
import { sourcePosition } from '../../../schemas/code/program.ts';
import {
  type CompiledFile,
  type FromCompiler,
  ModuleRefused,
  type ProgramDraft,
  type ReadModule,
  type ToCompiler,
} from '../compiler-protocol.ts';
import { type Analysis, analyse } from './analysis.ts';
import { type Bundle, bundle } from './bundle.ts';
import { escapeForSandbox } from './sandbox-text.ts';

type GivenText = Extract<ToCompiler, { kind: 'text' }>;

const reads = new Map<string, Promise<string | null>>();
const waiting = new Map<string, (given: GivenText) => void>();

/** Requests each file once per task. @throws ModuleRefused */
function read(path: string): Promise<string | null> {
  const known = reads.get(path);
  if (known !== undefined) return known;
  const text = new Promise<string | null>((resolve, reject) => {
    waiting.set(path, ({ text, refusal }) => {
      if (refusal === null) resolve(text);
      else reject(new ModuleRefused(refusal));
    });
  });
  reads.set(path, text);
  send({ kind: 'read', path });
  return text;
}

async function compile(file: string): Promise<void> {
  try {
    send({ kind: 'compiled', compiled: await compileFile(file, read) });
  } catch (error) {
    // Stack overflow. esbuild's state is undefined after it, so the process exits.
    if (!(error instanceof RangeError)) throw error;
    send({ kind: 'compiled', compiled: tooDeep(file) }, () => process.exit());
  } finally {
    reads.clear();
    waiting.clear();
  }
}

function tooDeep(file: string): CompiledFile {
  const message = 'expressions or blocks are nested too deeply';
  const advice = 'Use fewer levels: move inner parts into functions or variables.';
  return { draft: null, issues: [{ file, path: '$', message, advice }] };
}

function send(message: FromCompiler, sent: () => void = () => {}): void {
  process.send?.(message, undefined, {}, sent);
}

process.on('disconnect', () => process.exit());
process.on('message', (message: ToCompiler) => {
  if (message.kind === 'text') waiting.get(message.path)?.(message);
  else void compile(message.file);
});

// V8 compiles most of esbuild on first use. This warm-up keeps that time out of the first task.
await compileFile('tenants/-/schemas/-.ts', async () => 'export default { triggers: (a: string) => [a] };');
send({ kind: 'ready' });

/**
 * Compiles one file of a tenant without running it.
 * @param file path of the schema, relative to CONFIG_DIR
 * @throws RangeError if it is nested too deeply
 */
async function compileFile(file: string, read: ReadModule): Promise<CompiledFile> {
  const issues: ConfigIssue[] = [];
  const bundled = await bundle(file, read, issues);
  if (bundled === null) return { draft: null, issues };
  const analysis = analyse(bundled.tree);
  const positionOf = positionsIn(bundled, file);
  for (const { message, advice, at } of analysis.findings) {
    const position = positionOf(at);
    issues.push({ file: position.file, path: position.path, message, advice });
  }
  if (analysis.generatesCode) return { draft: null, issues };
  const draft: ProgramDraft = {
    file,
    files: bundled.files,
    ...escapeForSandbox(bundled),
    partials: analysis.partials,
    lookups: withoutRepetition(analysis.lookups),
    names: namesOf(analysis, positionOf),
  };
  return { draft, issues };
}

type PositionOf = (offset: number) => Pick<ConfigIssue, 'file' | 'path'> & { line: number; column: number };

/** Maps offsets in the bundle to positions in the sources. */
function positionsIn({ code, map }: Bundle, file: string): PositionOf {
  const lineStarts = lineStartsOf(code);
  const mapped = { map };
  return (offset) => {
    const line = lineAt(lineStarts, offset);
    const position = sourcePosition(mapped, line + 1, offset - (lineStarts[line] ?? 0) + 1);
    if (position === null) return { file, path: '$', line: 0, column: 0 };
    return { ...position, path: `${position.line}:${position.column}` };
  };
}

function namesOf({ names }: Analysis, positionOf: PositionOf): ProgramDraft['names'] {
  return names.map(({ kind, name, at }) => {
    const { file, line, column } = positionOf(at);
    return { kind, name, file, line, column };
  });
}

function withoutRepetition(lookups: Analysis['lookups']): Analysis['lookups'] {
  return [...new Map(lookups.map((lookup) => [JSON.stringify(lookup), lookup])).values()];
}

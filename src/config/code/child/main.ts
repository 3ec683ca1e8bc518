/**
 * The compiler process for JavaScript and TypeScript of tenants. It never runs their code. Its owner watches its time and
 * memory, and kills it if needed.
 */

import {
  type CompiledFile,
  type FromCompiler,
  ModuleRefused,
  type ToCompiler,
} from '../compiler-protocol.ts';
import { compileFile } from './compile-file.ts';

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

/**
 * The process that reads what tenants write in JavaScript and TypeScript, and runs nothing of it. Its owner watches its
 * time and memory, and ends it.
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
    // The stack of this process was not enough. What was under way in esbuild is left half done.
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

// Most of esbuild is compiled when it is first used, and that is not the time of a task.
await compileFile('tenants/-/schemas/-.ts', async () => 'export default { triggers: (a: string) => [a] };');
send({ kind: 'ready' });

import { createRequire } from 'node:module';
import { run } from '../cli/support/command.ts';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

/**
 * What the TypeScript compiler says; '' when it finds no mistake. The declarations that come with the compiler are not checked,
 * which takes two thirds of the time. Nothing of the compiler is ours, so it is not told to count
 * what it runs: that would cost it a third more.
 * @param words options and files @param folder where it is run
 */
export async function compilerSays(words: readonly string[], folder: string): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, [tsc, '--skipDefaultLibCheck', ...words], {
    cwd: folder,
    env: { NODE_V8_COVERAGE: '' },
  });
  return stdout + stderr;
}

/** `npm run bench -- NAME`: runs `bench/NAME.ts` with the arguments that follow. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CommandStop, runCommand } from './terminal/command-line.ts';

const benchDir = fileURLToPath(new URL('../../bench/', import.meta.url));

async function main(): Promise<number> {
  const [name, ...words] = process.argv.slice(2);
  const names = readdirSync(benchDir)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.basename(file, '.ts'));
  if (name === undefined || !names.includes(name)) {
    throw new CommandStop(`Missing NAME. Run npm run bench -- NAME with one of: ${names.join(', ')}`);
  }
  const file = path.join(benchDir, `${name}.ts`);
  process.argv = [process.execPath, file, ...words];
  await import('../typescript/loader.mjs');
  await import(pathToFileURL(file).href);
  return Number(process.exitCode ?? 0);
}

await runCommand(main);

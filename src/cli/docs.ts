/** `npm run docs`: builds the documentation as a static site (docs/contributing.md). */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSite, DocsError } from '../docs-site/build-site.ts';
import { CommandStop, readArguments, runCommand } from './terminal/command-line.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

async function main(): Promise<number> {
  const [folder = '.docs-site'] = readArguments('docs').positionals;
  const target = path.resolve(folder);
  try {
    const { pages, links } = await buildSite(root, target);
    console.log(`${pages} pages, ${links} links checked: ${target}`);
    return 0;
  } catch (error) {
    if (error instanceof DocsError) throw new CommandStop(error.message);
    throw error;
  }
}

await runCommand(main);

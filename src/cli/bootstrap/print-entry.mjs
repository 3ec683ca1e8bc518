/** Prints the command of a Procfile entry for a container or a service, adapted to its memory; nothing for an unknown name. */
import { procfileWords } from './procfile-entry.mjs';

const words = procfileWords(process.argv[2] ?? '');
if (words !== null) console.log(['node', ...words].join(' '));

/** Prints the line of the Procfile that a container or a service runs, fitted to its memory; nothing for another word. */
import { procfileWords } from './procfile-entry.mjs';

const words = procfileWords(process.argv[2] ?? '');
if (words !== null) console.log(['node', ...words].join(' '));

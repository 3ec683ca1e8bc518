/** Makes `dist/console` for the package (`npm pack` runs it). */
import { packFiles } from './files.mjs';

await packFiles();

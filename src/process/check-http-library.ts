/**
 * Must be imported before anything that loads uWebSockets.js. Where the library cannot run, the process ends with one
 * line.
 */
import '../http/uws/head-limit.ts';
import { loadHttpLibrary } from '../cli/bootstrap/http-library.mjs';

try {
  loadHttpLibrary();
} catch (error) {
  console.error(`web: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

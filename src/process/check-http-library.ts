/**
 * Must be imported before anything that loads uWebSockets.js. If the library does not work here, the process exits with a
 * one-line message.
 */
import { reasonOf } from '../lib/message-text.ts';
import '../http/uws/head-limit.ts';
import { loadHttpLibrary } from '../cli/bootstrap/http-library.mjs';

try {
  loadHttpLibrary();
} catch (error) {
  console.error(`web: ${reasonOf(error)}`);
  process.exit(1);
}

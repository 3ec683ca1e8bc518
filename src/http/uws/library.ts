/**
 * The HTTP library. It reads its limit of a request head when it is loaded, and where it cannot run here the process must
 * be able to say so first. So it is loaded by a call, in its place among the imports: what a bundled module imports from
 * packages is loaded before any of its own lines runs.
 */
import './head-limit.ts';
import { createRequire } from 'node:module';

const library: typeof import('uWebSockets.js') = createRequire(import.meta.url)('uWebSockets.js');

export default library;

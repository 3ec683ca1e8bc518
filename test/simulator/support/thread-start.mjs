/** Starts `thread.ts` in a thread, where Node 20 does not take over the TypeScript loader of the main thread. */
import { register } from 'tsx/esm/api';

register();
await import('./thread.ts');

/** A process whose sandbox runs a schema that never ends, until it is killed. */
import { Sandbox } from '../../../src/sandbox/sandbox.ts';

const programs = new Map([['full/a', 'return { properties() { for (;;); } };']]);
const set = { id: 'set', owner: 'acme', programs };

await new Sandbox().run([{ set, task: 'full', alias: 'a', input: '{}', answers: new Map(), spentMs: 0 }]);

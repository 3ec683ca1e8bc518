/** Options that make `node` run TypeScript, whatever folder it is started in. */
export const typeScriptWords: readonly string[] = ['--import', new URL('./loader.mjs', import.meta.url).href];

/** What stands behind `node` so that it runs TypeScript, whatever folder it is started in. */
export const typeScriptWords: readonly string[] = ['--import', new URL('./loader.mjs', import.meta.url).href];

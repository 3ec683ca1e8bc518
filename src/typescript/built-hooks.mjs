/** The hook of the package: what would import our TypeScript gets the JavaScript that was made of it. */
import { builtUrl } from './built-files.mjs';

const root = new URL('../../', import.meta.url).href;
const relativePattern = /^\.{1,2}\//;

export async function resolve(specifier, context, nextResolve) {
  const url = relativePattern.test(specifier) ? new URL(specifier, context.parentURL).href : specifier;
  if (!url.startsWith(root) || !url.endsWith('.ts')) return nextResolve(specifier, context);
  return { url: builtUrl(url.slice(root.length)), format: 'module', shortCircuit: true };
}

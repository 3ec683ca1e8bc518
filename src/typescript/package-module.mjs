/**
 * A package in CommonJS as a module that asks for it by `require`, and names what it exports. Node itself looks for those
 * names in the text of each file of the package, with a parser in JavaScript. This is a fast path: without it a platform
 * takes 1.14 times the processor time until it is ready (bench/README.md "Fast paths").
 */
import { createRequire } from 'node:module';
import { types } from 'node:util';

const packagePattern = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//;

/**
 * Runs the package to see what it exports, as the importer is about to do.
 * @param file path, within a package
 * @returns {{ code: string, madeOf: string[] }} of all files of the package its description stands for the others
 * @throws Error when it is not CommonJS, or does not run
 */
export function packageModule(file) {
  const exported = createRequire(file)(file);
  if (types.isModuleNamespaceObject(exported)) throw new Error(`${file} is not CommonJS`);
  const [folder] = packagePattern.exec(file) ?? [''];
  return { code: moduleOf(file, Object.keys(exported)), madeOf: [file, `${folder}package.json`] };
}

function moduleOf(file, names) {
  const path = JSON.stringify(file);
  const named = names
    .filter((name) => name !== 'default')
    .map(JSON.stringify)
    .map((name, at) => `const _${at} = exported[${name}];\nexport { _${at} as ${name} };\n`);
  return `import { createRequire } from 'node:module';
const exported = createRequire(${path})(${path});
export default exported;
${named.join('')}`;
}

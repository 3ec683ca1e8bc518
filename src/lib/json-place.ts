const plainName = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** One step of a JSON path down to a member: `.author`, or `['a b']` where the name is not a plain one. */
export function memberStep(name: string): string {
  return plainName.test(name) ? `.${name}` : `['${name.replace(/[\\']/g, '\\$&')}']`;
}

/** The place of a member below `path`, on one line: `$.domains`, `$['two words']`. */
export function memberPath(path: string, name: string): string {
  return path + memberStep(name).replace(/[\n\r]/g, ' ');
}

/** The place of an item below `path`: `$.domains[0]`. */
export function itemPath(path: string, index: number): string {
  return `${path}[${index}]`;
}

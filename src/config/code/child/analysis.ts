/** Static analysis of schema code: the names that it uses, its lookups, and likely mistakes. */
import type {
  AnyNode,
  CallExpression,
  Expression,
  Function as FunctionNode,
  NewExpression,
  Pattern,
  Program,
} from 'acorn';
import { ancestor, full } from 'acorn-walk';
import { adviceForUnknown } from '../../../lib/suggest.ts';
import type { LookupRequest } from '../../../schemas/build/code-call.ts';
import { codeLookup } from '../../../schemas/code/code-lookup.ts';
import type { CodeName } from '../../../schemas/code/program.ts';
import { SchemaSyntaxError } from '../../../schemas/language/reader.ts';
import { literalText, textParts } from '../../delivered-types/written-text.ts';

/** With its offset in the bundle. */
type Found<T> = T & { readonly at: number };

export interface Analysis {
  readonly names: readonly Found<Pick<CodeName, 'kind' | 'name'>>[];
  /** Null if the partials are only known at run time. */
  readonly partials: readonly string[] | null;
  readonly lookups: readonly LookupRequest[];
  readonly findings: readonly Found<{ readonly message: string; readonly advice: string }>[];
  /** True if one of the findings is code generation at run time, which the sandbox does not load at all. */
  readonly generatesCode: boolean;
}

/** For an `import(…)` whose file is only known at run time. */
export const variableImport = {
  message: 'the path of an import must be a string in the code',
  advice: 'Use import … from "./file.ts".',
};

/** Members of `context`, by the function that receives it. */
const contextMembers: ReadonlyMap<string, readonly string[]> = new Map([
  ['triggers', ['triggers']],
  ['routes', ['url', 'handle', 'lookup']],
  ['properties', ['lookup', 'reference', 'partial']],
  ['actions', ['reprocess', 'destination']],
]);

/** Calls whose first argument is the name of something, by function. */
const namingCalls: ReadonlyMap<string, CodeName['kind']> = new Map([
  ['triggers', 'source group'],
  ['sourceGroup', 'source group'],
  ['reference', 'schema'],
  ['reprocess', 'schema'],
  ['partial', 'partial'],
  ['destination', 'webhook'],
]);

export function analyse(tree: Program): Analysis {
  const names: Found<Pick<CodeName, 'kind' | 'name'>>[] = [];
  const lookups: LookupRequest[] = [];
  const findings: Found<{ message: string; advice: string }>[] = [];
  const literalPartials: string[] = [];
  const constants = constantTexts(tree);
  let partialMentions = 0;
  let generatesCode = false;
  full(tree, (node) => {
    if (node.type === 'Identifier' && (node as { name?: string }).name === 'partial') partialMentions += 1;
    if (node.type === 'Literal' && (node as { value?: unknown }).value === 'partial') partialMentions += 1;
    // In a destructuring `{ partial }`, key and value are two identifiers in one place.
  });
  const refuseCode = (at: number, message: string, advice: string) => {
    generatesCode = true;
    findings.push({ message, advice, at });
  };
  const refuseEval = ({ callee }: CallExpression | NewExpression) => {
    if (callee.type !== 'Identifier' || callee.name !== 'eval') return;
    refuseCode(callee.start, 'eval runs a string as code, which schemas cannot do', 'Write the code out.');
  };
  ancestor(tree, {
    NewExpression: refuseEval,
    CallExpression(node: CallExpression, _state: unknown, ancestors: AnyNode[]) {
      refuseEval(node);
      const called = calledName(node);
      if (called === null) return;
      const [first] = node.arguments;
      const text = literalText(first);
      const kind = namingCalls.get(called);
      if (kind !== undefined && first !== undefined && first.type !== 'SpreadElement') {
        for (const name of namesIn(first, constants)) names.push({ kind, ...name });
      }
      if (called === 'partial' && text !== null) literalPartials.push(text);
      const lookup = lookupOf(called, node, ancestors);
      if (lookup === null) return;
      try {
        codeLookup(lookup.request);
        lookups.push(lookup.request);
      } catch (error) {
        if (!(error instanceof SchemaSyntaxError)) throw error;
        if (lookup.isLiteral) findings.push({ message: error.message, advice: error.advice, at: lookup.at });
      }
    },
    ImportExpression(node) {
      refuseCode(node.start, variableImport.message, variableImport.advice);
    },
    MetaProperty(node) {
      if (node.meta.name !== 'import') return;
      findings.push({ message: 'schemas have no import.meta', advice: 'Remove it.', at: node.start });
    },
  });
  for (const [name, member] of exportedFunctions(tree)) findings.push(...contextFindings(name, member));
  return {
    names,
    partials: partialMentions > partialCallMentions(tree) ? null : literalPartials,
    lookups,
    findings,
    generatesCode,
  };
}

/** Counts the mentions of `partial` in calls with a literal alias, and in destructurings of the context. */
function partialCallMentions(tree: Program): number {
  let count = 0;
  full(tree, (node) => {
    const known = node as AnyNode;
    if (known.type === 'CallExpression' && calledName(known) === 'partial') {
      if (literalText(known.arguments[0]) !== null) count += 1;
    }
    if (known.type === 'ObjectPattern') {
      for (const property of known.properties) {
        if (property.type !== 'Property' || property.key.type !== 'Identifier') continue;
        const isPlain = property.value.type === 'Identifier' && property.value.name === 'partial';
        if (property.key.name === 'partial' && isPlain) count += 2;
      }
    }
  });
  return count;
}

/** `partial` of `context.partial(…)` and of `partial(…)`. */
function calledName({ callee }: CallExpression): string | null {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type !== 'MemberExpression' || callee.computed) return null;
  return callee.property.type === 'Identifier' ? callee.property.name : null;
}

/** The string literals that an expression can evaluate to, such as both of `a ? 'x' : 'y'`, and constants of the file. */
function namesIn(node: Expression, constants: ReadonlyMap<string, string>): Found<{ name: string }>[] {
  const text = node.type === 'Identifier' ? (constants.get(node.name) ?? null) : literalText(node);
  if (text !== null) return [{ name: text, at: node.start }];
  if (node.type === 'ConditionalExpression') {
    return [...namesIn(node.consequent, constants), ...namesIn(node.alternate, constants)];
  }
  if (node.type !== 'LogicalExpression') return [];
  return [...namesIn(node.left, constants), ...namesIn(node.right, constants)];
}

/** Top-level variables that are declared once, with a string literal, and never reassigned. */
function constantTexts(tree: Program): Map<string, string> {
  const texts = new Map<string, string>();
  for (const statement of tree.body) {
    if (statement.type !== 'VariableDeclaration') continue;
    for (const { id, init } of statement.declarations) {
      const text = literalText(init ?? undefined);
      if (id.type === 'Identifier' && text !== null) texts.set(id.name, text);
    }
  }
  if (texts.size === 0) return texts;
  const seen = new Set<string>();
  // A name that is declared or assigned twice may have another value.
  full(tree, (node, _state, type) => {
    const { name } = node as { name?: string };
    if (type !== 'VariablePattern' || name === undefined) return;
    if (seen.has(name)) texts.delete(name);
    seen.add(name);
  });
  return texts;
}

function lookupOf(
  called: string,
  node: CallExpression,
  ancestors: readonly AnyNode[],
): { request: LookupRequest; isLiteral: boolean; at: number } | null {
  const [first] = node.arguments;
  const isChildren = called === 'children' && node.callee.type === 'MemberExpression';
  if (!isChildren && called !== 'lookup' && called !== 'filter') return null;
  if (first?.type === 'SpreadElement' || (first === undefined && !isChildren)) return null;
  const filter = first === undefined ? null : filterText(first);
  if (first !== undefined && filter === null) return null;
  const { orderBy, sourceGroup } = narrowedBy(ancestors);
  const request = { filter, childrenOf: isChildren ? 'any' : null, sourceGroup, limit: null, orderBy };
  const isLiteral = literalText(first) !== null && called !== 'filter';
  return { request, isLiteral, at: first?.start ?? node.start };
}

/** The filter, with placeholders for values that are only known at run time; null if it is not a string. */
function filterText(node: Expression): string | null {
  const parts = textParts(node);
  if (parts === null || parts.every((part) => part === null)) return null;
  let text = '';
  for (const part of parts) {
    // Any placeholder is valid within quotes; elsewhere a number is valid in every list and comparison.
    if (part === null) text += (text.split("'").length - 1) % 2 === 1 ? 'any' : '0';
    else text += part;
  }
  return text;
}

/** Options later in the call chain: `.orderBy({…}).sourceGroup('…')`. */
function narrowedBy(ancestors: readonly AnyNode[]): Pick<LookupRequest, 'orderBy' | 'sourceGroup'> {
  let orderBy: LookupRequest['orderBy'] = null;
  let sourceGroup: string | null = null;
  for (const node of [...ancestors].reverse()) {
    if (node.type !== 'CallExpression' && node.type !== 'MemberExpression') break;
    if (node.type !== 'CallExpression') continue;
    const [first] = node.arguments;
    if (first === undefined || first.type === 'SpreadElement') continue;
    const called = calledName(node);
    if (called === 'sourceGroup') sourceGroup = literalText(first);
    if (called === 'orderBy') orderBy = orderOf(first);
  }
  return { orderBy, sourceGroup };
}

function orderOf(node: Expression): LookupRequest['orderBy'] {
  if (node.type !== 'ObjectExpression') return null;
  for (const property of node.properties) {
    if (property.type !== 'Property' || property.key.type !== 'Identifier') continue;
    const propertyName = property.key.name === 'propertyName' ? literalText(property.value) : null;
    if (propertyName !== null) return { propertyName, direction: 'asc' };
  }
  return null;
}

/** The functions that are written inline in the default export. */
function exportedFunctions(tree: Program): [name: string, member: FunctionNode][] {
  const functions: [string, FunctionNode][] = [];
  for (const statement of tree.body) {
    if (statement.type !== 'VariableDeclaration') continue;
    for (const { id, init } of statement.declarations) {
      if (id.type !== 'Identifier' || !/_default\d*$/.test(id.name) || init?.type !== 'ObjectExpression')
        continue;
      for (const property of init.properties) {
        if (property.type !== 'Property' || property.key.type !== 'Identifier') continue;
        const { value } = property;
        if (value.type === 'FunctionExpression' || value.type === 'ArrowFunctionExpression') {
          functions.push([property.key.name, value]);
        }
      }
    }
  }
  return functions;
}

function contextFindings(name: string, member: FunctionNode): Analysis['findings'] {
  const known = contextMembers.get(name);
  const context: Pattern | undefined = member.params[name === 'triggers' ? 0 : 1];
  if (known === undefined || context === undefined) return [];
  const findings: Found<{ message: string; advice: string }>[] = [];
  const check = (used: string, at: number) => {
    if (known.includes(used)) return;
    const message = `context has no member ${JSON.stringify(used)} in ${name}`;
    findings.push({ message, advice: adviceForUnknown(used, known), at });
  };
  if (context.type === 'ObjectPattern') {
    for (const property of context.properties) {
      if (property.type === 'Property' && property.key.type === 'Identifier')
        check(property.key.name, property.start);
    }
  }
  if (context.type !== 'Identifier') return findings;
  ancestor(member.body, {
    MemberExpression(node, _state: unknown, ancestors: AnyNode[]) {
      const { object, property } = node;
      if (object.type !== 'Identifier' || object.name !== context.name) return;
      if (node.computed || property.type !== 'Identifier') return;
      if (ancestors.some((around) => redeclares(around, context.name))) return;
      check(property.name, property.start);
    },
  });
  return findings;
}

/** True for a function with a parameter of that name. */
function redeclares(node: AnyNode, name: string): boolean {
  const isFunction =
    node.type === 'FunctionExpression' ||
    node.type === 'ArrowFunctionExpression' ||
    node.type === 'FunctionDeclaration';
  return isFunction && node.params.some((param) => param.type === 'Identifier' && param.name === name);
}

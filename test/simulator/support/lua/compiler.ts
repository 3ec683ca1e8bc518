/**
 * Compiles a Lua script to a JavaScript function, for the subset of Lua that `src/store/scripts` uses; anything else is
 * rejected at compile time. So the simulator runs the scripts themselves, not a copy of them.
 */
import luaparse, { type Chunk, type Expression, type FunctionDeclaration, type Statement } from 'luaparse';
import * as runtime from './table.ts';
import { LuaTable, type LuaValue } from './table.ts';

/** @returns what the script returns; undefined is nil */
export type CompiledScript = (globals: Readonly<Record<string, LuaValue>>) => LuaValue;

/** @throws SyntaxError for invalid Lua; TypeError for Lua outside of the subset */
export function compileLua(source: string): CompiledScript {
  const chunk = luaparse.parse(source.replace(/^#!.*/, ''), {
    luaVersion: '5.1',
    encodingMode: 'pseudo-latin1',
    comments: false,
    scope: true,
  }) as Chunk;
  const body = `'use strict';\nlet $left;\n${block(chunk.body)}\nreturn [];`;
  const run = new Function('lua', 'LuaTable', 'globals', body) as (
    lua: typeof runtime,
    table: typeof LuaTable,
    globals: Readonly<Record<string, LuaValue>>,
  ) => LuaValue[];
  return (globals) => run(runtime, LuaTable, globals)[0];
}

function block(statements: readonly Statement[]): string {
  return statements.map(statement).join('\n');
}

function statement(node: Statement): string {
  switch (node.type) {
    case 'LocalStatement':
      return `let ${assigned(node.variables.map(nameOf), node.init)};`;
    case 'AssignmentStatement':
      return assignment(node.variables, node.init);
    case 'CallStatement':
      return `${calls(node.expression)};`;
    case 'ReturnStatement':
      return `return ${list(node.arguments)};`;
    case 'IfStatement':
      return node.clauses
        .map((clause) => {
          const body = `{ ${block(clause.body)} }`;
          if (clause.type === 'ElseClause') return `else ${body}`;
          return `${clause.type === 'IfClause' ? 'if' : 'else if'} (${test(clause.condition)}) ${body}`;
        })
        .join(' ');
    case 'WhileStatement':
      return `while (${test(node.condition)}) { ${block(node.body)} }`;
    case 'ForNumericStatement': {
      const name = nameOf(node.variable);
      const step = node.step === null ? '1' : one(node.step);
      const range = `$at = lua.numberOf(${one(node.start)}), $end = lua.numberOf(${one(node.end)}), $by = ${step}`;
      return `for (let ${range}; $by > 0 ? $at <= $end : $at >= $end; $at += $by) { let ${name} = $at; ${block(node.body)} }`;
    }
    case 'ForGenericStatement':
      return genericFor(node.variables.map(nameOf), node.iterators, block(node.body));
    case 'FunctionDeclaration': {
      if (node.identifier?.type !== 'Identifier' || !node.isLocal) throw refused(node.type);
      return `function ${nameOf(node.identifier)}${parametersAndBody(node)}`;
    }
    default:
      throw refused(node.type);
  }
}

function parametersAndBody({ parameters, body }: FunctionDeclaration): string {
  const names = parameters.map((parameter) => {
    if (parameter.type !== 'Identifier') throw refused(parameter.type);
    return nameOf(parameter);
  });
  return `(${names.join(', ')}) { let $left; ${block(body)}\nreturn []; }`;
}

/** `for … in ipairs(t)` and `pairs(t)`, the only supported kinds. */
function genericFor(names: readonly string[], iterators: readonly Expression[], body: string): string {
  const [iterator] = iterators;
  if (iterator?.type !== 'CallExpression' || iterator.base.type !== 'Identifier') throw refused('iterator');
  const [key = '$key', value = '$value'] = names;
  const of = iterator.arguments[0];
  if (of === undefined) throw refused('iterator');
  if (iterator.base.name === 'ipairs') {
    const lines = `let ${key} = $index + 1, ${value} = $of.list[$index]; if (${value} === undefined) break;`;
    return `{ const $of = ${one(of)}; for (let $index = 0; $index < $of.list.length; $index += 1) { ${lines} ${body} } }`;
  }
  if (iterator.base.name !== 'pairs') throw refused(iterator.base.name);
  return `{ const $of = ${one(of)}; for (const $each of [...$of.keys()]) { let ${key} = $each, ${value} = $of.get($each); ${body} } }`;
}

/** Values for declared names: `a = x, b = y`, or from one call that returns several. */
function assigned(names: readonly string[], values: readonly Expression[]): string {
  const last = values.at(-1);
  if (names.length > values.length && last !== undefined && isCall(last)) {
    return `[${names.join(', ')}] = ${list(values)}`;
  }
  return names
    .map((name, index) => {
      const value = values[index];
      return value === undefined ? name : `${name} = ${one(value)}`;
    })
    .join(', ');
}

function assignment(targets: readonly Expression[], values: readonly Expression[]): string {
  if (targets.length === 1 && targets[0] !== undefined && values[0] !== undefined) {
    return `${target(targets[0], one(values[0]))};`;
  }
  // All targets are evaluated before any of them is assigned.
  const places = targets.map((node, index) => {
    if (node.type === 'Identifier') return '';
    if (node.type === 'IndexExpression') return placeOf(index, one(node.base), one(node.index));
    if (node.type === 'MemberExpression') {
      return placeOf(index, one(node.base), JSON.stringify(node.identifier.name));
    }
    throw refused(node.type);
  });
  const lines = targets.map((node, index) =>
    node.type === 'Identifier'
      ? `${nameOf(node)} = $new[${index}];`
      : `lua.setMember($base${index}, $key${index}, $new[${index}]);`,
  );
  return `{ ${places.join(' ')} const $new = ${list(values)}; ${lines.join(' ')} }`;
}

function placeOf(index: number, base: string, key: string): string {
  return `const $base${index} = ${base}, $key${index} = ${key};`;
}

function target(node: Expression, value: string): string {
  if (node.type === 'Identifier') return `${nameOf(node)} = ${value}`;
  if (node.type === 'IndexExpression')
    return `lua.setMember(${one(node.base)}, ${one(node.index)}, ${value})`;
  if (node.type === 'MemberExpression') {
    return `lua.setMember(${one(node.base)}, ${JSON.stringify(node.identifier.name)}, ${value})`;
  }
  throw refused(node.type);
}

/** A list of values as a JavaScript array: a call at its end contributes all its results. */
function list(values: readonly Expression[]): string {
  const last = values.at(-1);
  if (last === undefined) return '[]';
  if (!isCall(last)) return `[${values.map(one).join(', ')}]`;
  if (values.length === 1) return calls(last);
  return `[${values.slice(0, -1).map(one).join(', ')}, ...${calls(last)}]`;
}

/** Like `list`, as a new array. */
function ownList(values: readonly Expression[]): string {
  const [only] = values;
  return values.length === 1 && only !== undefined && isCall(only) ? `[...${calls(only)}]` : list(values);
}

function isCall(node: Expression): boolean {
  return node.type === 'CallExpression' || node.type === 'TableCallExpression';
}

/** A call with all its results. */
function calls(node: Expression): string {
  if (node.type === 'TableCallExpression') return `${callee(node.base)}(${one(node.arguments)})`;
  if (node.type !== 'CallExpression') throw refused(node.type);
  const last = node.arguments.at(-1);
  const taken = node.arguments.map((argument) =>
    argument === last && isCall(argument) ? `...${calls(argument)}` : one(argument),
  );
  return `${callee(node.base)}(${taken.join(', ')})`;
}

function callee(node: Expression): string {
  return `lua.functionOf(${one(node)})`;
}

const comparisons = new Set(['==', '~=', '<', '>', '<=', '>=']);

/** An expression as a condition of JavaScript's `if`. */
function test(node: Expression): string {
  if (node.type === 'LogicalExpression') {
    return `(${test(node.left)} ${node.operator === 'and' ? '&&' : '||'} ${test(node.right)})`;
  }
  if (node.type === 'UnaryExpression' && node.operator === 'not') return `!${test(node.argument)}`;
  if (node.type === 'BinaryExpression' && comparisons.has(node.operator)) return one(node);
  return `lua.isTrue(${one(node)})`;
}

/** An expression with its single value. */
function one(node: Expression): string {
  switch (node.type) {
    case 'Identifier':
      return 'isLocal' in node && node.isLocal ? nameOf(node) : `globals[${JSON.stringify(node.name)}]`;
    case 'StringLiteral':
      return JSON.stringify(node.value);
    case 'NumericLiteral':
      return String(node.value);
    case 'BooleanLiteral':
      return String(node.value);
    case 'NilLiteral':
      return 'undefined';
    case 'CallExpression':
    case 'TableCallExpression':
      return `${calls(node)}[0]`;
    case 'MemberExpression':
      return `lua.memberOf(${one(node.base)}, ${JSON.stringify(node.identifier.name)})`;
    case 'IndexExpression':
      return `lua.memberOf(${one(node.base)}, ${one(node.index)})`;
    case 'LogicalExpression': {
      const left = `(${one(node.left)})`;
      const right = one(node.right);
      if (node.operator === 'and') return `($left = ${left}, lua.isTrue($left) ? ${right} : $left)`;
      return `($left = ${left}, lua.isTrue($left) ? $left : ${right})`;
    }
    case 'UnaryExpression':
      if (node.operator === 'not') return `!${test(node.argument)}`;
      if (node.operator === '#') return `lua.lengthOf(${one(node.argument)})`;
      if (node.operator === '-') return `-lua.numberOf(${one(node.argument)})`;
      throw refused(node.operator);
    case 'FunctionDeclaration':
      return `(function ${parametersAndBody(node)})`;
    case 'BinaryExpression':
      return binary(node.operator, one(node.left), one(node.right));
    case 'TableConstructorExpression': {
      const values = node.fields.filter(({ type }) => type === 'TableValue').map(({ value }) => value);
      const members = node.fields.flatMap((field) => {
        if (field.type === 'TableValue') return [];
        const key = field.type === 'TableKey' ? one(field.key) : JSON.stringify(field.key.name);
        return `[${key}, ${one(field.value)}]`;
      });
      if (members.length === 0) return `new LuaTable(${ownList(values)})`;
      return `LuaTable.of(${ownList(values)}, [${members.join(', ')}])`;
    }
    default:
      throw refused(node.type);
  }
}

function binary(operator: string, left: string, right: string): string {
  switch (operator) {
    case '==':
      return `(${left} === ${right})`;
    case '~=':
      return `(${left} !== ${right})`;
    case '<':
      return `lua.isLess(${left}, ${right})`;
    case '>':
      return `lua.isLess(${right}, ${left})`;
    case '<=':
      return `!lua.isLess(${right}, ${left})`;
    case '>=':
      return `!lua.isLess(${left}, ${right})`;
    case '..':
      return `(lua.textOf(${left}) + lua.textOf(${right}))`;
    case '+':
    case '-':
    case '*':
    case '/':
      return `(lua.numberOf(${left}) ${operator} lua.numberOf(${right}))`;
    default:
      throw refused(operator);
  }
}

/** Lua's names may be reserved words of JavaScript. */
function nameOf({ name }: { readonly name: string }): string {
  return `_${name}`;
}

function refused(what: string): TypeError {
  return new TypeError(`the simulator does not support Lua's ${what}`);
}

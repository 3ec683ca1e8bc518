/** Which handles views can have, as template literal types of TypeScript. */
import type { Expression, Function as FunctionNode, SpreadElement } from 'acorn';
import { simple } from 'acorn-walk';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { textParts } from '../code/text-parts.ts';
import { named, type Type, text } from './type.ts';
import { partsOf } from './written-text.ts';

/** Of a schema in JSON. @param handles of its route */
export function handlesOfMapping(handles: Json | undefined): Type[] {
  const list = Array.isArray(handles) ? handles : [];
  return list.map((handle) => {
    const written = isJsonObject(handle) ? handle.$exp : handle;
    if (typeof written !== 'string') return text;
    return templateType(partsOf(written).map((part) => (part.kind === 'literal' ? part.text : null)));
  });
}

/** Of a schema in JavaScript; any text where it hands its context to others. @param routes its function */
export function handlesOfCode(routes: FunctionNode): Type[] {
  const [, context] = routes.params;
  if (context === undefined) return [];
  if (context.type !== 'Identifier') return [text];
  const handles: Type[] = [];
  let mentions = 0;
  let uses = 0;
  simple(routes.body, {
    Identifier: ({ name }) => {
      if (name === context.name) mentions += 1;
    },
    MemberExpression: ({ object, property, computed }) => {
      if (object.type !== 'Identifier' || object.name !== context.name || computed) return;
      if (property.type === 'Identifier') uses += 1;
    },
    CallExpression: ({ callee, arguments: [first] }) => {
      if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return;
      if (callee.object.name !== context.name || callee.property.type !== 'Identifier') return;
      if (callee.property.name === 'handle' && first !== undefined) handles.push(...handleTypes(first));
    },
  });
  return mentions > uses ? [text] : handles;
}

/** Null is not a handle. */
function handleTypes(node: Expression | SpreadElement): Type[] {
  if (node.type === 'Literal' && node.value === null) return [];
  return [templateType(node.type === 'SpreadElement' ? [null] : (textParts(node) ?? [null]))];
}

const anyText = '$' + '{string}';

/** @param parts texts, and null for each hole */
function templateType(parts: readonly (string | null)[]): Type {
  if (parts.every((part) => part === null || part === '')) return text;
  const written = parts.map((part) => (part === null ? anyText : part.replaceAll(/[`\\$]/g, '\\$&')));
  return parts.includes(null) ? named(`\`${written.join('')}\``) : named(JSON.stringify(parts.join('')));
}

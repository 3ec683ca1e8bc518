/** Parses the subset of YAML in docs/operations/alerts.yml: any other line fails. */
import assert from 'node:assert/strict';
import { textOf } from '../../docs/support/markdown.ts';

export interface AlertRule {
  readonly name: string;
  readonly expression: string;
  /** Link to the section of the runbook. */
  readonly runbook: string;
}

const linePattern = /^( *)(- )?(\w+):(?: (.*))?$/;

export function alertRules(): AlertRule[] {
  const rules: { name: string; expression: string; runbook: string }[] = [];
  let isExpression = false;
  for (const line of textOf('docs/operations/alerts.yml').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const rule = rules.at(-1);
    if (isExpression && /^ {10}/.test(line)) {
      assert.ok(rule !== undefined, line);
      rule.expression += ` ${line.trim()}`;
      continue;
    }
    isExpression = false;
    const [, , , name, text = ''] = linePattern.exec(line) ?? [];
    assert.ok(name !== undefined, `cannot be parsed: ${line}`);
    if (name === 'alert') rules.push({ name: text, expression: '', runbook: '' });
    else if (rule !== undefined && name === 'expr') {
      isExpression = text === '|';
      if (!isExpression) rule.expression = text;
    } else if (rule !== undefined && name === 'runbook') rule.runbook = text;
  }
  return rules;
}

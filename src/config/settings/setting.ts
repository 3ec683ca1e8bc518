import { excerpt } from '../../lib/quote.ts';
import type { Kind } from './kinds.ts';

/** A setting as it is listed. */
export interface ListedSetting {
  readonly variable: string;
  /** As the variable would be written, or in words; empty where there is none. */
  readonly default: string;
  /** What the variable counts; empty where it counts nothing. */
  readonly unit: string;
  /** Completes the sentence "it must be …". */
  readonly allowed: string;
  /** In Markdown, without a full stop. */
  readonly meaning: string;
}

/** One environment variable. */
export class Setting<Value, Default extends Value | null> {
  /**
   * @param absent its value where the variable is absent; null: none
   * @param absentText the default in words, where it is no one value
   */
  constructor(
    readonly variable: string,
    private readonly kind: Kind<Value>,
    private readonly absent: Default,
    private readonly meaning: string,
    private readonly absentText: string | null = null,
  ) {}

  /** The value in an environment, where an empty variable counts as absent. A wrong value gives the default and a mistake. */
  valueIn(env: NodeJS.ProcessEnv, mistakes: string[]): Value | Default {
    const text = env[this.variable]?.trim() ?? '';
    if (text === '') return this.absent;
    const value = this.kind.read(text);
    if (value !== null) return value;
    const shown = JSON.stringify(excerpt(this.kind.shown(text)));
    mistakes.push(`${this.variable} is ${shown}: it must be ${this.kind.allowed}`);
    return this.absent;
  }

  get listed(): ListedSetting {
    const { variable, kind, absent, absentText, meaning } = this;
    const written = absent === null ? '' : kind.write(absent);
    return { variable, default: absentText ?? written, unit: kind.unit, allowed: kind.allowed, meaning };
  }
}

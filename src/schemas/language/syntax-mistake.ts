/** A mistake in a text of the mapping language (expression, path, filter): the operator's, found when it is compiled. */
export class SyntaxMistake extends Error {
  override readonly name = 'SyntaxMistake';
  /** Zero-based character at which the text stopped making sense. */
  readonly position: number;
  readonly advice: string;

  constructor(message: string, position: number, advice: string) {
    super(message);
    this.position = position;
    this.advice = advice;
  }
}

import { useEffect, useState } from 'preact/hooks';
import { pageHref } from '../shell/addresses.ts';
import { visit } from '../shell/place.ts';

/** Asks for an entity or a view in any of the ways that people know them. @param text that was asked for last */
export function Find({ text }: { readonly text: string }) {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (typed.trim() !== '') visit(pageHref('content', { find: typed.trim() }));
  };
  return (
    <search>
      <form class="find" onSubmit={submit}>
        <label for="find">Find</label>
        <input
          id="find"
          type="search"
          placeholder="/a/url, an id, or words"
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <button type="submit">Find</button>
      </form>
    </search>
  );
}

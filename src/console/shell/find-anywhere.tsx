import { useState } from 'preact/hooks';
import { pageHref } from './addresses.ts';
import { visit } from './place.ts';
import { findId } from './shortcuts.tsx';

/** Finds what somebody knows the URL, an id or words of, whatever page is shown. */
export function FindAnywhere() {
  const [text, setText] = useState('');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (text.trim() === '') return;
    visit(pageHref('content', { find: text.trim() }));
    setText('');
  };
  return (
    <search class="find-anywhere">
      <form onSubmit={submit}>
        <input
          id={findId}
          type="search"
          aria-label="Find anywhere"
          aria-keyshortcuts="/"
          placeholder="URL, id or words"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}

import { useLayoutEffect, useState } from 'preact/hooks';
import { findHref, urlHref, usePlace, visit } from './addresses.ts';

/**
 * The only search field. A URL leads to how it is resolved, anything else to what has it as its id or in its text. On these pages the
 * field holds what was asked, so that it can be changed.
 */
export function FindAnywhere() {
  const { path, search } = usePlace();
  const asked = search.get(path === 'urls' ? 'url' : 'find') ?? '';
  const [text, setText] = useState(asked);
  // Not after the paint: somebody may type before it.
  useLayoutEffect(() => setText(asked), [path, asked]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted === '') return;
    visit(isUrl(wanted) ? urlHref(wanted) : findHref(wanted));
    setText(wanted);
  };
  return (
    <search class="find-anywhere">
      <form onSubmit={submit}>
        <input
          id={searchFieldId}
          type="search"
          aria-label="Find anywhere"
          aria-keyshortcuts="/"
          placeholder="URL, id or words"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}

/** Ids of views and entities begin with `gid://`. */
function isUrl(text: string): boolean {
  return text.startsWith('/') || /^https?:\/\//i.test(text);
}

/** Id of the search field of the shell. */
const searchFieldId = 'find-anywhere';

/** Goes to the search field, and selects what it holds. */
export function focusSearch(event: Event): void {
  event.preventDefault();
  const field = document.getElementById(searchFieldId);
  if (field instanceof HTMLInputElement) field.select();
}

/** Leads to the search field, for pages that show nothing before something was found. */
export function SearchButton() {
  return (
    <p>
      <button type="button" class="main" onClick={focusSearch}>
        Search
      </button>
    </p>
  );
}

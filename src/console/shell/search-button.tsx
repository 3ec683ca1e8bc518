import { focusSearch } from './search-field.ts';

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

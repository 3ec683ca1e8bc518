import { Empty } from '../parts/empty.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { pageHref } from '../shell/addresses.ts';
import { SearchButton } from '../shell/search-button.tsx';

export function ChooseView() {
  return (
    <>
      <PageHead
        title="View"
        about="Why a view is as it is: what it reads and shows, which views show it, why it was last built, and what happens if its entity changes."
      />
      <Empty>
        Search for the URL of a page, the originId of its entity, or words in it. Or look through the entities
        under <a href={pageHref('content')}>Content</a>.
      </Empty>
      <SearchButton />
    </>
  );
}

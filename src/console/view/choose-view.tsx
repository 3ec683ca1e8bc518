import { Find } from '../content/find.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { pageHref } from '../shell/addresses.ts';

export function ChooseView() {
  return (
    <>
      <PageHead
        title="View"
        about="Why a view is as it is: what it reads and shows, who shows it, why it was last built, and what if its entity changes."
      />
      <Find text="" />
      <p class="quiet">
        A URL leads to the view that is served there. Or look through the entities under{' '}
        <a href={pageHref('content')}>Content</a>.
      </p>
    </>
  );
}

import { PageHead } from '../parts/page-head.tsx';
import { Feed } from './feed.tsx';
import { Webhooks } from './webhooks.tsx';

export function ChangesPage() {
  return (
    <>
      <PageHead
        title="Changes"
        about="What changes in the delivered content, as it happens, and the webhooks that receive it."
      />
      <Feed />
      <Webhooks />
    </>
  );
}
